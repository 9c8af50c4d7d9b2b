;;; cursord-ask.el --- Asking the agent  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A prompt comes from the minibuffer (`cursord-ask') or from a buffer where one
;; has more room (`cursord-compose').  What could not be sent is still there.

;;; Code:

(require 'cl-lib)
(require 'ring)
(require 'cursord-workspace)
(require 'cursord-context)

(declare-function cursord-show-chat "cursord-chat" (ws))

(defcustom cursord-show-chat-on-ask t
  "Whether asking shows the chat in a window, which is not selected."
  :type 'boolean
  :group 'cursord)

(defcustom cursord-session-options nil
  "What new sessions begin with, as far as nothing else was chosen for them.
A plist; what it does not have is as the daemon is configured.  With the
`:isolation' \"copy\", nothing changes in the project until you accept it.
\\[cursord-keep-options] sets this to what the session at hand has."
  :type '(plist :options
                ((:model string)
                 (:mode (choice (const "agent") (const "ask") (const "plan")))
                 (:isolation (choice (const "none") (const "copy")))
                 (:sandbox (choice (const "enabled") (const "disabled")))
                 (:autoReview (choice (const t) (const :json-false)))))
  :group 'cursord)

(defcustom cursord-before-send-functions nil
  "Functions that may change what is sent, each with a prompt and its workspace.
They return the prompt to send, or nil to leave it as it is; one that signals a
`user-error' keeps it from being sent."
  :type 'hook
  :group 'cursord)

(defvar cursord-prompt-history nil "What was asked, the latest first.")

(defun cursord--new-turn-id ()
  "A name for a turn that no other has."
  (format "emacs-%x-%x-%x" (emacs-pid) (car (time-convert nil 1000000))
          (random (expt 2 40))))

(defun cursord-trusted-p (ws)
  "Whether agents may work in WS."
  (seq-some (lambda (one)
              (and (equal (plist-get one :workspace)
                          (cursord-workspace-path ws))
                   (eq (plist-get one :trusted) t)))
            (plist-get (cursord-call ws :workspace/list nil) :workspaces)))

(defun cursord--ask-trust (ws &optional path)
  "Ask whether agents may work in WS; if not, it is a `user-error'.
PATH is a folder beside it that is asked for instead."
  (let ((path (and path (not (equal path (cursord-workspace-path ws))) path)))
    (unless (yes-or-no-p (format "May the agent run commands and change files in %s? "
                                 (or path
                                     (abbreviate-file-name (cursord-workspace-root ws)))))
      (user-error (if path
                      "Nothing was sent: without an argument, M-x cursord-add-directory adds no folder"
                    "Nothing was sent: M-x cursord-trust allows the agent to work here")))
    (cursord-call-host (cursord-workspace-host ws) :workspace/trust
                       (list :workspace (or path (cursord-workspace-path ws))
                             :trusted t))))

(defun cursord--start-turn (ws params started)
  "Start a turn in WS with PARAMS and return the answer.
The name of the turn makes it one, however often it is asked for.  STARTED is
called with the answer before anything is received that came behind it."
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
  "Have it known which session WS talks with: the latest, if none was chosen."
  (unless (cursord-workspace-chosen ws)
    (cursord-talk-with ws
                       (seq-find #'identity
                                 (plist-get (cursord-call ws :session/list
                                                          '(:limit 1))
                                            :sessions)))))

(defun cursord-send (ws prompt &optional origin new context)
  "Ask PROMPT in WS, at ORIGIN; in a new session if NEW.
CONTEXT goes along, if it is given, in place of what the prompt's tokens name.
It returns once the daemon has stored the turn; if it has not, that is an error."
  (when (string-blank-p prompt)
    (user-error "There is nothing to ask"))
  (setf (cursord-workspace-sent ws) (list prompt))
  (run-hook-wrapped 'cursord-before-send-functions
                    (lambda (function)
                      (setq prompt (or (funcall function prompt ws) prompt))
                      nil))
  (require 'cursord-session)            ; it says when turns end
  (let ((context (append (or context
                             (cursord-context ws prompt
                                              (or origin (cursord--origin-make))))
                         (cursord-workspace-images ws))))
    (if new
        (cursord-talk-with ws nil)
      (cursord--know-session ws))
    (add-to-history 'cursord-prompt-history prompt)
    (let* ((session (cursord-workspace-current ws))
           (made (unless session (cursord--make-session ws)))
           answer)
      (unwind-protect
          (setq answer
                (cursord--start-turn
                 ws `(:prompt ,prompt :turnId ,(cursord--new-turn-id)
                              ,@(and context (list :context (vconcat context)))
                              ,@(cond
                                 ((or session made)
                                  (list :sessionId (or session made)))
                                 (t (cursord-next-options ws))))
                 (lambda (result)
                   (setf (cursord-workspace-images ws) nil)
                   (let ((turn (plist-get result :turn)))
                     (setcdr (cursord-workspace-sent ws)
                             (list (plist-get turn :id) context))
                     (puthash (plist-get turn :id) t
                              (cursord-workspace-mine ws))
                     (unless session
                       (cursord-talk-with ws (plist-get result :session)
                                          turn))))))
        (when (and made (not answer))
          (cursord-request ws :session/delete (list :sessionId made)
                           :else #'ignore))))))

(defun cursord-next-options (ws)
  "What is chosen for the next new session of WS, a plist."
  (let (options)
    (cl-loop for (key value) on (append cursord-session-options
                                        (cursord-workspace-next ws))
             by #'cddr
             do (setq options (plist-put options key value)))
    ;; That is what it is without being asked for.
    (cl-loop for (key value) on options by #'cddr
             unless (equal value "default") append (list key value))))

(defun cursord--make-session (ws)
  "Make a session of WS where its first turn could not, and return its id.
Else return nil."
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
  "What was written before more room was asked for.")

(defun cursord--ask-with-more-room ()
  "Go on writing in a buffer."
  (interactive)
  (setq cursord--ask-more (minibuffer-contents-no-properties))
  (exit-minibuffer))

(defun cursord--read-prompt (ws origin new)
  "Read what is to be asked in WS, at ORIGIN; of a new session if NEW."
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
  "Ask the agent; an active region goes along.
With a prefix argument COMPOSE, write in a buffer.  In the minibuffer, TAB
completes tokens such as @src/main.go, and
\\<cursord-ask-map>\\[cursord--ask-with-more-room] goes on in a buffer."
  (interactive "P")
  (let ((ws (cursord-workspace-open))
        (origin (cursord-origin-here))
        (cursord--ask-more nil))
    (if compose
        (cursord-compose)
      (cursord--know-session ws)
      (let ((prompt (cursord--read-prompt ws origin
                                          (null (cursord-workspace-current ws)))))
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
  "Which of `cursord-prompt-history' is shown; -1 for the draft.")
(defvar-local cursord--draft nil
  "What was written before something else was shown.")

(defvar-keymap cursord-compose-mode-map
  :doc "Keys where a prompt is written."
  "C-c C-c" #'cursord-compose-send
  "C-c C-k" #'cursord-compose-abort
  "M-p" #'cursord-previous-prompt
  "M-n" #'cursord-next-prompt)

(define-derived-mode cursord-compose-mode text-mode "Cursord-Compose"
  "Mode to write a prompt in.
\\<cursord-compose-mode-map>\\[cursord-compose-send] sends it,
\\[cursord-compose-abort] goes back and keeps it.  \\[completion-at-point]
completes tokens that name what goes along: @region, @buffer, @diagnostics,
@changes, and files such as @src/main.go or @src/main.go:10-20."
  (setq header-line-format
        (list " " '(:eval (cursord--compose-header))))
  (setq-local fill-column (max fill-column 80))
  (add-hook 'completion-at-point-functions #'cursord-complete-token nil t))

(defun cursord--compose-header ()
  "What is above a prompt that is written."
  (substitute-command-keys
   "\\<cursord-compose-mode-map>\\[cursord-compose-send] send · \\[cursord-compose-abort] keep for later · \
\\[cursord-previous-prompt] earlier ones · @ names what goes along"))

(defun cursord--compose-name (ws)
  "The name of the buffer where a prompt for WS is written."
  (format "*cursord-compose: %s*"
          (file-name-nondirectory (directory-file-name (cursord-workspace-root ws)))))

(defun cursord--compose-buffer (ws)
  "The buffer where a prompt for WS is written."
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
        (current-buffer))))

(defun cursord--compose (ws origin &optional text)
  "Write a prompt for WS in a buffer, asked at ORIGIN, with TEXT put in."
  (let ((buffer (cursord--compose-buffer ws)))
    (pop-to-buffer buffer
                   '((display-buffer-reuse-window display-buffer-below-selected)
                     (window-height . 10)))
    (goto-char (point-min))
    (let ((region (save-excursion (search-forward "@region" nil t))))
      ;; A draft goes on about the region that it began with.
      (unless (and cursord-buffer-origin
                   (or (null (cursord-origin-buffer origin))
                       (and region (null (cursord-origin-region origin)))))
        (setq cursord-buffer-origin origin))
      (when (and (cursord-origin-region origin) (not region))
        (insert "@region ")))
    (goto-char (point-max))
    (when text (insert text))))

;;;###autoload
(defun cursord-compose ()
  "Write a prompt in a buffer of its own.
What was written there before is still there."
  (interactive)
  (let ((origin (cursord-origin-here)))
    (cursord--compose (cursord-workspace-open) origin)))

(defun cursord-compose-send ()
  "Send what is written, and go back."
  (interactive nil cursord-compose-mode)
  (let ((ws (cursord-workspace-open)))
    (cursord-send ws
                  (string-trim (buffer-substring-no-properties (point-min)
                                                               (point-max)))
                  cursord-buffer-origin)
    (erase-buffer)
    (setq cursord--history-at -1)
    (quit-window)
    (when cursord-show-chat-on-ask
      (cursord-show-chat ws))))

(defun cursord-compose-abort ()
  "Go back, and keep what is written for the next time."
  (interactive nil cursord-compose-mode)
  (quit-window)
  (cursord-say "the draft is kept"))

(defun cursord--show-prompt (at)
  "Show the prompt AT of the history; -1 is the draft."
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
  "Show what was asked before."
  (interactive nil cursord-compose-mode)
  (cursord--show-prompt (1+ cursord--history-at)))

(defun cursord-next-prompt ()
  "Show what was asked after that, and at last the draft."
  (interactive nil cursord-compose-mode)
  (cursord--show-prompt (1- cursord--history-at)))

(provide 'cursord-ask)
;;; cursord-ask.el ends here
