;;; cursord-again.el --- Retry, edit and export  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-retry' asks the last prompt again, `cursord-edit-prompt' lets a
;; person change it first.  `cursord-export' writes a session to a file.

;;; Code:

(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-ask)
(require 'cursord-chat)
(require 'cursord-rewind)

(defun cursord--last-turn (ws)
  "Return the latest turn of the current session of WS; an error if none."
  (cursord--know-session ws)
  (let ((session (cursord-workspace-current ws)))
    (or (and session
             (seq-find #'identity
                       (plist-get (cursord-call ws :turn/list
                                                (list :sessionId session
                                                      :limit 1))
                                  :turns)))
        (user-error "Nothing was asked in this session"))))

(defun cursord--last-prompt (ws turn)
  "Return the prompt of TURN in WS, and what went with it: (PROMPT . CONTEXT).
If another Emacs or program has started TURN, that is what the daemon knows."
  (or (cdr (assoc (plist-get turn :id) (cursord-workspace-sent ws)))
      (let* ((sent (plist-get turn :context))
             (kept (seq-remove #'cursord--too-long-p sent)))
        (when (< (length kept) (length sent))
          (cursord-say "without a text that was too long to be kept"))
        (cons (plist-get turn :prompt)
              (append kept
                      (mapcar (lambda (path) (list :kind "image" :path path))
                              (plist-get turn :images)))))))

(defun cursord--too-long-p (one)
  "Return non-nil if the text of ONE, a part of a turn's context, was not kept."
  (and (member (plist-get one :kind) '("selection" "text"))
       (null (plist-get one :text))))

(defun cursord--lost-in-p (ws turn)
  "Return non-nil if the agent had lost the chat of the session in TURN of WS.
TURN is the last one; the notice is among its first items."
  (let ((id (plist-get turn :id)) (more t) before lost)
    (while (and more (not lost))
      (let* ((page (cursord-call ws :session/read
                                 `( :sessionId ,(plist-get turn :sessionId)
                                    :limit ,cursord--page
                                    ,@(and before (list :before before)))))
             (items (append (plist-get page :items) nil)))
        (setq lost (seq-some (lambda (item)
                               (and (equal (plist-get item :turnId) id)
                                    (cursord-chat-lost-p item)))
                             items)
              before (plist-get (car items) :id)
              more (and (eq (plist-get page :more) t)
                        (equal (plist-get (car items) :turnId) id)))))
    lost))

