;;; cursord-options.el --- Models, modes, trust  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The options of a session: model, mode, isolation, sandbox, folders.  Each
;; command sets one of the current session or, if there is none, of the next
;; one.  `cursord-menu' shows the values.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-chat)

(defun cursord-option (ws key)
  "Return option KEY of the current session of WS, or of the next one.
It is nil for the default."
  (let ((value (plist-get (or (cursord-session ws) (cursord-next-options ws))
                          key)))
    (unless (member value '("default" :json-false)) value)))

(defun cursord--set (ws key value &optional about)
  "Set option KEY of the current session of WS, or of the next one, to VALUE.
ABOUT, if non-nil, says in the echo area what that means."
  (cursord--know-session ws)
  (if (cursord-workspace-current ws)
      (let ((session (plist-get
                      (cursord-call
                       ws :session/update
                       (list :sessionId (cursord-workspace-current ws)
                             key value))
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
(defun cursord-keep-options ()
  "Store the options of this session for new sessions of all projects.
They are stored in `cursord-session-options', which is saved."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (kept (cl-loop for key in '(:model :mode :isolation :sandbox
                                            :autoReview)
                        for value = (cursord-option ws key)
                        when value append (list key value))))
    (if (or custom-file user-init-file)
        (customize-save-variable 'cursord-session-options kept)
      (customize-set-variable 'cursord-session-options kept))
    (setf (cursord-workspace-next ws) nil)
    (cursord-say "new sessions begin with %s" (cursord--options-text kept))))

(defun cursord--options-text (options)
  "Return OPTIONS, a plist, as text."
  (if options
      (mapconcat (pcase-lambda (`(,key ,value))
                   (format "%s %s" (substring (symbol-name key) 1)
                           (if (eq value t) "on" value)))
                 (seq-partition options 2) ", ")
    "the defaults"))

(defun cursord--read-model (ws)
  "Read the name of a model of the agent in WS."
  (let* ((models (append (plist-get (cursord-call ws :agent/models nil
                                                  :timeout 30) :models) nil))
         (default (or (cursord-option ws :model)
                      (plist-get (seq-find (lambda (model)
                                             (eq t (plist-get model :current)))
                                           models)
                                 :id)))
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
    (cursord--chosen
     (completing-read (format-prompt "Model" default)
                      (mapcar (lambda (model) (plist-get model :id)) models)
                      nil t nil nil default))))

(defun cursord--chosen (choice)
  "Return CHOICE, which a person was asked for; signal an error if it is empty."
  (if (string-empty-p choice)
      (user-error "Nothing was chosen")
    choice))

;;;###autoload
(defun cursord-set-model (model)
  "Use MODEL in this session from its next turn on."
  (interactive (list (cursord--read-model (cursord-workspace-open))))
  (cursord--set (cursord-workspace-open) :model model))

;;;###autoload
(defun cursord-set-mode (mode)
  "Work in MODE in this session from its next turn on.
In the modes \"ask\" and \"plan\" the agent changes nothing."
  (interactive (list (cursord--chosen
                      (completing-read "Mode: " '("agent" "ask" "plan")
                                       nil t))))
  (cursord--set (cursord-workspace-open) :mode mode))

(defun cursord--read-isolation (prompt)
  "Read with PROMPT where an agent works: \"copy\" or \"none\"."
  (let ((completion-extra-properties
         (list :annotation-function
               (lambda (isolation)
                 (if (equal isolation "copy") "  in a copy of the project"
                   "  in the project itself")))))
    (cursord--chosen (completing-read prompt '("copy" "none") nil t))))

;;;###autoload
(defun cursord-set-isolation (isolation)
  "Go on with a session whose agent works with ISOLATION.
With \"copy\" it works in a copy of the project: nothing changes in the
project until you accept it.  With \"none\" it works in the project.  A
session never changes its isolation."
  (interactive (list (cursord--read-isolation "Isolation: ")))
  (let ((ws (cursord-workspace-open)))
    (cursord-choose-session
     ws (lambda ()
          (let ((session (cursord-session ws)))
            (setf (cursord-workspace-next ws)
                  (plist-put (cursord-workspace-next ws) :isolation isolation))
            (cond
             ((and session
                   (not (equal isolation (plist-get session :isolation))))
              (cursord-talk-with ws nil)
              (setf (cursord-workspace-before ws) session))
             ;; Choosing the former isolation again leads back to its session.
             ((and (null session) (cursord-workspace-before ws)
                   (equal isolation (plist-get (cursord-workspace-before ws)
                                               :isolation)))
              (cursord-talk-with ws (cursord-workspace-before ws))
              (setf (cursord-workspace-before ws) nil)))
            (force-mode-line-update t)
            (cursord-say "in %s session the agent works in %s"
                         (if (cursord-workspace-current ws) "this" "the next")
                         (if (equal isolation "copy")
                             "a copy of the project"
                           "the project")))))))

;;;###autoload
(defun cursord-set-sandbox (sandbox)
  "Use the agent's SANDBOX for commands of this session, or not.
With \"enabled\", commands that the sandbox can hold run, and others are
denied.  With \"default\", the daemon's configuration decides."
  (interactive
   (list (cursord--chosen
          (completing-read "Sandbox: " '("enabled" "disabled" "default")
                           nil t))))
  (cursord--set (cursord-workspace-open) :sandbox sandbox
                (pcase sandbox
                  ("enabled"
                   "commands that the sandbox can hold run, others are denied")
                  ("disabled" "there is no sandbox for commands")
                  (_ "the sandbox is as configured"))))

;;;###autoload
(defun cursord-set-auto-review (on)
  "Let a classifier of the agent decide on commands that would be denied.
If ON is nil, as with a prefix argument, deny them."
  (interactive (list (not current-prefix-arg)))
  (cursord--set (cursord-workspace-open) :autoReview (if on t :json-false)
                (if on
                    "a classifier of the agent decides on commands"
                  "no classifier decides on commands")))

;;;###autoload
(defun cursord-add-directory (dir)
  "Let the agent of this session work in DIR, too, a folder beside the project.
Changes there cannot be rejected.  With a prefix argument, take all such
folders away."
  (interactive (list (unless current-prefix-arg
                       (read-directory-name "The agent may also work in: " nil
                                            nil t))))
  (let* ((ws (cursord-workspace-open))
         (has (append (plist-get (or (cursord-session ws)
                                     (cursord-next-options ws)) :addDirs)
                      nil))
         (path (and dir
                    (directory-file-name
                     (file-local-name (expand-file-name dir))))))
    (cursord--set ws :addDirs (vconcat (and path (append has (list path))))
                  (if path
                      (format (concat "the agent may also work in %s,"
                                      " where nothing can be rejected")
                              path)
                    "the agent works in no other folder"))))

;;;###autoload
(defun cursord-add-image (file)
  "Send the image in FILE with the next prompt.
With a prefix argument, send the image in the clipboard."
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
      (user-error (concat "The image is too large to be sent:"
                          " save it where the agent is, and name the file")))
    (setf (cursord-workspace-images ws)
          (append (cursord-workspace-images ws)
                  (list (if bytes
                            (list :kind "image"
                                  :data (base64-encode-string
                                         (encode-coding-string bytes 'binary)
                                         t))
                          (list :kind "image" :path (expand-file-name file))))))
    (let ((n (length (cursord-workspace-images ws))))
      (cursord-say "%s with the next prompt"
                   (if (= n 1) "1 image goes" (format "%d images go" n))))))

;;;###autoload
(defun cursord-trust (&optional withdraw)
  "Allow agents to work in this project, after a question.
WITHDRAW that with a prefix argument."
  (interactive "P")
  (let* ((ws (cursord-workspace-open))
         (root (abbreviate-file-name (cursord-workspace-root ws))))
    (when (or withdraw
              (yes-or-no-p (cursord--trust-question root)))
      (cursord-call ws
                    :workspace/trust
                    (list :trusted (if withdraw :json-false t)))
      (cursord-say "agents may %swork in %s" (if withdraw "not " "") root))))

(provide 'cursord-options)
;;; cursord-options.el ends here
