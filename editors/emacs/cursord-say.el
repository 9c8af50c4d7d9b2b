;;; cursord-say.el --- What is said to a person  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Messages, the log, and errors that go no further than where they are.

;;; Code:

(defmacro cursord-unheard (&rest body)
  "Run BODY; its messages are neither shown nor kept.
What the echo area says stays: each message clears it, also an inhibited one."
  (declare (indent 0) (debug t))
  (let ((said (gensym)))
    `(let ((,said (current-message)))
       (unwind-protect
           (let ((inhibit-message t) (message-log-max nil))
             ,@body)
         (when (and ,said (not (equal ,said (current-message))))
           (let ((message-log-max nil))
             (message "%s" ,said)))))))

(defconst cursord--log-size 200000
  "So many characters the log may have.")

(defun cursord-log (format &rest args)
  "Add a line to the buffer \"*cursord-log*\", made of FORMAT and ARGS."
  (with-current-buffer (get-buffer-create "*cursord-log*")
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (buffer-disable-undo))
    (let ((inhibit-read-only t))
      (save-excursion
        (goto-char (point-max))
        (insert (format-time-string "%T ") (apply #'format format args) "\n")
        (when (> (buffer-size) cursord--log-size)
          (goto-char (- (point-max) (/ cursord--log-size 2)))
          (forward-line 1)
          (delete-region (point-min) (point)))))))

(defun cursord-say (format &rest args)
  "Tell the person what FORMAT and ARGS make, in the echo area and the log."
  (let ((text (apply #'format-message format args)))
    (cursord-log "%s" text)
    (message "cursord: %s" text)))

(defun cursord-error-kind (err)
  "The kind of ERR, a plist as the daemon sends it, as a string or nil."
  (plist-get (plist-get err :data) :kind))

(defun cursord-error-text (err)
  "What a person should read of ERR, a plist as the daemon sends it."
  (let ((hint (plist-get (plist-get err :data) :hint)))
    (concat (plist-get err :message) (and hint (concat "\n  " hint)))))

(defun cursord-complain (err)
  "Tell the person about ERR, a plist as the daemon sends it."
  (cursord-say "%s" (cursord-error-text err)))

(defun cursord-plural (n word)
  "N and WORD, with an s where that fits."
  (format "%d %s%s" n word (if (eql n 1) "" "s")))

(defun cursord-one-line (text)
  "TEXT, a title or a prompt, as one line."
  (string-trim (replace-regexp-in-string "[ \t\n\r]+" " " (or text ""))))

(defun cursord-protected (function &rest args)
  "Call FUNCTION with ARGS; an error is logged and told, and goes no further."
  (condition-case err
      (save-current-buffer (apply function args))
    (error
     (cursord-say "error in %s: %s"
                  (if (symbolp function) function "a receiver")
                  (error-message-string err))
     nil)))

(defun cursord-run-hook (hook &rest args)
  "Call all functions of HOOK with ARGS, each whatever happens in the others."
  (apply #'run-hook-wrapped hook
         (lambda (function &rest args) (apply #'cursord-protected function args)
           nil)
         args))

(provide 'cursord-say)
;;; cursord-say.el ends here
