;;; cursord-test-world.el --- A machine in small  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-test-with-world' has a folder, a real daemon that is started when it
;; is first needed, and `cursord fake-agent', which plays what
;; `cursord-test-plays' says.  The program `cursord' has to be in variable
;; `exec-path'.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'json)
(require 'cursord)
(require 'cursord-session)

(defvar cursord-test-dir nil "The folder of the world, without links.")
(defvar cursord-test-answers nil "What is answered to yes or no, in order.")

(defconst cursord-test-patience 30 "Seconds for which something is waited for.")

(defun cursord-test-file (name)
  "The file NAME of the workspace."
  (expand-file-name (concat "ws/" name) cursord-test-dir))

(defun cursord-test-put (name text)
  "Have the file NAME of the workspace hold TEXT."
  (let ((coding-system-for-write 'utf-8-unix)
        (file (cursord-test-file name)))
    (make-directory (file-name-directory file) t)
    (write-region text nil file nil 'silent)))

(defun cursord-test-get (name)
  "What the file NAME of the workspace holds; nil if it is not there."
  (condition-case nil
      (with-temp-buffer
        (let ((coding-system-for-read 'utf-8-unix))
          (insert-file-contents (cursord-test-file name)))
        (buffer-string))
    (file-missing nil)))

(defun cursord-test-numbered (n &rest changes)
  "N numbered lines; CHANGES is a plist of lines and what they are instead."
  (mapconcat (lambda (i) (or (plist-get changes i) (format "line %d\n" i)))
             (number-sequence 1 n) ""))

(defvar cursord-test-unheard 1
  "Where what this test has not yet heard begins in the log.")

(defun cursord-test-said-p (regexp)
  "Return non-nil if something like REGEXP was said that was not heard yet.
Other messages may have come before it and after it.  What is found is heard."
  (with-current-buffer (get-buffer-create "*cursord-log*")
    (save-excursion
      (goto-char cursord-test-unheard)
      (when (re-search-forward (concat "^[0-9:]\\{8\\} \\(?:" regexp "\\)")
                               nil t)
        (setq cursord-test-unheard (point))))))

(defun cursord-test-hears (text)
  "Wait until TEXT is said."
  (cursord-test-until (format "the message %S" text)
    (cursord-test-said-p (concat (regexp-quote text) "$"))))

(defun cursord-test-buffers ()
  "What is in the log, and in buffers of the workspace."
  (mapconcat (lambda (buffer)
               (with-current-buffer buffer
                 (if (or cursord-buffer-workspace
                         (equal (buffer-name) "*cursord-log*")
                         (and buffer-file-name
                              (string-prefix-p cursord-test-dir
                                               buffer-file-name)))
                     (format "%s:\n%s\n" (buffer-name) (buffer-string))
                   "")))
             (buffer-list) ""))

(defmacro cursord-test-until (what &rest body)
  "Wait until BODY is true; WHAT it is, is said if that is in vain.
The value is that of BODY."
  (declare (indent 1) (debug t))
  `(let ((limit (time-add nil cursord-test-patience)) value)
     (while (not (setq value (progn ,@body)))
       (unless (time-less-p nil limit)
         (ert-fail (format "waited in vain for %s\n%s" ,what
                           (cursord-test-buffers))))
       (accept-process-output nil 0.02))
     value))

;;;; What the agent does

