;;; cursord-attempts.el --- Attempts at a prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-attempts' lists what "cursord run --attempts" has begun in a
;; project: several isolated sessions with the same prompt, to choose between.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-lists)
(require 'cursord-decide)

(defvar-keymap cursord-attempts-mode-map
  :doc "Keys in the list of attempts."
  :parent cursord-list-mode-map
  "RET" #'cursord-attempts-review
  "SPC" #'cursord-attempts-output
  "A" #'cursord-attempts-accept
  "c" #'cursord-attempts-check
  "D" #'cursord-attempts-drop
  "O" #'cursord-attempts-drop-others
  "X" #'cursord-attempts-drop-all)

(define-derived-mode cursord-attempts-mode cursord-list-mode "Cursord-Attempts"
  "The attempts at prompts in a project, those at the latest prompt first.
\\{cursord-attempts-mode-map}"
  :interactive nil
  (setq cursord--list-entries #'cursord--attempts-entries
        cursord--list-columns #'cursord--attempts-columns
        cursord--list-empty
        (concat "Nothing yet: in a terminal,"
                " cursord run --attempts 3 \"…\" begins attempts.")))

(defun cursord--attempts-columns (narrow)
  "Return the columns of the list, fewer if NARROW."
  (vconcat '(("#" 2 nil) ("State" 11 t) ("Changes" 18 nil) ("Check" 12 t))
           (unless narrow '(("Prompt" 24 nil)))
           '(("Answer" 0 nil))))

(defun cursord--attempt-changes (attempt)
  "Return what of ATTEMPT is to be reviewed, in words."
  (if (zerop (plist-get attempt :hunks)) "nothing"
    (concat (cursord-plural (plist-get attempt :files) "file")
            (format " +%d -%d" (plist-get attempt :added)
                    (plist-get attempt :removed))
            (let ((beside (or (plist-get attempt :beside) 0)))
              (if (zerop beside) "" (format ", %d beside yours" beside))))))

(defun cursord--attempt-checked (check)
  "Return how CHECK, that of an attempt or nil, stands, in words."
  (if (null check) ""
    (concat (pcase (plist-get check :status)
              ("completed" "passed")
              ((and "failed" (guard (plist-get check :exitCode)))
               (format "exit %d" (plist-get check :exitCode)))
              (status status))
            (if (eq t (plist-get check :stale)) ", stale" ""))))

(defun cursord--attempts-entries (narrow)
  "Return the entries of the list, with fewer columns if NARROW."
  (let (entries)
    (seq-doseq (group (plist-get (cursord-call cursord-buffer-workspace
                                               :attempt/list nil)
                                 :groups))
      (seq-doseq (attempt (plist-get group :attempts))
        (push (list (append (list :in group) attempt)
                    (vconcat
                     (list (number-to-string (plist-get attempt :number))
                           (if (plist-get attempt :waiting)
                               (propertize "asks you" 'face 'warning)
                             (cursord-face-of-state (plist-get attempt
                                                               :status)))
                           (cursord--attempt-changes attempt)
                           (cursord--attempt-checked
                            (plist-get attempt :check)))
                     (unless narrow
                       (list (cursord-one-line (plist-get group :prompt))))
                     (list (cursord-one-line
                            (or (plist-get (plist-get attempt :error) :message)
                                (plist-get attempt :answer))))))
              entries)))
    (nreverse entries)))

;;;###autoload
(defun cursord-attempts ()
  "List the attempts at prompts in this project beside each other."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (name (format "*cursord attempts: %s*" (cursord-directory-name ws))))
    (with-current-buffer (get-buffer-create name)
      (unless (derived-mode-p 'cursord-attempts-mode)
        (cursord-attempts-mode))
      (setq cursord-buffer-workspace ws
            default-directory (cursord-workspace-root ws)))
    (cursord--list-open name 'cursord-attempts-mode)))

(defun cursord--attempt-hunks (attempt)
  "Return the hunks that are to be reviewed of ATTEMPT."
  (let ((session (plist-get attempt :sessionId)) hunks)
    (dolist (diff (hash-table-values
                   (cursord-workspace-diffs cursord-buffer-workspace)))
      (seq-doseq (hunk (plist-get diff :hunks))
        (when (seq-some (lambda (source)
                          (equal session (plist-get source :sessionId)))
                        (plist-get hunk :sources))
          (push hunk hunks))))
    (or (nreverse hunks)
        (user-error "This attempt has nothing to review"))))

(defun cursord-attempts-review ()
  "Review the pending changes, beginning with the attempt at point."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (let ((ids (mapcar (lambda (hunk) (plist-get hunk :id))
                     (cursord--attempt-hunks (cursord--list-here)))))
    (cursord--show-review cursord-buffer-workspace)
    (cursord-review-go-to (current-buffer) ids)))

(defun cursord-attempts-accept ()
  "Accept all that the attempt at point has changed."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (let ((list (current-buffer)))
    (cursord-decide cursord-buffer-workspace :diff/accept
                    (cursord--attempt-hunks (cursord--list-here)) nil
                    (lambda (_ok)
                      (when (buffer-live-p list)
                        (with-current-buffer list
                          (cursord--list-show)))))))

(defun cursord-attempts-check ()
  "Run the check of the attempt at point again."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (cursord-call-host (cursord-workspace-host cursord-buffer-workspace)
                     :attempt/check
                     (list :sessionId (plist-get (cursord--list-here)
                                                 :sessionId)))
  (cursord--list-show))

(defun cursord-attempts-output ()
  "Show what the check of the attempt at point has printed last."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (let ((check (or (plist-get (cursord--list-here) :check)
                   (user-error "This attempt was not checked"))))
    (with-help-window "*cursord check*"
      (princ (format "$ %s\n%s\n\n%s" (plist-get check :command)
                     (or (plist-get (plist-get check :error) :message)
                         (cursord--attempt-checked check))
                     (plist-get check :output))))))

(defun cursord--attempts-drop (keep-p)
  "Drop the attempts at the prompt of point of which KEEP-P returns nil."
  (let* ((group (plist-get (cursord--list-here) :in))
         (attempts (append (plist-get group :attempts) nil))
         (kept (seq-filter keep-p attempts))
         (gone (seq-remove keep-p attempts)))
    (when (and gone
               (yes-or-no-p
                (format "Drop %s with %s to review? "
                        (cursord-plural (length gone) "attempt")
                        (cursord-plural
                         (apply #'+ (mapcar (lambda (one)
                                              (plist-get one :hunks))
                                            gone))
                         "hunk"))))
      (cursord-call cursord-buffer-workspace :attempt/drop
                    `(:group ,(plist-get group :group)
                             ,@(and kept
                                    (list :keep
                                          (vconcat
                                           (mapcar (lambda (one)
                                                     (plist-get one :sessionId))
                                                   kept)))))
                    :timeout 60)
      (cursord--list-show))))

(defun cursord-attempts-drop ()
  "Drop the attempt at point, after a question."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (let ((number (plist-get (cursord--list-here) :number)))
    (cursord--attempts-drop
     (lambda (one) (not (eql number (plist-get one :number)))))))

(defun cursord-attempts-drop-others ()
  "Drop the other attempts at the prompt of the one at point, after a question."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (let ((number (plist-get (cursord--list-here) :number)))
    (cursord--attempts-drop
     (lambda (one) (eql number (plist-get one :number))))))

(defun cursord-attempts-drop-all ()
  "Drop all attempts at the prompt of the one at point, after a question."
  (interactive (cursord-only-in 'cursord-attempts-mode) cursord-attempts-mode)
  (cursord--attempts-drop #'ignore))

(provide 'cursord-attempts)
;;; cursord-attempts.el ends here
