;;; cursord-say.el --- Messages and errors  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Messages for people, the log, and functions that keep errors from spreading.

;;; Code:

(defmacro cursord-unheard (&rest body)
  "Run BODY without its messages; keep the one in the echo area.
A message clears the echo area even while variable `inhibit-message' is
non-nil."
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
  "The most characters of the log.")

(defun cursord-log (format &rest args)
  "Add a line to the buffer \"*cursord-log*\", from FORMAT and ARGS."
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

(defun cursord--with-keys (text)
  "Return TEXT, where commands of this package are named by their keys.
They are those of the global map: a message may be read in any buffer."
  (replace-regexp-in-string
   "\\bM-x \\(cursord\\(?:-[a-z]+\\)*\\)"
   (lambda (found)
     (let ((key (where-is-internal (intern (substring found 4))
                                   (list (current-global-map)) t)))
       (if key (key-description key) found)))
   text t t))

(defface cursord-key
  '((((class color) (min-colors 88)) :inherit help-key-binding)
    (t :inherit bold))
  "Face of keys in header lines.
With few colours, those of `help-key-binding' cannot be read in a header line."
  :group 'cursord)

(defun cursord-key-text (text)
  "Return TEXT with the keys of its commands, in the face `cursord-key'.
See `substitute-command-keys'.  If TEXT is nil, return nil."
  (let* ((text (substitute-command-keys text))
         (end (length text))
         (at 0))
    (while (< at end)
      (let ((next (next-single-property-change at 'face text end)))
        (when (eq (get-text-property at 'face text) 'help-key-binding)
          (add-text-properties at next
                               '(face cursord-key font-lock-face cursord-key)
                               text))
        (setq at next)))
    text))

(defun cursord-say (format &rest args)
  "Show the message of FORMAT and ARGS in the echo area and the log.
Return it as it is shown."
  (let ((text (cursord--with-keys (apply #'format-message format args))))
    (cursord-log "%s" text)
    (message "cursord: %s" text)))

(defun cursord-unsay (text)
  "Clear the echo area if it still shows TEXT, which `cursord-say' returned."
  (when (and text (equal text (current-message)))
    (message nil)))

(defconst cursord--homes
  '((cursord-compose-mode "the buffer of a prompt" . cursord-compose)
    (cursord-chat-mode "a chat" . cursord)
    (cursord-approvals-mode "*cursord asks*" . cursord-approvals)
    (cursord-review-mode "the review" . cursord-review)
    (cursord-merge-mode "a copy with conflicts" . cursord-smerge-file)
    (cursord-proposal-mode "a proposal" . cursord-edit-proposal)
    (cursord-list-mode "a list" . cursord-sessions)
    (cursord-sessions-mode "the list of sessions" . cursord-sessions)
    (cursord-projects-mode "the list of projects" . cursord-projects)
    (cursord-attempts-mode "the list of attempts" . cursord-attempts)
    (cursord-why-mode "*cursord why*" . cursord-why))
  "Modes with commands of their own: where they are, and what leads there.")

(defun cursord-only-in (&rest modes)
  "Signal a `user-error' unless the current buffer is in one of MODES.
Return nil, so that a command without arguments can have this as its
`interactive' form."
  (unless (or (apply #'derived-mode-p modes)
              (seq-some (lambda (mode) (and (boundp mode) (symbol-value mode)))
                        modes))
    (pcase-let ((`(,where . ,command) (alist-get (car modes) cursord--homes)))
      (user-error "This command is for %s: %s leads there" where
                  (cursord--with-keys (format "M-x %s" command))))))

(defun cursord-count-in (mode)
  "Return the prefix argument as arguments of a command; be in MODE for it."
  (cursord-only-in mode)
  (list (prefix-numeric-value current-prefix-arg)))

(defun cursord-error-kind (err)
  "Return the kind of ERR, an error of the protocol, as a string or nil."
  (plist-get (plist-get err :data) :kind))

(defun cursord-error-text (err)
  "Return the message and the hint of ERR, an error of the protocol."
  (let ((hint (plist-get (plist-get err :data) :hint)))
    (concat (plist-get err :message) (and hint (concat "\n  " hint)))))

(defun cursord-complain (err)
  "Show ERR, an error of the protocol."
  (cursord-say "%s" (cursord-error-text err)))

(defun cursord-plural (n word)
  "Return N and WORD, with an s unless N is 1."
  (format "%d %s%s" n word (if (eql n 1) "" "s")))

(defun cursord-decided-text (applied parts)
  "Return what was decided: APPLIED hunks, of which PARTS were parts alone.
PARTS lists the numbers of lines of these parts."
  (let ((whole (- applied (length parts))))
    (string-join
     (delq nil
           (list (and (> whole 0) (cursord-plural whole "hunk"))
                 (and parts
                      (format "%s of %s"
                              (cursord-plural (apply #'+ parts) "line")
                              (if (cdr parts)
                                  (cursord-plural (length parts) "hunk")
                                "a hunk")))))
     " and ")))

;; The buffer of a header line that is being drawn is in the selected window.
(defun cursord-fitting (parts)
  "Return PARTS as one line that fits into the window of the current buffer.
A part is a text, nil, or (RANK . TEXT).  Where there is little room, the parts
with the highest ranks are left out."
  (let ((parts (seq-keep (lambda (part)
                           (if (stringp part) (cons nil part)
                             (and (cdr-safe part) part)))
                         parts))
        (room (if (eq (window-buffer) (current-buffer))
                  (1- (window-width))
                most-positive-fixnum)))
    (while-let ((long (> (string-width (mapconcat #'cdr parts " · ")) room))
                (ranks (delq nil (mapcar #'car parts))))
      (setq parts (delq (assq (apply #'max ranks) parts) parts)))
    (mapconcat #'cdr parts " · ")))

(defun cursord-one-line (text)
  "Return TEXT, a title or a prompt, as one line."
  (string-trim (replace-regexp-in-string "[ \t\n\r]+" " " (or text ""))))

(defun cursord-protected (function &rest args)
  "Call FUNCTION with ARGS; show and log an error instead of signalling it."
  (condition-case err
      (save-current-buffer (apply function args))
    (error
     (cursord-say "error in %s: %s"
                  (if (symbolp function) function "a receiver")
                  (error-message-string err))
     nil)))

(defun cursord-run-hook (hook &rest args)
  "Call all functions of HOOK with ARGS, also after errors in some."
  (apply #'run-hook-wrapped hook
         (lambda (function &rest args) (apply #'cursord-protected function args)
           nil)
         args))

(provide 'cursord-say)
;;; cursord-say.el ends here
