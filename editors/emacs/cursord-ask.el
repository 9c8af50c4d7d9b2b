;;; cursord-ask.el --- Asking the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A person writes a prompt in the minibuffer (`cursord-ask') or in a buffer
;; (`cursord-compose').  A prompt that could not be sent stays in the history
;; and in that buffer.

;;; Code:

(require 'cl-lib)
(require 'ring)
(require 'cursord-workspace)
(require 'cursord-context)
(require 'cursord-drafts)

(declare-function cursord-show-chat "cursord-chat" (ws))

(defcustom cursord-show-chat-on-ask t
  "Whether to show the chat in another window after a prompt was sent."
  :type 'boolean
  :group 'cursord)

(defcustom cursord-session-options nil
  "The options of new sessions, a plist, unless you choose others.
The daemon's configuration has the other options.  With the `:isolation'
\"copy\", nothing changes in the project until you accept it.
\\[cursord-keep-options] stores the options of the current session here."
  :type '(plist :options
                ((:model string)
                 (:mode (choice (const "agent") (const "ask") (const "plan")))
                 (:isolation (choice (const "none") (const "copy")))
                 (:sandbox (choice (const "enabled") (const "disabled")))
                 (:autoReview (choice (const t) (const :json-false)))))
  :group 'cursord)

(defcustom cursord-before-send-functions nil
  "Functions of a prompt and its workspace that may change the prompt.
Each returns the prompt to send, or nil to leave it as it is.  A `user-error'
keeps the prompt from being sent."
  :type 'hook
  :group 'cursord)

(defvar cursord-prompt-history nil "The prompts, the latest first.")

(defun cursord-trusted-p (ws)
  "Return non-nil if agents may work in WS."
  (seq-some (lambda (one)
              (and (equal (plist-get one :workspace)
                          (cursord-workspace-path ws))
                   (eq (plist-get one :trusted) t)))
            (plist-get (cursord-call ws :workspace/list nil) :workspaces)))

(defun cursord--trust-question (folder)
  "Return the question whether agents may work in FOLDER."
  (format "May the agent run commands and change files in %s? " folder))

(defun cursord--ask-trust (ws &optional path)
  "Ask whether agents may work in WS; signal a `user-error' if not.
If PATH is non-nil, ask about that folder beside WS instead."
  (let ((path (and path (not (equal path (cursord-workspace-path ws))) path)))
    (unless (yes-or-no-p (cursord--trust-question
                          (or path (abbreviate-file-name
                                    (cursord-workspace-root ws)))))
      (user-error
       (if path
           (concat "Nothing was sent: without an argument,"
                   " M-x cursord-add-directory adds no folder")
         (concat "Nothing was sent: M-x cursord-trust"
                 " allows the agent to work here"))))
    (cursord-call-host (cursord-workspace-host ws) :workspace/trust
                       (list :workspace (or path (cursord-workspace-path ws))
                             :trusted t))))

(defun cursord--start-turn (ws params started)
  "Start a turn in WS with PARAMS and return the answer.
The turn's id keeps a repeated request from starting a second turn.  Call
STARTED with the answer before later messages are received."
  (let ((limit 30) answer)
    (while (not answer)
      (let (failed)
        (cursord-request ws :turn/start params
                         :then (lambda (result)
                                 (setq answer result)
                                 (funcall started result))
                         :else (lambda (err) (setq failed err)))
        (let ((deadline (time-add nil limit)))
          (while (not (or answer failed))
            (unless (time-less-p nil deadline)
              (user-error "The daemon has not answered within %d seconds"
                          limit))
            (accept-process-output nil 0.02)))
        (pcase (cursord-error-kind failed)
          ((guard answer))
          ("workspaceUntrusted"
           (cursord--ask-trust ws (plist-get (plist-get failed :data) :path)))
          ((and "disconnected" (guard (cl-plusp (cl-decf limit 15)))
                (guard (cursord-connection-to (cursord-workspace-host ws)))))
          (_ (user-error "%s" (cursord-error-text failed))))))
    answer))

(defun cursord--know-session (ws)
  "Make the latest session of WS the current one, if none was chosen."
  (unless (cursord-workspace-chosen ws)
    (cursord-talk-with ws
                       (cursord-to-continue
                        (plist-get (cursord-call ws :session/list nil)
                                   :sessions)))))

(defun cursord-send (ws prompt &optional origin new context recap)
  "Ask PROMPT in WS, at ORIGIN; in a new session if NEW.
CONTEXT, if non-nil, replaces the context that the prompt's tokens name.  With
RECAP the agent begins a fresh chat, with the session's transcript.
Return once the daemon has stored the turn; else signal an error."
  (when (string-blank-p prompt)
    (user-error "There is nothing to ask"))
  (require 'cursord-session)            ; for messages at turns' ends
  (let* ((asked (prog1 prompt
                  (run-hook-wrapped 'cursord-before-send-functions
                                    (lambda (fn)
                                      (setq prompt (or (funcall fn prompt ws)
                                                       prompt))
                                      nil))))
         (context (append (or context
                              (cursord-context
                               ws prompt (or origin (cursord--origin-make))))
                          (cursord-workspace-images ws))))
    (if new
        (cursord-talk-with ws nil)
      (cursord--know-session ws))
    (add-to-history 'cursord-prompt-history prompt)
    (let* ((session (cursord-workspace-current ws))
           (made (unless session (cursord--make-session ws)))
           (waits (and session
                       (seq-some (lambda (turn)
                                   (equal session (plist-get turn :sessionId)))
                                 (cursord-busy-turns ws))))
           answer)
      (unwind-protect
          (setq answer
                (cursord--start-turn
                 ws `(:prompt ,prompt :turnId ,(cursord--new-turn-id)
                              ,@(and context (list :context (vconcat context)))
                              ,@(and recap session '(:recap t))
                              ,@(cond
                                 ((or session made)
                                  (list :sessionId (or session made)))
                                 (t (cursord-next-options ws))))
                 (lambda (result)
                   (setf (cursord-workspace-images ws) nil)
                   (let ((turn (plist-get result :turn)))
                     (setf (cursord-workspace-sent ws)
                           (cons (cons (plist-get turn :id)
                                       (cons asked context))
                                 (take 9 (cursord-workspace-sent ws))))
                     (puthash (plist-get turn :id) t
                              (cursord-workspace-mine ws))
                     (unless session
                       ;; The options were those of this session.
                       (setf (cursord-workspace-next ws) nil)
                       (cursord-talk-with ws (plist-get result :session)
                                          turn))))))
        (when (and made (not answer))
          (cursord-request ws :session/delete (list :sessionId made)
                           :else #'ignore)))
      (when waits
        (cursord-say "the prompt waits until the turn before it has ended"))
      answer)))

(defun cursord-next-options (ws)
  "Return the options of the next new session of WS, a plist."
  (let (options)
    (cl-loop for (key value) on (append cursord-session-options
                                        (cursord-workspace-next ws))
             by #'cddr
             do (setq options (plist-put options key value)))
    ;; The daemon uses the default without being asked to.
    (cl-loop for (key value) on options by #'cddr
             unless (equal value "default") append (list key value))))

(defun cursord--make-session (ws)
  "Make a session of WS if its options cannot go with a turn; return its id.
Return nil if the first turn can make the session."
  (let ((options (cursord-next-options ws)))
    (when (seq-some (lambda (key) (plist-member options key))
                    '(:isolation :sandbox :autoReview :addDirs))
      (plist-get (plist-get (cursord-call ws :session/create options) :session)
                 :id))))

;;;; In the minibuffer

(defvar-keymap cursord-ask-map
  :doc "Keys while a prompt is read in the minibuffer."
  :parent minibuffer-local-map
  "TAB" #'completion-at-point
  "C-c C-o" #'cursord--ask-with-more-room)

(defvar cursord--ask-more nil
  "The prompt that `cursord--ask-with-more-room' moves to a buffer.")

(defun cursord--ask-with-more-room ()
  "Go on writing the prompt in a buffer."
  (interactive)
  (unless (minibufferp)
    (user-error "This command is for the prompt of M-x cursord-ask"))
  (setq cursord--ask-more (minibuffer-contents-no-properties))
  (exit-minibuffer))

(defun cursord--read-prompt (ws origin new)
  "Read a prompt for WS, at ORIGIN; for a new session if NEW."
  (let ((text (if (cursord-origin-region origin) "Ask about the region" "Ask")))
    (minibuffer-with-setup-hook
        (lambda ()
          (setq cursord-buffer-workspace ws)
          (add-hook 'completion-at-point-functions #'cursord-complete-token nil
                    t))
      (read-from-minibuffer (format "%s%s: " text (if new " (new session)" ""))
                            nil cursord-ask-map nil 'cursord-prompt-history))))

;;;###autoload
(defun cursord-ask (&optional compose)
  "Ask the agent; send an active region along.
With a prefix argument COMPOSE, write the prompt in a buffer.  In the
minibuffer, TAB completes tokens such as @src/main.go, and
\\<cursord-ask-map>\\[cursord--ask-with-more-room] goes on in a buffer."
  (interactive "P")
  (let ((ws (cursord-workspace-open))
        (origin (cursord-origin-here))
        (cursord--ask-more nil))
    (if compose
        (cursord-compose)
      (cursord--know-session ws)
      (let ((prompt (cursord--read-prompt
                     ws origin (null (cursord-workspace-current ws)))))
        (if cursord--ask-more
            (cursord--compose ws origin cursord--ask-more)
          (when (and (cursord-origin-region origin)
                     (not (string-match-p "\\(?:\\`\\|[ \t\n(]\\)@region\\>"
                                          prompt)))
            (setq prompt (concat prompt " @region")))
          (cursord-send ws prompt origin)
          (deactivate-mark)
          (if cursord-show-chat-on-ask
              (cursord-show-chat ws)
            (cursord-say "sent")))))))

;;;; In a buffer

(defvar-local cursord--history-at -1
  "The index of the shown prompt in `cursord-prompt-history'; -1 is the draft.")
(defvar-local cursord--draft nil
  "The draft, while the buffer shows an earlier prompt.")

(defvar-local cursord--former nil
  "The prompt that `cursord-edit-prompt' has put into the buffer.
If it is left as it is, the draft comes back.")

(defvar-keymap cursord-compose-mode-map
  :doc "Keys in a buffer for a prompt."
  "C-c C-c" #'cursord-compose-send
  "C-c C-k" #'cursord-compose-abort
  "M-p" #'cursord-previous-prompt
  "M-n" #'cursord-next-prompt)

(define-derived-mode cursord-compose-mode text-mode "Cursord-Compose"
  "Mode for writing a prompt.
\\<cursord-compose-mode-map>\\[cursord-compose-send] sends it,
\\[cursord-compose-abort] goes back and keeps it.  \\[completion-at-point]
completes tokens for the prompt's context: @region, @buffer, @diagnostics,
@changes, and files such as @src/main.go or @src/main.go:10-20."
  :interactive nil
  (setq header-line-format
        (list " " '(:eval (cursord--compose-header))))
  (setq-local fill-column (max fill-column 80))
  (add-hook 'completion-at-point-functions #'cursord-complete-token nil t))

(defun cursord--compose-header ()
  "Return the header line of a buffer for a prompt."
  (cursord-fitting
   (mapcar (lambda (part)
             (cons (car part)
                   (cursord-key-text
                    (concat "\\<cursord-compose-mode-map>" (cdr part)))))
           '((nil . "\\[cursord-compose-send] send")
             (nil . "\\[cursord-compose-abort] keep for later")
             (2 . "\\[cursord-previous-prompt] earlier ones")
             (1 . "@ names files")))))

(defun cursord--compose-name (ws)
  "Return the name of the buffer for a prompt for WS."
  (format "*cursord-compose: %s*" (cursord-directory-name ws)))

(defun cursord--compose-buffer (ws)
  "Return the buffer for a prompt for WS."
  (or (seq-find (lambda (buffer)
                  (and (eq (buffer-local-value 'major-mode buffer)
                           'cursord-compose-mode)
                       (eq (buffer-local-value 'cursord-buffer-workspace buffer)
                           ws)))
                (buffer-list))
      (with-current-buffer (generate-new-buffer (cursord--compose-name ws))
        (cursord-compose-mode)
        (setq cursord-buffer-workspace ws
              default-directory (cursord-workspace-root ws))
        (cursord-draft-take ws)
        (current-buffer))))

(defun cursord--compose (ws origin &optional text)
  "Go to the buffer for a prompt for WS, asked at ORIGIN; insert TEXT.
If TEXT is the symbol `buffer', insert a token for the buffer of ORIGIN.  A
draft with tokens for another place keeps them, and gets numbered ones."
  (let ((buffer (cursord--compose-buffer ws)))
    (pop-to-buffer buffer
                   '((display-buffer-reuse-window display-buffer-below-selected)
                     (window-height . 10)))
    (when (and cursord--former (equal cursord--former (buffer-string)))
      (cursord--show-prompt -1))
    (setq cursord--former nil)
    (goto-char (point-min))
    (let* ((used (save-excursion
                   (re-search-forward cursord--origin-tokens nil t)))
           (token (cond ((eq text 'buffer) "@buffer")
                        ((cursord-origin-region origin) "@region")))
           (number ""))
      (if (and cursord-buffer-origin
               (or used (null (cursord-origin-buffer origin))))
          (when token
            (setq number (cursord--number-origin cursord-buffer-origin origin)))
        (setq cursord-buffer-origin origin))
      (when token
        (setq token (concat token number))
        (unless (save-excursion
                  (re-search-forward (concat (regexp-quote token) "\\_>")
                                     nil t))
          (when used
            (goto-char (point-max))
            (unless (or (bolp) (memq (char-before) '(?\s ?\t)))
              (insert " ")))
          (insert token " "))))
    (goto-char (point-max))
    (when (stringp text) (insert text))))

;;;###autoload
(defun cursord-compose ()
  "Write a prompt in a buffer of its own, whose draft outlives Emacs."
  (interactive)
  (let ((origin (cursord-origin-here)))
    (cursord--compose (cursord-workspace-open) origin)))

(defun cursord-compose-send ()
  "Send the prompt, and go back."
  (interactive (cursord-only-in 'cursord-compose-mode) cursord-compose-mode)
  (let ((ws (cursord-workspace-open)))
    (cursord-send ws
                  (string-trim (buffer-substring-no-properties (point-min)
                                                               (point-max)))
                  cursord-buffer-origin)
    (cursord-draft-after-send)
    (quit-window)
    (when cursord-show-chat-on-ask
      (cursord-show-chat ws))))

(defun cursord-compose-abort ()
  "Go back, and keep the draft for the next time."
  (interactive (cursord-only-in 'cursord-compose-mode) cursord-compose-mode)
  (quit-window)
  (cursord-say "the draft is kept"))

(defun cursord--show-prompt (at)
  "Show the prompt with index AT in the history; -1 is the draft."
  (when (>= at (length cursord-prompt-history))
    (user-error "There is no earlier prompt"))
  (when (< at -1)
    (user-error "There is no later prompt"))
  (when (= cursord--history-at -1)
    (setq cursord--draft (buffer-string)))
  (setq cursord--history-at at)
  (erase-buffer)
  (insert (if (= at -1)
              (or cursord--draft "")
            (nth at cursord-prompt-history))))

(defun cursord-previous-prompt ()
  "Show the prompt before the shown one."
  (interactive (cursord-only-in 'cursord-compose-mode) cursord-compose-mode)
  (cursord--show-prompt (1+ cursord--history-at)))

(defun cursord-next-prompt ()
  "Show the prompt after the shown one, and after the latest the draft."
  (interactive (cursord-only-in 'cursord-compose-mode) cursord-compose-mode)
  (cursord--show-prompt (1- cursord--history-at)))

(provide 'cursord-ask)
;;; cursord-ask.el ends here
