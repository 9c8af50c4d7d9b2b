;;; cursord-restore.el --- Chats in bookmarks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Bookmarks and desktops store the session's id of a chat.  The daemon has the
;; session itself.

;;; Code:

(require 'cursord-workspace)
(require 'cursord-chat)

(defun cursord--restore-workspace (root)
  "Return the workspace at ROOT; signal a `user-error' if ROOT is gone."
  (unless (or (file-remote-p root) (file-directory-p root))
    (user-error "%s is not there any more" (abbreviate-file-name root)))
  (cursord-workspace-open root))

(defun cursord-bookmark-record ()
  "Return a bookmark of the session in the current chat."
  (let* ((ws cursord-buffer-workspace)
         (session (or (cursord-session ws)
                      (user-error "There is no session yet"))))
    `(,(format "cursord: %s" (cursord-one-line (plist-get session :title)))
      (root . ,(cursord-workspace-root ws))
      (session . ,(plist-get session :id))
      (handler . cursord-bookmark-jump))))

;;;###autoload
(defun cursord-bookmark-jump (bookmark)
  "Go to the session of BOOKMARK, in the chat of its project."
  (let* ((ws (cursord--restore-workspace (alist-get 'root (cdr bookmark))))
         (session (plist-get (cursord-call ws :session/read
                                           (list :sessionId
                                                 (alist-get 'session
                                                            (cdr bookmark))
                                                 :limit 1))
                             :session)))
    (cursord-talk-with ws session)
    (set-buffer (cursord--chat-buffer-create ws))))

(defun cursord-desktop-data (_directory)
  "Return the data of the current chat for `desktop-save'."
  (let ((ws cursord-buffer-workspace))
    (list (cursord-workspace-root ws) (cursord-workspace-current ws))))

;;;###autoload
(defun cursord-restore-desktop (_file _name data)
  "Make the chat of DATA, from a desktop, without waiting for the daemon.
Make none if the project or the program is gone."
  (pcase-let ((`(,root ,id) data))
    (ignore-error user-error
      (let ((ws (cursord--restore-workspace root)))
        (prog1 (cursord--chat-buffer-create ws)
          (when id
            (cursord-request ws :session/read (list :sessionId id :limit 1)
                             :then (lambda (result)
                                     (cursord-talk-with
                                      ws (plist-get result :session)))
                             ;; If it was deleted, the latest session is shown.
                             :else #'ignore)))))))

(provide 'cursord-restore)
;;; cursord-restore.el ends here
