;;; cursord-turns.el --- What turns do  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Which turns run or wait, and what they do.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-root)
(require 'cursord-say)

(defvar cursord-event-functions)

(defun cursord-turn-ended-p (turn)
  "Whether TURN is over."
  (member (plist-get turn :status)
          '("completed" "failed" "cancelled" "interrupted")))

(defun cursord-busy-turns (ws)
  "The turns of WS that run or wait, the oldest first."
  (sort (seq-remove #'cursord-turn-ended-p
                    (hash-table-values (cursord-workspace-turns ws)))
        (lambda (a b)
          (string< (plist-get a :createdAt) (plist-get b :createdAt)))))

;;;; Turns that say nothing

;; The daemon tells nothing of silence: it is counted here, from the last that
;; was told of a turn.

(defvar cursord-quiet-after 60
  "Seconds for which a turn must have said nothing before people are told.")

(defvar cursord--heard (make-hash-table :test #'equal)
  "By id, when something was last told of each turn that runs.")

(defun cursord--note-heard (event _ws object _before)
  "Note that EVENT has told something of the turn that OBJECT is or belongs to."
  (pcase event
    ('turn (if (equal (plist-get object :status) "running")
               (puthash (plist-get object :id) (float-time) cursord--heard)
             (remhash (plist-get object :id) cursord--heard)))
    ((or 'item 'delta)
     (when-let* ((id (plist-get object :turnId))
                 ((gethash id cursord--heard)))
       (puthash id (float-time) cursord--heard)))))

(defun cursord-turn-silence (turn)
  "Since when nothing was told of TURN, which runs: \"no output for 1m 20s\".
Nil before that is of interest."
  (when-let* ((heard (gethash (plist-get turn :id) cursord--heard))
              (seconds (truncate (- (float-time) heard)))
              ((>= seconds cursord-quiet-after)))
    (if (< seconds 3600)
        (format "no output for %dm %ds" (/ seconds 60) (% seconds 60))
      (format "no output for %dh %dm" (/ seconds 3600) (% (/ seconds 60) 60)))))

(defun cursord-turn-work (turn)
  "What TURN, which runs, does: \"working\", or what it waits for."
  (let ((commands (length (plist-get turn :background))))
    (if (> commands 0)
        (concat "waiting for " (cursord-plural commands "background command"))
      "working")))

(defun cursord-turn-note (turn)
  "What TURN, which runs, does, and since when it says nothing, if that is long."
  (string-join (delq nil
                     (list (cursord-turn-work turn)
                           (cursord-turn-silence turn))) ", "))

(defun cursord-work (ws)
  "What the turns of WS that run do: what one of them does that works, if any."
  (let ((notes (mapcar #'cursord-turn-note
                       (seq-filter (lambda (turn)
                                     (equal (plist-get turn :status) "running"))
                                   (cursord-busy-turns ws)))))
    (or (car (member "working" notes)) (car notes))))

(provide 'cursord-turns)
;;; cursord-turns.el ends here