;;;###autoload
(defun cursord-retry ()
  "Ask the last prompt of the session again, with the same context.
The agent's changes stay; you can reject them.  If the agent has lost the chat
of the session, it gets a recap, the transcript."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (turn (cursord--last-turn ws))
         (lost (cursord--lost-in-p ws turn)))
    (unless (cursord-turn-ended-p turn)
      (user-error "The last prompt is still worked on; cancel it first"))
    (pcase-let ((`(,prompt . ,context) (cursord--last-prompt ws turn)))
      (when (and (null context) (string-match cursord--origin-tokens prompt)
                 (not (assoc (plist-get turn :id) (cursord-workspace-sent ws))))
        (user-error (concat "This Emacs has not sent that prompt and does not"
                            " know its %s; M-x cursord-edit-prompt changes it")
                    (match-string 0 prompt)))
      (cursord-send ws prompt (cursord-origin-here) nil context lost)
      (when lost
        (cursord-say "asked again with a recap, the transcript"))
      (when cursord-show-chat-on-ask
        (cursord-show-chat ws)))))

(defun cursord--context-again (ws turn)
  "Return what went with TURN of WS and is not named by its prompt, a list.
Of a turn that this Emacs has started, these are the images."
  (let* ((named (ignore-errors
                  (cursord-context ws
                                   (replace-regexp-in-string
                                    cursord--origin-tokens ""
                                    (plist-get turn :prompt))
                                   (cursord--origin-make))))
         (paths (mapcar (lambda (one)
                          (file-local-name
                           (cursord-file ws (plist-get one :path))))
                        named)))
    (append
     (unless (assoc (plist-get turn :id) (cursord-workspace-sent ws))
       (seq-remove (lambda (one)
                     (or (member one named) (cursord--too-long-p one)))
                   (plist-get turn :context)))
     (mapcar (lambda (path) (list :kind "image" :path path))
             (seq-remove (lambda (path) (member path paths))
                         (plist-get turn :images))))))

;;;###autoload
(defun cursord-edit-prompt ()
  "Edit the last prompt of the session, and send it anew.
What went with it beside what its tokens name goes along again.
You are asked whether to take its turn back first, with what it changed in
files, as `cursord-rewind' does.  If not, the prompt is sent as the next one.
A draft is kept: \\<cursord-compose-mode-map>\\[cursord-next-prompt] shows it,
and it is back after this prompt was sent."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (origin (cursord-origin-here))
         (turn (cursord--last-turn ws))
         (prompt (car (cursord--last-prompt ws turn))))
    (unless (cursord-turn-ended-p turn)
      (user-error (concat "The last prompt is still worked on:"
                          " M-x cursord-cancel ends it, then edit it")))
    (cursord--rewind-asking ws (plist-get turn :id)
                            "Take back %s, to begin anew there? ")
    (when-let* ((again (cursord--context-again ws turn)))
      (setf (cursord-workspace-images ws)
            (append (cursord-workspace-images ws)
                    (seq-difference again (cursord-workspace-images ws))))
      (cursord-say "with the next prompt goes again: %s"
                   (mapconcat (lambda (one)
                                (or (plist-get one :path) (plist-get one :title)
                                    (plist-get one :kind)))
                              again ", ")))
    (cursord--compose ws origin)
    (setq cursord--draft (buffer-string)
          cursord--history-at 0)
    (erase-buffer)
    (insert prompt)
    (setq cursord--former prompt)
    (unless (string-blank-p cursord--draft)
      (cursord-say
       "%s" (substitute-command-keys
             (concat "the draft is kept: \\<cursord-compose-mode-map>"
                     "\\[cursord-next-prompt] shows it"))))))

;;;; As a file

(defun cursord--export-name (session)
  "Return a file name for SESSION."
  (let ((name (string-trim (replace-regexp-in-string
                            "[^[:alnum:]]+" "-"
                            (downcase (cursord-one-line
                                       (plist-get session :title))))
                           "-+" "-+")))
    (concat (if (string-empty-p name)
                "session"
              (substring name 0 (min 40 (length name))))
            ".md")))

;;;###autoload
(defun cursord-export (file)
  "Write the current session to FILE, as Markdown.
If the name of FILE ends in \".ndjson\", write the form that \"cursord import\"
reads."
  (interactive
   (let ((ws (cursord-workspace-open)))
     (cursord--know-session ws)
     (list (read-file-name
            "Export to (.md or .ndjson): " nil nil nil
            (cursord--export-name
             (or (cursord-session ws)
                 (user-error "There is no session yet")))))))
  (let* ((ws (cursord-workspace-open))
         (id (progn (cursord--know-session ws)
                    (or (cursord-workspace-current ws)
                        (user-error "There is no session yet"))))
         (form (if (string-suffix-p ".ndjson" file) "ndjson" "markdown"))
         (program (if (cursord-workspace-host ws) "cursord"
                    (car (cursord--command nil)))))
    (when (and (file-exists-p file)
               (not (yes-or-no-p (format "%s is there already; write over it? "
                                         (abbreviate-file-name file)))))
      (user-error "Nothing was written"))
    (with-temp-buffer
      (let ((default-directory (cursord-workspace-root ws))
            (coding-system-for-read 'utf-8-unix))
        (unless (eql 0 (process-file program nil t nil "export" id
                                     "--format" form))
          (user-error "The session could not be exported: %s"
                      (string-trim (buffer-string)))))
      (let ((coding-system-for-write 'utf-8-unix))
        (write-region nil nil file nil 'silent)))
    (cursord-say "exported to %s" (abbreviate-file-name
                                   (expand-file-name file)))))

(provide 'cursord-again)
;;; cursord-again.el ends here
