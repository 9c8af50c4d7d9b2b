;;; cursord-session.el --- Sessions, models, trust, and what waits for one  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Commands on the session that is talked with, and what is said of turns that
;; end.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-chat)

(declare-function cursord-review "cursord-review")

(defcustom cursord-tell-turn-end t
  "Whether the echo area says when a turn ends that was asked for here."
  :type 'boolean
  :group 'cursord)

;;;; Turns

;;;###autoload
(defun cursord-cancel (&optional all)
  "End the running and waiting turns of the chat, and those that were asked here.
With a prefix argument ALL, end those of all sessions of the project."
  (interactive "P")
  (let* ((ws (cursord-workspace-open))
         (turns (seq-filter (lambda (turn)
                              (or all
                                  (equal (plist-get turn :sessionId)
                                         (cursord-workspace-current ws))
                                  (gethash (plist-get turn :id)
                                           (cursord-workspace-mine ws))))
                            (cursord-busy-turns ws))))
    (unless turns
      (user-error "Nothing runs here%s"
                  (if (cursord-busy-turns ws)
                      "; with a prefix argument, the turns of other sessions are ended"
                    "")))
    ;; The latest first, or ending one would start the next.
    (dolist (turn (reverse turns))
      (cursord-request ws :turn/cancel (list :turnId (plist-get turn :id))))))

(defcustom cursord-notify-turn-end t
  "Whether the desktop, or the terminal, says when such a turn ends.
It does so while no frame of Emacs has the focus."
  :type 'boolean
  :group 'cursord)

(defcustom cursord-after-turn-functions nil
  "Functions that are called when a turn has ended, with its workspace and it.
A Turn is a plist as the protocol has it, with :status, :prompt and :error."
  :type 'hook
  :group 'cursord)

(declare-function notifications-notify "notifications" (&rest params))

(defun cursord--looked-at-p ()
  "Whether a frame has the focus; one that cannot tell has it."
  (seq-some (lambda (frame) (memq (frame-focus-state frame) '(t unknown)))
            (frame-list)))

(defun cursord--notify-turn-end (ws text)
  "Have the desktop say TEXT of a turn of WS, or else the terminals Emacs is in.
Those get OSC 777, and OSC 9, which others understand; none shows what it does
not know."
  (let ((title (format "cursord: %s"
                       (file-name-nondirectory (directory-file-name (cursord-workspace-root ws)))))
        (text (replace-regexp-in-string "[[:cntrl:];]+" " " text)))
    (if (and (display-graphic-p) (featurep 'dbusbind)
             (require 'notifications nil t))
        (notifications-notify :title title :body text :app-name "Emacs")
      (dolist (terminal (terminal-list))
        (when (and (eq t (terminal-live-p terminal))
                   (not (equal (terminal-name terminal) "initial_terminal")))
          (send-string-to-terminal
           (format "\e]777;notify;%s;%s\e\\\e]9;%s: %s\e\\"
                   (replace-regexp-in-string "[[:cntrl:];]+" " " title) text
                   (replace-regexp-in-string "[[:cntrl:];]+" " " title) text)
           terminal))))))

(defvar cursord--unseen nil
  "Workspaces where a turn has ended while nobody looked.")

(defun cursord--turn-end-text (ws turn)
  "What is said of TURN, which has ended in WS."
  (let ((err (plist-get turn :error))
        (pending (cursord-pending ws)))
    (cond
     (err (cursord-error-text (list :message (plist-get err :message)
                                    :data (list :hint (plist-get err :hint)))))
     ((not (equal (plist-get turn :status) "completed"))
      (format "the turn was %s" (plist-get turn :status)))
     ((> (car pending) 0)
      (format "done; %s in %s: M-x cursord-review"
              (cursord-plural (car pending) "hunk")
              (cursord-plural (cdr pending) "file")))
     (t "done"))))

(defun cursord--say-turn-end (event ws turn before)
  "At the EVENT of the end of TURN in WS, which was BEFORE, say so."
  (when (and (eq event 'turn) before (cursord-turn-ended-p turn)
             (not (cursord-turn-ended-p before)))
    (cursord-run-hook 'cursord-after-turn-functions ws turn)
    (when (and cursord-tell-turn-end
               (or (gethash (plist-get turn :id) (cursord-workspace-mine ws))
                   (and (cursord-chat-buffer ws)
                        (equal (plist-get turn :sessionId)
                               (cursord-workspace-current ws)))))
      (cursord-say "%s" (cursord--turn-end-text ws turn))
      (when (and cursord-notify-turn-end (not (cursord--looked-at-p)))
        (cursord-protected #'cursord--notify-turn-end
                           ws (cursord--turn-end-text ws turn))))
    (unless (and (cursord-chat-buffer ws)
                 (get-buffer-window (cursord-chat-buffer ws) 'visible))
      (cl-pushnew ws cursord--unseen))))

(add-hook 'cursord-event-functions #'cursord--say-turn-end)

(defun cursord--attention (ws)
  "Why WS wants to be looked at: `error', `review', `answer', or nil."
  (let ((state (cursord-state ws)))
    (cond ((memq state '(error review)) state)
          ((and (memq ws cursord--unseen) (not (memq state '(queued working))))
           'answer))))

(defvar cursord--attended nil "The workspace that was gone to last.")

;;;###autoload
(defun cursord-next-attention ()
  "Go to the next project where a turn has failed, has ended or left hunks."
  (interactive)
  (let* ((after (cdr (memq cursord--attended cursord-workspaces)))
         (ws (seq-find #'cursord--attention (append after cursord-workspaces)))
         (why (and ws (cursord--attention ws))))
    (unless ws
      (user-error "Nothing waits for you"))
    (setq cursord--attended ws
          cursord--unseen (delq ws cursord--unseen))
    (let ((default-directory (cursord-workspace-root ws)))
      (if (and (eq why 'review) (fboundp 'cursord-review))
          (with-current-buffer (cursord--chat-buffer-create ws)
            (cursord-review))
        (pop-to-buffer (cursord--chat-buffer-create ws))))))

;;;; Sessions

(defun cursord--age (time)
  "How long ago TIME is."
  (let ((seconds (float-time (time-subtract nil (date-to-time time)))))
    (cond ((< seconds 60) "now")
          ((< seconds 3600) (format "%d min" (/ seconds 60)))
          ((< seconds 86400) (format "%d h" (/ seconds 3600)))
          (t (format "%d days" (/ seconds 86400))))))

(defun cursord--sessions (ws)
  "The sessions of WS, the latest first."
  (append (plist-get (cursord-call ws :session/list '(:limit 200)) :sessions)
          nil))

(defun cursord--read-session (ws prompt)
  "Have one choose a session of WS, with PROMPT."
  (let* ((sessions (or (cursord--sessions ws)
                       (user-error "There is no session in %s"
                                   (cursord-workspace-root ws))))
         (names (make-hash-table :test #'equal))
         (choices (mapcar (lambda (session)
                            (let* ((title (replace-regexp-in-string "[ \t\n]+"
                                                                    " "
                                                                    (plist-get session :title)))
                                   (title (if (string-blank-p title)
                                              "(no title)"
                                            (truncate-string-to-width title 70
                                                                      nil nil
                                                                      "…")))
                                   (n (cl-incf (gethash title names 0))))
                              (cons (if (= n 1)
                                        title
                                      (format "%s (%d)" title n)) session)))
                          sessions))
         (table (lambda (string predicate action)
                  (if (eq action 'metadata)
                      `(metadata (category . cursord-session)
                                 (display-sort-function . identity)
                                 (annotation-function
                                  . ,(lambda (name)
                                       (let ((session (cdr (assoc name
                                                                  choices))))
                                         (format "  %s, %s%s"
                                                 (cursord--age (plist-get session :updatedAt))
                                                 (cursord-plural (plist-get session :turns) "turn")
                                                 (if (equal (plist-get session
                                                                       :state)
                                                            "idle") ""
                                                   (concat ", "
                                                           (plist-get session
                                                                      :state))))))))
                    (complete-with-action action choices string predicate)))))
    (cdr (assoc (completing-read prompt table nil t nil nil (caar choices))
                choices))))

;;;###autoload
(defun cursord-resume ()
  "Choose a session of this project and go on with it in the chat."
  (interactive)
  (let ((ws (cursord-workspace-open)))
    (cursord-talk-with ws (cursord--read-session ws "Go on with: "))
    (pop-to-buffer (cursord--chat-buffer-create ws))))

;;;###autoload
(defun cursord-rename-session (title)
  "Give the session that is talked with the TITLE."
  (interactive
   (let ((session (or (cursord-session (cursord-workspace-open))
                      (user-error "There is no session yet"))))
     (list (read-string "Title: " (plist-get session :title)))))
  (let ((ws (cursord-workspace-open)))
    (cursord-call ws
                  :session/update (list :sessionId (cursord-workspace-current ws) :title title))))

;;;###autoload
(defun cursord-delete-session ()
  "Choose a session of this project and delete it for good."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (session (cursord--read-session ws "Delete: ")))
    (when (yes-or-no-p (format "Delete \"%s\" and all that was said in it? "
                               (truncate-string-to-width (plist-get session
                                                                    :title) 50
                                                                    nil nil
                                                                    "…")))
      (cursord-call ws
                    :session/delete (list :sessionId (plist-get session
                                                                :id))))))

;;;; Models, modes, isolation, trust

(defun cursord--set (ws key value &optional about)
  "Set KEY of the session that WS talks with, or of the next one, to VALUE.
ABOUT says what that means."
  (if (cursord-workspace-current ws)
      (let ((session (plist-get (cursord-call ws :session/update
                                              (list :sessionId (cursord-workspace-current ws) key value))
                                :session)))
        (puthash (plist-get session :id) session
                 (cursord-workspace-sessions ws)))
    (setf (cursord-workspace-next ws)
          (plist-put (cursord-workspace-next ws) key value)))
  (force-mode-line-update t)
  (if about
      (cursord-say "In %s session %s"
                   (if (cursord-workspace-current ws) "this" "the next") about)
    (cursord-say "%s: %s" (substring (symbol-name key) 1) value)))

;;;###autoload
(defun cursord-set-model (model)
  "Have the session that is talked with use MODEL from its next turn on."
  (interactive
   (let* ((ws (cursord-workspace-open))
          (models (append (plist-get (cursord-call ws :agent/models nil
                                                   :timeout 30) :models) nil))
          (ids (mapcar (lambda (model) (plist-get model :id)) models))
          (completion-extra-properties
           (list :annotation-function
                 (lambda (id)
                   (let ((model (seq-find (lambda (model)
                                            (equal (plist-get model :id) id))
                                          models)))
                     (concat "  " (plist-get model :name)
                             (if (eq (plist-get model :current) t)
                                 " (current)"
                               "")))))))
     (list (completing-read "Model: " ids nil t))))
  (cursord--set (cursord-workspace-open) :model model))

;;;###autoload
(defun cursord-set-mode (mode)
  "Have the session that is talked with work in MODE from its next turn on.
In the modes \"ask\" and \"plan\" the agent changes nothing."
  (interactive (list (completing-read "Mode: " '("agent" "ask" "plan") nil t)))
  (cursord--set (cursord-workspace-open) :mode mode))

;;;###autoload
(defun cursord-set-isolation (isolation)
  "Have agents of new sessions work where ISOLATION says, and go on with one.
With \"copy\" that is a copy of the project: nothing changes in the project
until it is accepted.  A session stays where it is."
  (interactive (list (completing-read "Isolation: " '("copy" "none") nil t)))
  (let ((ws (cursord-workspace-open)))
    (cursord-choose-session
     ws (lambda ()
          (let ((session (cursord-session ws)))
            (setf (cursord-workspace-next ws)
                  (plist-put (cursord-workspace-next ws) :isolation isolation))
            (when (and session
                       (not (equal isolation (plist-get session :isolation))))
              (cursord-talk-with ws nil))
            (force-mode-line-update t)
            (cursord-say "in %s session the agent works in %s"
                         (if (cursord-workspace-current ws) "this" "the next")
                         (if (equal isolation "copy")
                             "a copy of the project"
                           "the project")))))))

;;;###autoload
(defun cursord-set-sandbox (sandbox)
  "Have the agent of this session run commands in its SANDBOX, or not.
With \"enabled\", commands that the sandbox can hold run and others are denied.
With \"default\" that is as the daemon is configured."
  (interactive
   (list (completing-read "Sandbox: " '("enabled" "disabled" "default") nil t)))
  (cursord--set (cursord-workspace-open) :sandbox sandbox
                (pcase sandbox
                  ("enabled"
                   "commands that the sandbox can hold run, others are denied")
                  ("disabled" "there is no sandbox for commands")
                  (_ "the sandbox is as configured"))))

;;;###autoload
(defun cursord-set-auto-review (on)
  "Have a classifier of the agent's decide on commands that would be denied.
If ON is nil, as with a prefix argument, have none do that."
  (interactive (list (not current-prefix-arg)))
  (cursord--set (cursord-workspace-open) :autoReview (if on t :json-false)
                (if on
                    "a classifier of the agent decides on commands"
                  "no classifier decides on commands")))

;;;###autoload
(defun cursord-add-directory (dir)
  "Have the agent of this session work in DIR, too, a folder beside the project.
What it changes there cannot be rejected.  With a prefix argument, take all
such folders away."
  (interactive (list (unless current-prefix-arg
                       (read-directory-name "The agent may also work in: " nil
                                            nil t))))
  (let* ((ws (cursord-workspace-open))
         (has (append (plist-get (or (cursord-session ws)
                                     (cursord-workspace-next ws)) :addDirs)
                      nil))
         (path (and dir
                    (directory-file-name (file-local-name (expand-file-name dir))))))
    (cursord--set ws :addDirs (vconcat (and path (append has (list path))))
                  (if path
                      (format "the agent may also work in %s, where nothing can be rejected" path)
                    "the agent works in no other folder"))))

;;;###autoload
(defun cursord-add-image (file)
  "Have the image in FILE go with the next prompt.
With a prefix argument, it is the image in the clipboard."
  (interactive (list (unless current-prefix-arg
                       (read-file-name "Image: " nil nil t))))
  (let* ((ws (cursord-workspace-open))
         (bytes (cond ((not file)
                       (or (seq-some (lambda (type)
                                       (gui-get-selection 'CLIPBOARD type))
                                     '(image/png image/jpeg))
                           (user-error "There is no image in the clipboard")))
                      ((or (cursord-workspace-host ws) (file-remote-p file))
                       ;; The daemon may not see that file.
                       (with-temp-buffer
                         (set-buffer-multibyte nil)
                         (insert-file-contents-literally file)
                         (buffer-string))))))
    (when (and bytes (> (string-bytes bytes) (* 11 1024 1024)))
      (user-error "The image is too large to be sent: save it where the agent is, and name the file"))
    (setf (cursord-workspace-images ws)
          (append (cursord-workspace-images ws)
                  (list (if bytes
                            (list :kind "image"
                                  :data (base64-encode-string (encode-coding-string bytes 'binary) t))
                          (list :kind "image" :path (expand-file-name file))))))
    (let ((n (length (cursord-workspace-images ws))))
      (cursord-say "%s with the next prompt"
                   (if (= n 1) "1 image goes" (format "%d images go" n))))))

;;;###autoload
(defun cursord-trust (&optional withdraw)
  "Allow agents to work in this project; with a prefix argument WITHDRAW that."
  (interactive "P")
  (let ((ws (cursord-workspace-open)))
    (cursord-call ws
                  :workspace/trust (list :trusted (if withdraw :json-false t)))
    (cursord-say "agents may %swork in %s" (if withdraw "not " "")
                 (abbreviate-file-name (cursord-workspace-root ws)))))

(provide 'cursord-session)
;;; cursord-session.el ends here
