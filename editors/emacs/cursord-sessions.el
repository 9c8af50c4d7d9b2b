;;; cursord-sessions.el --- The sessions of all projects  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-sessions' lists the sessions that the daemon of this machine has, of
;; all projects, the latest first.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'tabulated-list)
(require 'cursord-workspace)
(require 'cursord-chat)
(require 'cursord-session)
(require 'cursord-review)

(defvar-keymap cursord-sessions-mode-map
  :doc "Keys in the list of sessions."
  :parent tabulated-list-mode-map
  "RET" #'cursord-sessions-go
  "v" #'cursord-sessions-review
  "R" #'cursord-sessions-rename
  "D" #'cursord-sessions-delete)

(define-derived-mode cursord-sessions-mode tabulated-list-mode "Cursord-Sessions"
  "The sessions of all projects.
Hunks are those that are to be reviewed in the project.
\\{cursord-sessions-mode-map}"
  (setq tabulated-list-format
        [("State" 8 t)
         ("Hunks" 6 (lambda (a b) (< (cursord--sessions-hunks a)
                                     (cursord--sessions-hunks b)))
          :right-align t)
         ("Age" 8 nil)
         ("Project" 16 t)
         ("Title" 0 t)]
        tabulated-list-padding 1)
  (add-hook 'tabulated-list-revert-hook #'cursord--sessions-read nil t)
  (tabulated-list-init-header))

(defun cursord--sessions-hunks (entry)
  "How many hunks ENTRY of the list says that there are."
  (string-to-number (aref (cadr entry) 1)))

(defun cursord--sessions-read ()
  "Bring the current buffer, a list of sessions, up to date."
  (let ((hunks (make-hash-table :test #'equal)))
    (seq-doseq (one (plist-get (cursord-call-host nil :workspace/list nil)
                               :workspaces))
      (puthash (plist-get one :workspace) (plist-get one :pendingHunks) hunks))
    (setq tabulated-list-entries
          (mapcar
           (lambda (session)
             (let* ((root (plist-get session :workspace))
                    (n (gethash root hunks 0)))
               (list session
                     (vector (plist-get session :state)
                             (if (zerop n) "" (number-to-string n))
                             (cursord--age (plist-get session :updatedAt))
                             (file-name-nondirectory root)
                             (replace-regexp-in-string "[ \t\n]+" " "
                                                       (plist-get session :title))))))
           (plist-get (cursord-call-host nil :session/list '(:limit 1000))
                      :sessions)))))

;;;###autoload
(defun cursord-sessions ()
  "List the sessions of all projects of this machine."
  (interactive)
  (pop-to-buffer (get-buffer-create "*cursord sessions*"))
  (unless (derived-mode-p 'cursord-sessions-mode)
    (cursord-sessions-mode))
  (cursord--sessions-read)
  (tabulated-list-print t))

(defun cursord--session-here ()
  "The session at point, and its workspace: (WS . SESSION)."
  (let ((session (or (tabulated-list-get-id)
                     (user-error "There is no session here"))))
    (cons (cursord-workspace-open (plist-get session :workspace)) session)))

(defun cursord-sessions-go ()
  "Go on with the session at point, in the chat of its project."
  (interactive nil cursord-sessions-mode)
  (pcase-let ((`(,ws . ,session) (cursord--session-here)))
    (cursord-talk-with ws session)
    (pop-to-buffer (cursord--chat-buffer-create ws))))

(defun cursord-sessions-review ()
  "Review the pending changes in the project of the session at point."
  (interactive nil cursord-sessions-mode)
  (let ((ws (car (cursord--session-here))))
    (with-current-buffer (cursord--chat-buffer-create ws)
      (cursord-workspace-reviewed))
    (cursord--show-review ws)))

(defun cursord-sessions-rename (title)
  "Give the session at point the TITLE."
  (interactive
   (list (read-string "Title: " (plist-get (cdr (cursord--session-here)) :title)))
   cursord-sessions-mode)
  (cursord-call-host nil :session/update
                     (list :sessionId (plist-get (cdr (cursord--session-here)) :id)
                           :title title))
  (revert-buffer))

(defun cursord-sessions-delete ()
  "Delete the session at point for good, after a question."
  (interactive nil cursord-sessions-mode)
  (let ((session (cdr (cursord--session-here))))
    (when (yes-or-no-p (format "Delete \"%s\" and all that was said in it? "
                               (truncate-string-to-width (plist-get session :title)
                                                         50 nil nil "…")))
      (cursord-call-host nil :session/delete
                         (list :sessionId (plist-get session :id)))
      (revert-buffer))))

(provide 'cursord-sessions)
;;; cursord-sessions.el ends here
