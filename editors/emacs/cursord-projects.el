;;; cursord-projects.el --- Projects with sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-projects' lists the folders that the daemon of this machine knows,
;; the last used first.

;;; Code:

(require 'cl-lib)
(require 'cursord-lists)
(require 'cursord-sessions)

(defvar-keymap cursord-projects-mode-map
  :doc "Keys in the list of projects."
  :parent cursord-list-mode-map
  "RET" #'cursord-projects-go
  "d" #'cursord-projects-dired
  "s" #'cursord-projects-sessions
  "t" #'cursord-projects-trust
  "D" #'cursord-projects-delete)

(define-derived-mode cursord-projects-mode cursord-list-mode "Cursord-Projects"
  "The projects that have sessions or pending hunks.
\\{cursord-projects-mode-map}"
  :interactive nil
  (setq cursord--list-entries #'cursord--projects-entries
        cursord--list-columns #'cursord--projects-columns))

(defun cursord--projects-columns (narrow)
  "Return the columns of the list, fewer if NARROW."
  (vconcat
   (list (list "State" 7 t)
         (list "Hunks" 5 (cursord--list-hunks< 1) :right-align t)
         '("Age" 7 nil))
   (unless narrow
     (list (list "Sessions" 8 (cursord--list-hunks< 3) :right-align t)
           '("Trusted" 7 t)))
   '(("Folder" 0 t))))

(defun cursord--projects-state (project)
  "Return the state of PROJECT, a word."
  (cond ((not (file-directory-p (plist-get project :workspace))) "gone")
        ((> (plist-get project :running) 0) "running")
        ((> (plist-get project :pendingHunks) 0) "review")
        (t "idle")))

(defun cursord--projects-entries (narrow)
  "Return the entries of the list, with fewer columns if NARROW."
  (let ((latest (make-hash-table :test #'equal))
        (i 0))
    (dolist (session (cursord--all-sessions))
      (let ((root (plist-get session :workspace)))
        (unless (gethash root latest)
          (puthash root (cons (cl-incf i) (plist-get session :updatedAt))
                   latest))))
    (mapcar
     (lambda (project)
       (let* ((root (plist-get project :workspace))
              (time (cdr (gethash root latest))))
         (list project
               (vconcat
                (list (cursord-face-of-state (cursord--projects-state project))
                      (cursord--list-count (plist-get project :pendingHunks))
                      (if time (cursord--age time) ""))
                (unless narrow
                  (list (number-to-string (plist-get project :sessions))
                        (if (eq t (plist-get project :trusted)) "yes" "no")))
                (list (abbreviate-file-name root))))))
     (sort (cursord--all-projects)
           (lambda (a b)
             (< (or (car (gethash (plist-get a :workspace) latest)) 1e9)
                (or (car (gethash (plist-get b :workspace) latest)) 1e9)))))))

;;;###autoload
(defun cursord-projects ()
  "List the projects of this machine that have sessions or pending hunks."
  (interactive)
  (cursord--list-open "*cursord projects*" 'cursord-projects-mode))

(defun cursord-projects-go ()
  "Go to the chat of the project at point."
  (interactive (cursord-only-in 'cursord-projects-mode) cursord-projects-mode)
  (pop-to-buffer (cursord--chat-buffer-create (cursord--list-workspace))))

(defun cursord-projects-dired ()
  "Go to the folder of the project at point."
  (interactive (cursord-only-in 'cursord-projects-mode) cursord-projects-mode)
  (dired (plist-get (cursord--list-here) :workspace)))

(defun cursord-projects-sessions ()
  "List the sessions of the project at point."
  (interactive (cursord-only-in 'cursord-projects-mode) cursord-projects-mode)
  (let ((name (file-name-nondirectory
               (plist-get (cursord--list-here) :workspace))))
    (cursord-sessions)
    (cursord-list-limit name)))

(defun cursord-projects-trust ()
  "Allow agents to work in the project at point, or withdraw that."
  (interactive (cursord-only-in 'cursord-projects-mode) cursord-projects-mode)
  (let* ((project (cursord--list-here))
         (trusted (eq t (plist-get project :trusted)))
         (root (plist-get project :workspace)))
    (when (or trusted
              (yes-or-no-p (cursord--trust-question
                            (abbreviate-file-name root))))
      (cursord-call-host nil :workspace/trust
                         (list :workspace root
                               :trusted (if trusted :json-false t)))
      (cursord--list-show))))

(defun cursord-projects-delete ()
  "Delete all sessions of the project at point for good, after a question.
Pending hunks stay, except those of isolated sessions."
  (interactive (cursord-only-in 'cursord-projects-mode) cursord-projects-mode)
  (let* ((root (plist-get (cursord--list-here) :workspace))
         (sessions (seq-filter (lambda (session)
                                 (equal root (plist-get session :workspace)))
                               (cursord--all-sessions))))
    (unless sessions
      (user-error "There is no session in %s" (abbreviate-file-name root)))
    (when (yes-or-no-p (format "Delete %s of %s and all that was said? "
                               (cursord-plural (length sessions) "session")
                               (abbreviate-file-name root)))
      (unwind-protect
          (dolist (session sessions)
            (cursord-call-host nil :session/delete
                               (list :sessionId (plist-get session :id))))
        (cursord--list-show)))))

(provide 'cursord-projects)
;;; cursord-projects.el ends here
