;;; cursord-session.el --- Turns and sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Commands for the current session, and messages when turns end.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-chat)
(require 'cursord-groups)

(declare-function cursord--know-session "cursord-ask" (ws))
(declare-function cursord-approvals "cursord-approvals" ())

(declare-function cursord-review "cursord-review")

(defcustom cursord-tell-turn-end t
  "Whether the echo area says that a turn of this Emacs has ended."
  :type 'boolean
  :group 'cursord)

;;;; Turns

(defvar cursord--cancelled nil
  "The ids of the turns that `cursord-cancel' has cancelled last.")

;;;###autoload
(defun cursord-cancel (&optional all)
  "Cancel the turns of the chat, and those that this Emacs has started.
With a prefix argument ALL, cancel those of all sessions of the project."
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
                      "; a prefix argument cancels the turns of other sessions"
                    "")))
    (setq cursord--cancelled (mapcar (lambda (turn) (plist-get turn :id))
                                     turns))
    ;; The latest first: the end of a running turn starts the next.
    (dolist (turn (reverse turns))
      (cursord-request ws :turn/cancel (list :turnId (plist-get turn :id))))))

;;;###autoload
(defun cursord-steer (text &optional turn)
  "Add TEXT to the running TURN, as if its prompt had had it.
That is the turn of the chat; where none runs there, it is the only one that
runs in the folder.  Where the agent takes nothing while it works, TEXT is a
prompt that waits."
  (interactive
   (let* ((ws (cursord-workspace-open))
          (turn (cursord--running-turn ws)))
     (list (read-string (if (cursord--turn-of-chat-p turn ws)
                            "To the running turn: "
                          (format "To the running turn %s: "
                                  (cursord--turn-name turn))))
           turn)))
  (let* ((ws (cursord-workspace-open))
         (turn (or turn (cursord--running-turn ws))))
    (unless (string-blank-p text)
      (cursord-request
       ws :turn/steer (list :turnId (plist-get turn :id) :text text)
       :then (lambda (result)
               (cursord-say "%s" (cursord--steered
                                  ws turn (plist-get result :queuedTurnId))))
       :else #'cursord-complain))))

(defun cursord--turn-of-chat-p (turn ws)
  "Return non-nil if TURN is of the session in the chat of WS."
  (equal (plist-get turn :sessionId) (cursord-workspace-current ws)))

(defun cursord--turn-name (turn)
  "Return the prompt of TURN as a short name, in quotation marks."
  (format "\"%s\"" (truncate-string-to-width
                    (cursord-one-line (plist-get turn :prompt)) 40 nil nil
                    "…")))

(defun cursord--running-turn (ws)
  "Return the turn that runs in the chat of WS, or else the only one of WS.
Without one, or with several, it is an error."
  (let ((running (seq-filter (lambda (turn)
                               (equal (plist-get turn :status) "running"))
                             (cursord-busy-turns ws))))
    (cond
     ((seq-find (lambda (turn) (cursord--turn-of-chat-p turn ws)) running))
     ((null running)
      (user-error "%s" (cursord--with-keys (concat "No turn of the chat runs:"
                                                   " M-x cursord-ask begins"
                                                   " one"))))
     ((cdr running)
      (user-error
       "%s" (cursord--with-keys
             (format "No turn of the chat runs, but %s do: go to %s"
                     (cursord--and (mapcar #'cursord--turn-name running))
                     "the session of one with M-x cursord-resume"))))
     ((car running)))))

(defun cursord--and (words)
  "Return WORDS, two or more, as a list in a sentence."
  (concat (string-join (butlast words) ", ") " and " (car (last words))))

(defun cursord--steered (ws turn queued)
  "Return what has become of a text for TURN of WS.
QUEUED is the id of the turn that has it as its prompt, or nil."
  (let ((before (seq-count
                 (lambda (other)
                   (and (equal (plist-get other :status) "queued")
                        (equal (plist-get other :sessionId)
                               (plist-get turn :sessionId))
                        (not (equal (plist-get other :id) queued))))
                 (cursord-busy-turns ws))))
    (cond ((null queued) "the agent has this with its running turn")
          ((zerop before)
           "the agent takes nothing while it works: this is the next prompt")
          (t (format "the agent takes nothing while it works: %s %s"
                     "this waits behind" (cursord-plural before "prompt"))))))

(defcustom cursord-notify-turn-end t
  "Whether the desktop or the terminal shows that such a turn has ended.
It does so only while no frame of Emacs has the focus."
  :type 'boolean
  :group 'cursord)

(defcustom cursord-after-turn-functions nil
  "Functions of a workspace and a turn, called when that turn has ended.
The turn is a plist of the protocol, with :status, :prompt and :error."
  :type 'hook
  :group 'cursord)

(declare-function notifications-notify "notifications" (&rest params))

(defun cursord--looked-at-p ()
  "Return non-nil if a frame has the focus, or cannot tell."
  (seq-some (lambda (frame) (memq (frame-focus-state frame) '(t unknown)))
            (frame-list)))

(defun cursord--desktop-p ()
  "Return non-nil if D-Bus leads to the desktop in front of the person.
In an ssh session it leads to the desktop of another machine."
  (and (featurep 'dbusbind)
       (or (display-graphic-p)
           (and (getenv "DBUS_SESSION_BUS_ADDRESS")
                (not (getenv "SSH_CONNECTION"))))
       (require 'notifications nil t)))

(defun cursord--notify-turn-end (ws text)
  "Show TEXT about a turn of WS on the desktop, else by Emacs's terminals.
Terminals get OSC 777 and OSC 9, and ignore the one that they do not know."
  (let ((title (format "cursord: %s" (cursord-directory-name ws)))
        (text (replace-regexp-in-string "[[:cntrl:];]+" " " text)))
    (unless (and (cursord--desktop-p)
                 (ignore-errors
                   (notifications-notify :title title :body text
                                         :app-name "Emacs")))
      (dolist (terminal (terminal-list))
        (when (and (eq t (terminal-live-p terminal))
                   (not (equal (terminal-name terminal) "initial_terminal")))
          (send-string-to-terminal
           (format "\e]777;notify;%s;%s\e\\\e]9;%s: %s\e\\"
                   (replace-regexp-in-string "[[:cntrl:];]+" " " title) text
                   (replace-regexp-in-string "[[:cntrl:];]+" " " title) text)
           terminal))))))

(defvar cursord--unseen nil
  "Workspaces where a turn has ended while its chat was not shown.")

(defun cursord--turn-end-text (ws turn)
  "Return the message about the end of TURN in WS."
  (let ((err (plist-get turn :error))
        (pending (cursord-pending ws)))
    (cond
     ;; The end of the chat has the hint.
     ((and err (cursord-chat-buffer ws)
           (get-buffer-window (cursord-chat-buffer ws) 'visible))
      (concat (plist-get err :message) "; M-x cursord-retry asks again"))
     (err (cursord-error-text (list :message (plist-get err :message)
                                    :data (list :hint (plist-get err :hint)))))
     ((and (equal (plist-get turn :status) "cancelled")
           (cdr cursord--cancelled)
           (member (plist-get turn :id) cursord--cancelled))
      (format "cancelled the turn and %s"
              (if (length= cursord--cancelled 2)
                  "the prompt that waited"
                (format "%d prompts that waited"
                        (1- (length cursord--cancelled))))))
     ((not (equal (plist-get turn :status) "completed"))
      (format "the turn was %s" (plist-get turn :status)))
     ((> (car pending) 0)
      (format "done; %s in %s: M-x cursord-review"
              (cursord-plural (car pending) "hunk")
              (cursord-plural (cdr pending) "file")))
     (t "done"))))

(defun cursord--say-turn-end (event ws turn before)
  "If EVENT is the end of TURN in WS, which was BEFORE, say so."
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

(defun cursord--attention (ws)
  "Return why WS waits for the person: `error', `review', `answer', or nil."
  (let ((state (cursord-state ws)))
    (cond ((memq state '(error review)) state)
          ((and (memq ws cursord--unseen) (not (memq state '(queued working))))
           'answer))))

(defvar cursord--attended nil
  "The workspace that `cursord-next-attention' went to last.")

;;;###autoload
(defun cursord-next-attention ()
  "Go to what an agent asks, if it asks anything.
Else go to the next project where a turn has failed, has ended or has left
hunks."
  (interactive)
  (if (seq-some (lambda (ws)
                  (> (hash-table-count (cursord-workspace-approvals ws)) 0))
                cursord-workspaces)
      (cursord-approvals)
    (cursord--next-attention)))

(defun cursord--next-attention ()
  "Go to the next project that waits for the person."
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
  "Return how long ago TIME is, as text."
  (let ((seconds (float-time (time-subtract nil (date-to-time time)))))
    (cond ((< seconds 60) "now")
          ((< seconds 3600) (format "%d min" (/ seconds 60)))
          ((< seconds 86400) (format "%d h" (/ seconds 3600)))
          (t (format "%d days" (/ seconds 86400))))))

(defun cursord--sessions (ws)
  "Return the sessions of WS, the latest first."
  (append (plist-get (cursord-call ws :session/list '(:limit 200)) :sessions)
          nil))

(defvar-keymap cursord--title-map
  :doc "Keys that are parts of titles, over those of completion."
  "SPC" #'self-insert-command
  "?" #'self-insert-command)

(defun cursord-read-title (prompt table default)
  "Read one of TABLE with PROMPT and completion; DEFAULT is returned for \"\".
Spaces are typed, as titles have them."
  (minibuffer-with-setup-hook
      (lambda ()
        (use-local-map (make-composed-keymap cursord--title-map
                                             (current-local-map))))
    (completing-read prompt table nil t nil nil default)))

(defun cursord--choose-session (sessions prompt &optional all)
  "Read one of SESSIONS, with PROMPT; show their projects if ALL."
  (let* ((names (make-hash-table :test #'equal))
         (choices
          (mapcar (lambda (session)
                    (let* ((title (cursord-one-line (plist-get session :title)))
                           (title (if (string-empty-p title)
                                      "(no title)"
                                    (truncate-string-to-width title 50 nil nil
                                                              "…")))
                           (title (if all
                                      (concat (file-name-nondirectory
                                               (plist-get session :workspace))
                                              ": " title)
                                    title))
                           (n (cl-incf (gethash title names 0))))
                      (cons (if (= n 1) title (format "%s (%d)" title n))
                            session)))
                  sessions))
         (annotate (lambda (name)
                     (let* ((session (cdr (assoc name choices)))
                            (state (plist-get session :state)))
                       (format "  %s, %s%s"
                               (cursord--age (plist-get session :updatedAt))
                               (cursord-plural (plist-get session :turns)
                                               "turn")
                               (if (equal state "idle") ""
                                 (concat ", " state))))))
         (table (lambda (string predicate action)
                  (if (eq action 'metadata)
                      `(metadata (category . cursord-session)
                                 (display-sort-function . identity)
                                 (annotation-function . ,annotate))
                    (complete-with-action action choices string predicate)))))
    (cdr (assoc (cursord-read-title prompt table (caar choices))
                choices))))

(defun cursord--read-session (ws prompt)
  "Read a session of WS, with PROMPT."
  (cursord--choose-session
   (or (cursord--sessions ws)
       (user-error "There is no session in %s" (cursord-workspace-root ws)))
   prompt))

;;;###autoload
(defun cursord-resume ()
  "Choose a session of this project and go on with it in the chat."
  (interactive)
  (let ((ws (cursord-workspace-open)))
    (cursord-talk-with ws (cursord--read-session ws "Go on with: "))
    (pop-to-buffer (cursord--chat-buffer-create ws))))

;;;###autoload
(defun cursord-rename-session (title)
  "Give the current session the TITLE."
  (interactive
   (let* ((ws (cursord-workspace-open))
          (session (progn (require 'cursord-ask)
                          (cursord--know-session ws)
                          (or (cursord-session ws)
                              (user-error "There is no session yet")))))
     (list (read-string "Title: " (plist-get session :title)))))
  (let ((ws (cursord-workspace-open)))
    (cursord-call ws
                  :session/update
                  (list :sessionId (cursord-workspace-current ws)
                        :title title))))

(defun cursord--only-in-copy (session host)
  "Return how many hunks to review are only in the copy of SESSION at HOST."
  (if (equal (plist-get session :isolation) "copy")
      (apply #'+ (mapcar
                  (lambda (diff)
                    (seq-count
                     (lambda (hunk)
                       (and (cursord-proposed-p hunk)
                            (seq-some (lambda (source)
                                        (equal (plist-get session :id)
                                               (plist-get source :sessionId)))
                                      (plist-get hunk :sources))))
                     (plist-get diff :hunks)))
                  (plist-get (cursord-call-host
                              host :diff/list
                              (list :workspace (plist-get session :workspace)))
                             :diffs)))
    0))

(defun cursord-may-delete-p (session &optional host)
  "Ask whether to delete SESSION at HOST for good, and return the answer."
  (let ((hunks (cursord--only-in-copy session host)))
    (yes-or-no-p
     (format "Delete \"%s\"%s? "
             (truncate-string-to-width
              (cursord-one-line (plist-get session :title)) 40 nil nil "…")
             (if (zerop hunks) " and all that was said in it"
               (format ", with %s to review in its copy alone"
                       (cursord-plural hunks "hunk")))))))

;;;###autoload
(defun cursord-delete-session ()
  "Choose a session of this project and delete it for good."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (session (cursord--read-session ws "Delete: ")))
    (when (cursord-may-delete-p session (cursord-workspace-host ws))
      (cursord-call ws
                    :session/delete (list :sessionId (plist-get session
                                                                :id))))))

(provide 'cursord-session)
;;; cursord-session.el ends here