(defun cursord-test-plays (&rest lines)
  "Have the agent's next turns play LINES, lists of lines, and then end."
  (let ((coding-system-for-write 'utf-8-unix))
    (write-region (mapconcat (lambda (line) (concat line "\n"))
                             (append (flatten-list lines)
                                     (list (concat "{\"type\":\"result\","
                                                   "\"subtype\":\"success\","
                                                   "\"result\":\"ok\"}")))
                             "")
                  nil (expand-file-name "script" cursord-test-dir) nil
                  'silent)))

(defun cursord-test-says (text)
  "A line by which the agent says TEXT."
  (concat "{\"type\":\"assistant\",\"message\":{\"role\":\"assistant\","
          "\"content\":[{\"type\":\"text\",\"text\":"
          (json-encode text) "}]},\"timestamp_ms\":{{now_ms}}}"))

(defun cursord-test-edits (name before after)
  "Lines by which the agent has the file NAME be AFTER; it was BEFORE."
  (let ((call (json-encode (concat "edit " name)))
        (path (json-encode (concat "{{cwd}}/" name))))
    (list (format (concat "{\"type\":\"tool_call\",\"subtype\":\"started\","
                          "\"call_id\":%s,\"tool_call\":{\"editToolCall\":"
                          "{\"args\":{\"path\":%s}}}}")
                  call path)
          (format "{\"fake\":\"write\",\"path\":%s,\"text\":%s}"
                  (json-encode name) (json-encode after))
          (format (concat "{\"type\":\"tool_call\",\"subtype\":\"completed\","
                          "\"call_id\":%s,\"tool_call\":{\"editToolCall\":"
                          "{\"args\":{\"path\":%s},\"result\":{\"success\":"
                          "{%s\"afterFullFileContent\":%s,\"path\":%s}}}}}")
                  call path
                  (if before
                      (format "\"beforeFullFileContent\":%s,"
                              (json-encode before))
                    "") (json-encode after) path))))

(defun cursord-test-runs (command)
  "Lines by which the agent runs COMMAND in a shell, in the workspace."
  (let ((args "\"args\":{\"command\":\"x\",\"workingDirectory\":\"\"}"))
    (list (format (concat "{\"type\":\"tool_call\",\"subtype\":\"started\","
                          "\"call_id\":%s,\"timestamp_ms\":{{now_ms}},"
                          "\"tool_call\":{\"shellToolCall\":{%s}}}")
                  (json-encode command) args)
          (format "{\"fake\":\"exec\",\"argv\":%s}"
                  (json-encode (vector "sh" "-c" command)))
          (format (concat "{\"type\":\"tool_call\",\"subtype\":\"completed\","
                          "\"call_id\":%s,\"timestamp_ms\":{{now_ms}},"
                          "\"tool_call\":{\"shellToolCall\":{%s,\"result\":"
                          "{\"success\":{\"command\":\"x\",\"exitCode\":0,"
                          "\"stdout\":\"\"}}}}}")
                  (json-encode command) args))))

(defun cursord-test-waits (name)
  "A line by which the agent waits for a file NAME beside the workspace."
  (format "{\"fake\":\"wait\",\"path\":\"{{cwd}}/../%s\"}" name))

;;;; A slow daemon

(defun cursord-test-hold (&rest methods)
  "Have the answers to METHODS, and all messages behind them, wait."
  (write-region (string-join methods "\n") nil
                (expand-file-name "hold" cursord-test-dir) nil 'silent))

(defun cursord-test-release ()
  "Let the held messages go."
  (delete-file (expand-file-name "hold" cursord-test-dir)))

(defmacro cursord-test-when-it-waits (act &rest body)
  "Run BODY, a command, and ACT, once, when the command says that it waits.
Fail if it does not wait."
  (declare (indent 1) (debug t))
  `(let* ((cursord--await-quietly 0) (waited nil)
          (say (symbol-function 'cursord-say)))
     (prog1
         (cl-letf (((symbol-function 'cursord-say)
                    (lambda (&rest words)
                      (apply say words)
                      (when (and (not waited)
                                 (string-prefix-p "waiting for the daemon"
                                                  (apply #'format words)))
                        (setq waited t)
                        ,act))))
           ,@body)
       (should waited))))

;;;; The world

(defun cursord-test-begin ()
  "Make the folder of the world."
  (let ((default-directory cursord-test-dir))
    (make-directory "ws")
    (write-region (format "#!/bin/sh\nexec %s \"$@\"\n"
                          ;; This one starts in half the time.
                          (if (executable-find "fakeagent") "fakeagent"
                            "cursord fake-agent"))
                  nil "agent" nil 'silent)
    (set-file-modes "agent" #o755)
    (cursord-test-plays)))

(defun cursord-test-forget ()
  "Have Emacs be as if it had just started; the daemon goes on."
  (dolist (buffer (buffer-list))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (when (or cursord-buffer-workspace
                  (and buffer-file-name
                       (string-prefix-p cursord-test-dir buffer-file-name)))
          (set-buffer-modified-p nil)
          (kill-buffer)))))
  (setq cursord-workspaces nil)
  (cursord-disconnect)
  (cursord-test-until "the connections to end" (null cursord--connections)))

(defun cursord-test-end ()
  "End what runs in the world, and remove it."
  (cursord-test-forget)
  (call-process "cursord" nil nil nil "stop" "--force")
  (delete-directory cursord-test-dir t))

(defmacro cursord-test-with-world (&rest body)
  "Run BODY in a world of its own, in a buffer in the workspace."
  (declare (indent 0) (debug t))
  `(let* ((cursord-test-dir (file-name-as-directory
                             (file-truename (make-temp-file "c" t))))
          (process-environment
           (append (mapcar (lambda (entry)
                             (concat (car entry) "="
                                     (expand-file-name (cdr entry)
                                                       cursord-test-dir)))
                           '(("HOME" . "") ("CURSORD_AGENT" . "agent")
                             ("CURSORD_STATE_DIR" . "state")
                             ("CURSORD_SOCKET" . "d.sock")
                             ("CURSORD_CONFIG" . "config.toml")
                             ("CURSORD_FAKE_SCRIPT" . "script")
                             ("CURSORD_FAKE_LOG" . "runs")
                             ("CURSORD_HOLD" . "hold")))
                   process-environment))
          (cursord-test-answers nil)
          (cursord-test-unheard (with-current-buffer
                                    (get-buffer-create "*cursord-log*")
                                  (point-max)))
          (cursord-prompt-history nil)
          (user-emacs-directory (expand-file-name "emacs/" cursord-test-dir))
          (make-backup-files nil) (create-lockfiles nil)
          (auto-save-default nil))
     (unwind-protect
         (cl-letf (((symbol-function 'yes-or-no-p)
                    (lambda (_) (pop cursord-test-answers)))
                   ((symbol-function 'y-or-n-p)
                    (lambda (_) (pop cursord-test-answers))))
           (cursord-test-begin)
           (save-window-excursion
             (with-temp-buffer
               (setq default-directory (cursord-test-file ""))
               (switch-to-buffer (current-buffer))
               ,@body)))
       (cursord-test-end))))

(defun cursord-test-open ()
  "The workspace, trusted and subscribed to."
  (let ((ws (cursord-workspace-open)))
    (cursord-test-until "the subscription" (cursord-workspace-ready ws))
    (cursord-call ws :workspace/trust '(:trusted t))
    ws))

(defun cursord-test-turn (ws prompt)
  "Ask PROMPT in WS, and return the turn when it has ended."
  (let ((id (plist-get (plist-get (cursord-send ws prompt) :turn) :id)))
    (cursord-test-until "the end of the turn"
      (let ((turn (gethash id (cursord-workspace-turns ws))))
        (and turn (cursord-turn-ended-p turn) turn)))))

(defun cursord-test-agree (ws name text hunks)
  "Buffer and disk of the file NAME of WS come to be TEXT, with HUNKS to review.
The daemon has the same hunks."
  (cursord-test-until (format "%s with %d hunks" name hunks)
    (and (equal text (cursord-test-get name))
         (with-current-buffer (find-buffer-visiting (cursord-test-file name))
           (and (equal text (cursord--whole-text)) (not (buffer-modified-p))))
         (= hunks
            (length (plist-get (gethash name (cursord-workspace-diffs ws))
                               :hunks)))))
  (let ((diffs (plist-get (cursord-call ws :diff/list (list :path name))
                          :diffs)))
    (should (= hunks
               (if (seq-empty-p diffs)
                   0
                 (length (plist-get (seq-first diffs) :hunks)))))))

(defun cursord-test-rows ()
  "The lines, from 1, at which hunks of the current buffer begin."
  (mapcar (lambda (place) (line-number-at-pos (cadr place) t))
          (cursord-hunk-places)))

(defun cursord-test-go (line)
  "Go to LINE of the current buffer."
  (goto-char (point-min))
  (forward-line (1- line)))

(provide 'cursord-test-world)
;;; cursord-test-world.el ends here
