;;; cursord-options.el --- Models, modes, isolation, sandbox, trust  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What the agent of a session uses and may do.  Each command is about the
;; session that is talked with or, before there is one, about the next one.
;; `cursord-menu' shows the values.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-chat)

(defun cursord-option (ws key)
  "The value of KEY for the session of WS, or the next one; nil for the default."
  (let ((value (plist-get (or (cursord-session ws) (cursord-next-options ws))
                          key)))
    (unless (member value '("default" :json-false)) value)))

(defun cursord--set (ws key value &optional about)
  "Set KEY of the session that WS talks with, or of the next one, to VALUE.
ABOUT says what that means."
  (cursord--know-session ws)
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
(defun cursord-keep-options ()
  "Have new sessions of all projects begin with the options of this one.
They are kept in `cursord-session-options', also for the next Emacs."
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
  "OPTIONS, a plist, for people."
  (if options
      (mapconcat (pcase-lambda (`(,key ,value))
                   (format "%s %s" (substring (symbol-name key) 1)
                           (if (eq value t) "on" value)))
                 (seq-partition options 2) ", ")
    "the defaults"))

(defun cursord--read-model (ws)
  "Have one choose one of the models that there are for WS."
  (let* ((models (append (plist-get (cursord-call ws :agent/models nil
                                                  :timeout 30) :models) nil))
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
    (completing-read "Model: "
                     (mapcar (lambda (model) (plist-get model :id)) models)
                     nil t)))

;;;###autoload
(defun cursord-set-model (model)
  "Have the session that is talked with use MODEL from its next turn on."
  (interactive (list (cursord--read-model (cursord-workspace-open))))
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
            (cond
             ((and session
                   (not (equal isolation (plist-get session :isolation))))
              (cursord-talk-with ws nil)
              (setf (cursord-workspace-before ws) session))
             ;; Who goes back to what was is back in the session that was.
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
                                     (cursord-next-options ws)) :addDirs)
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

(provide 'cursord-options)
;;; cursord-options.el ends here
