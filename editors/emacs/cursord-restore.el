;;; cursord-restore.el --- Chats in bookmarks and desktops  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A bookmark of a chat names its session, and so does what `desktop-save'
;; keeps: the session itself is the daemon's.

;;; Code:

(require 'cursord-workspace)
(require 'cursord-chat)

(defun cursord--restore-workspace (root)
  "The workspace at ROOT; an error if that is not there any more."
  (unless (or (file-remote-p root) (file-directory-p root))
    (user-error "%s is not there any more" (abbreviate-file-name root)))
  (cursord-workspace-open root))

(defun cursord-bookmark-record ()
  "A bookmark of the session that the current chat shows."
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
  "What `desktop-save' keeps of the current chat."
  (let ((ws cursord-buffer-workspace))
    (list (cursord-workspace-root ws) (cursord-workspace-current ws))))

;;;###autoload
(defun cursord-restore-desktop (_file _name data)
  "Make the chat anew that DATA, of a desktop, is about; it does not wait.
Without the daemon, or the project, there is none."
  (pcase-let ((`(,root ,id) data))
    (ignore-error user-error
      (let ((ws (cursord--restore-workspace root)))
        (prog1 (cursord--chat-buffer-create ws)
          (when id
            (cursord-request ws :session/read (list :sessionId id :limit 1)
                             :then (lambda (result)
                                     (cursord-talk-with
                                      ws (plist-get result :session)))
                             ;; It was deleted: the latest one is there.
                             :else #'ignore)))))))

(provide 'cursord-restore)
;;; cursord-restore.el ends here
