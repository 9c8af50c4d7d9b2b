;;; cursord-header.el --- The header line of a chat  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The header line has the state, the model, the number of hunks, the time, the
;; todos or tokens, and keys.  A narrow window leaves out what matters least.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-ask)
(require 'cursord-blocks)

(defvar cursord-chat-mode-map)
(declare-function cursord-chat-buffer "cursord-chat" (ws))
(declare-function cursord-cancel "cursord-session")
(declare-function cursord-review "cursord-review")
(declare-function cursord-retry "cursord-again")

(defun cursord--elapsed (seconds)
  "Return SECONDS as \"m:ss\" or \"h:mm:ss\"."
  (let ((seconds (max 0 (truncate seconds))))
    (if (< seconds 3600)
        (format "%d:%02d" (/ seconds 60) (% seconds 60))
      (format "%d:%02d:%02d" (/ seconds 3600) (% (/ seconds 60) 60)
              (% seconds 60)))))

(defun cursord--chat-turn (ws)
  "Return the turn of the current session of WS that runs or waits, or nil."
  (seq-find (lambda (turn)
              (equal (plist-get turn :sessionId)
                     (cursord-workspace-current ws)))
            (cursord-busy-turns ws)))

(defun cursord--state-word (ws turn)
  "Return the state of the chat of WS, where TURN runs or waits, as text."
  (let ((state (cursord-state ws)))
    (cond ((eq state 'off) (propertize "not connected" 'face 'cursord-failed))
          ((eq (plist-get turn :waiting) t)
           (cursord-asks-word
            (seq-filter (lambda (approval)
                          (equal (plist-get approval :turnId)
                                 (plist-get turn :id)))
                        (hash-table-values (cursord-workspace-approvals ws)))))
          ((equal (plist-get turn :status) "running") (cursord-turn-note turn))
          (turn "queued")
          ((eq state 'error) (propertize "error" 'face 'cursord-failed))
          (t "idle"))))

(defvar cursord--default-models nil
  "An alist from hosts to the agent's own model; \"\" until that is known.")

(defun cursord--ask-default-model (ws)
  "Ask which model agents of WS use if none was chosen; do not wait."
  (let ((host (cursord-workspace-host ws)))
    (unless (assoc host cursord--default-models)
      (push (cons host "") cursord--default-models)
      (cursord-request
       ws :agent/models nil
       :then (lambda (result)
               (setf (alist-get host cursord--default-models "" nil #'equal)
                     (or (plist-get
                          (seq-find (lambda (model)
                                      (eq t (plist-get model :current)))
                                    (plist-get result :models))
                          :id)
                         ""))
               (force-mode-line-update t))
       ;; The next prompt will show what is wrong.
       :else (lambda (_err)
               (setq cursord--default-models
                     (assoc-delete-all host cursord--default-models)))))))

(defun cursord--model-word (ws session)
  "Return the model of SESSION in WS, or of the next one; nil if unknown."
  (or (plist-get (or session (cursord-next-options ws)) :model)
      (let ((model (cdr (assoc (cursord-workspace-host ws)
                               cursord--default-models))))
        (and model (not (string-empty-p model)) model))))

(defun cursord--permits-word (of)
  "Return what the agent may do, as text or nil.
OF is a session, or the options of the next one."
  (let ((words (delq nil
                     (list (pcase (plist-get of :sandbox) ("enabled" "sandbox")
                                  ("disabled" "no sandbox"))
                           (and (eq (plist-get of :autoReview) t) "auto-review")
                           (and (> (length (plist-get of :addDirs)) 0)
                                (format "+%d dir"
                                        (length (plist-get of :addDirs))))))))
    (and words (string-join words " · "))))

(defun cursord--tokens-word (ws)
  "Return how many tokens the last turn of the session of WS has used, or nil."
  (let (usage)
    (maphash (lambda (_id turn)
               (when (equal (plist-get turn :sessionId)
                            (cursord-workspace-current ws))
                 (setq usage (or (plist-get turn :usage) usage))))
             (cursord-workspace-turns ws))
    (when usage
      (let ((n (+ (or (plist-get usage :inputTokens) 0)
                  (or (plist-get usage :outputTokens) 0))))
        (cond ((< n 1000) (format "%d tokens" n))
              ((< n 1000000) (format "%.1fk tokens" (/ n 1000.0)))
              (t (format "%.1fM tokens" (/ n 1000000.0))))))))

(defun cursord--todos-word ()
  "Return the progress of the latest todo list of the current chat, or nil."
  (when-let* ((todos (and cursord-transcript
                          (cursord-transcript-left cursord-transcript))))
    (cl-flet ((is (status) (lambda (todo)
                             (equal status (plist-get todo :status)))))
      (let ((done (seq-count (is "completed") todos))
            (now (seq-find (is "in_progress") todos)))
        (format "%d/%d%s" done (length todos)
                (if now
                    (concat " " (truncate-string-to-width
                                 (cursord-one-line (plist-get now :content))
                                 24 nil nil "…"))
                  ""))))))

(defun cursord--chat-stopped-p (ws)
  "Return non-nil if the last turn of the session of WS did not complete."
  (let (last)
    (maphash (lambda (_id turn)
               (when (and (equal (plist-get turn :sessionId)
                                 (cursord-workspace-current ws))
                          (or (null last)
                              (string< (plist-get last :createdAt)
                                       (plist-get turn :createdAt))))
                 (setq last turn)))
             (cursord-workspace-turns ws))
    (member (plist-get last :status) '("failed" "cancelled" "interrupted"))))

(defun cursord--chat-header ()
  "Return the header line of a chat."
  (if-let* ((ws cursord-buffer-workspace))
      (let* ((turn (cursord--chat-turn ws))
             (session (cursord-session ws))
             (mode (or (plist-get session :mode)
                       (plist-get (cursord-next-options ws) :mode)))
             (hunks (car (cursord-pending ws)))
             (started (plist-get turn :startedAt)))
        (concat " "
                (string-replace
                 "%" "%%"
                 (cursord-fitting
                  (list (cursord--state-word ws turn)
                        (cons 2 (cursord--model-word ws session))
                        (and mode (not (equal mode "agent")) mode)
                        (and (equal (plist-get (or session
                                                   (cursord-next-options ws))
                                               :isolation)
                                    "copy")
                             "in a copy")
                        (cons 3 (cursord--permits-word
                                 (or session (cursord-next-options ws))))
                        (and (> hunks 0) (cursord-plural hunks "hunk"))
                        (and started
                             (cursord--elapsed
                              (float-time (time-subtract
                                           nil (date-to-time started)))))
                        (cons 4 (if turn (cursord--todos-word)
                                  (cursord--tokens-word ws)))
                        (cursord-key-text
                         (cond
                          ((eq (plist-get turn :waiting) t)
                           (concat "\\<cursord-chat-mode-map>"
                                   "\\[cursord-approvals] answer"
                                   " · \\[cursord-cancel] cancel"))
                          (turn
                           "\\<cursord-chat-mode-map>\\[cursord-cancel] cancel")
                          ((cursord--chat-stopped-p ws)
                           (concat "\\<cursord-chat-mode-map>"
                                   "\\[cursord-retry] ask again"))
                          ((> hunks 0)
                           (concat "\\<cursord-chat-mode-map>"
                                   "\\[cursord-review] review"))))
                        (and (null turn)
                             (cons 1
                                   (cursord-key-text
                                    (concat "\\<cursord-chat-mode-map>"
                                            "\\[cursord-compose] write")))))))))
    ""))

(defvar cursord--clock nil
  "The timer that updates the time in header lines while turns run.")

(defun cursord--tick ()
  "Draw the header lines of shown chats; stop the clock if nothing runs."
  (if (seq-some #'cursord-busy-turns cursord-workspaces)
      (dolist (ws cursord-workspaces)
        (when (seq-some #'cursord-turn-silence (cursord-busy-turns ws))
          (force-mode-line-update t))
        (when-let* ((buffer (cursord-chat-buffer ws)))
          (when (get-buffer-window buffer t)
            (with-current-buffer buffer (force-mode-line-update)))))
    (cancel-timer cursord--clock)
    (setq cursord--clock nil)))

(provide 'cursord-header)
;;; cursord-header.el ends here
