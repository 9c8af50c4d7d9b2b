;;; cursord-queue.el --- The queue of messages  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Notifications and answers are queued in the order of the wire.  A timer takes
;; them from the queue, a slice at a time, so that keys are heard, and never
;; while a command runs.  An error in a receiver is logged and costs that one
;; message.

;;; Code:

(require 'cursord-say)

(defvar cursord-batch-functions '(cursord--batch-ended)
  "Functions without arguments, called after each batch of messages.")

(defconst cursord--pause 0.04
  "Seconds for which notifications are gathered into a batch.")

(defconst cursord--slice 0.01
  "Seconds after which the rest of the queue waits, so that keys are heard.")

(defvar cursord--queue nil "Functions that receive messages, the latest first.")
(defvar cursord--taken nil "The functions of the current batch, in order.")
(defvar cursord--timer nil "The timer that takes from the queue next.")

(defun cursord--wake (seconds)
  "Take from the queue in SECONDS, or earlier if a timer is set to."
  (let ((at (time-add nil seconds)))
    (when (or (not cursord--timer)
              (time-less-p at (timer--time cursord--timer)))
      (when cursord--timer (cancel-timer cursord--timer))
      (setq cursord--timer (run-at-time seconds nil #'cursord--drain)))))

(defun cursord--enqueue (function seconds)
  "Put FUNCTION into the queue, and take from the queue in SECONDS."
  (push function cursord--queue)
  (cursord--wake seconds))

(defmacro cursord--collecting-once (&rest body)
  "Run BODY, and collect garbage after it rather than during it.
A collection takes longer than everything else here, and several would delay
keys."
  (declare (indent 0) (debug t))
  `(let ((gc-cons-threshold (max gc-cons-threshold cursord--garbage-most)))
     ,@body))

(defconst cursord--garbage-most 16000000
  "The most bytes of garbage that wait for the end of a slice.")

(defun cursord--drain ()
  "Call the functions in the queue, for `cursord--slice' at most."
  (setq cursord--timer nil)
  (cursord--collecting-once
    ;; Timers inhibit quitting.  So C-g waits for the end of the slice, and no
    ;; message is received by half.
    (let ((limit (time-add nil cursord--slice)))
      (while (progn
               (unless cursord--taken
                 (setq cursord--taken (nreverse cursord--queue)
                       cursord--queue nil))
               (and cursord--taken (time-less-p nil limit)))
        (cursord-protected (pop cursord--taken)))
      (cursord-run-hook 'cursord-batch-functions)
      (when (or cursord--taken cursord--queue)
        (cursord--wake 0.01)))))

(provide 'cursord-queue)
;;; cursord-queue.el ends here
