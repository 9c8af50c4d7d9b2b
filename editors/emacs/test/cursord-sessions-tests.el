;;; cursord-sessions-tests.el --- Lists of sessions, in batch  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-sessions)
(require 'cursord-projects)
(require 'cursord-again)
(require 'cursord-restore)
(require 'cursord-menu)
(require 'desktop)
(require 'bookmark)

(defun cursord-test-list ()
  "The rows of the current list, without columns' blanks."
  (split-string (replace-regexp-in-string
                 " +" " " (string-replace cursord-test-dir "~/"
                                         (buffer-substring-no-properties
                                          (point-min) (point-max))))
                "\n" t))

(defun cursord-test-row (text)
  "Go to the row with TEXT."
  (goto-char (point-min))
  (search-forward text)
  (forward-line 0))

(defmacro cursord-test-with-two-projects (&rest body)
  "Run BODY with two projects, `ws' with a hunk and `other', and their lists."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let* ((there (expand-file-name "other/" cursord-test-dir))
            (ws (progn (cursord-test-put "f" "one\n") (cursord-test-open)))
            other)
       (cursord-test-plays (cursord-test-says "I change f.")
                           (cursord-test-edits "f" "one\n" "two\n"))
       (cursord-test-turn ws "first")
       (cursord-test-plays)
       (make-directory there)
       (let ((default-directory there))
         (setq other (cursord-test-open))
         (cursord-test-turn other "second"))
       (unwind-protect
           (progn ,@body)
         (dolist (name '("*cursord sessions*" "*cursord projects*"
                         "*cursord preview*"))
           (when (get-buffer name) (kill-buffer name)))))))

(ert-deftest cursord-test-sessions-of-all-projects ()
  "They are listed, limited, looked at, gone on with, renamed and deleted."
  (cursord-test-with-two-projects
    (cursord-sessions)
    (should (equal '(" idle now other second" " idle 1 now ws first")
                   (cursord-test-list)))
    ;; The same of projects that this Emacs does not follow.
    (let ((cursord-workspaces nil))
      (dotimes (_ 2)
        (cursord--list-show)
        (should (equal '(" idle now other second" " idle 1 now ws first")
                       (cursord-test-list)))))
    ;; Only the session that has changed something has hunks.
    (cursord-talk-with ws nil)
    (cursord-test-turn ws "no change")
    (cursord-test-until "the new session"
      (equal '(" idle now ws no change" " idle now other second"
               " idle 1 now ws first")
             (cursord-test-list)))
    (cursord-call ws :session/delete
                  (list :sessionId (cursord-workspace-current ws)))
    (cursord-test-until "its end" (length= (cursord-test-list) 2))
    (cursord-test-row "second")
    (cursord-sessions-rename "third")
    (should (equal " idle now other third" (car (cursord-test-list))))
    (cursord-list-limit "WS fir")
    (should (equal '(" idle 1 now ws first") (cursord-test-list)))
    (cursord-list-limit "nowhere")
    (should (equal '(" No row has these words.") (cursord-test-list)))
    (cursord-list-limit "")
    (cursord-test-row "first")
    (save-window-excursion
      (cursord-sessions-preview)
      (should (eq major-mode 'cursord-sessions-mode))
      (with-current-buffer "*cursord preview*"
        (cursord-test-until "what was said"
          (string-search "I change f." (buffer-string)))
        (should-not (eq (current-buffer) (cursord-chat-buffer ws)))))
    (save-window-excursion
      (cursord-sessions-go)
      (should (eq ws cursord-buffer-workspace)))
    (save-window-excursion
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (_prompt table &rest _)
                   (car (all-completions "other" table)))))
        (cursord-sessions-jump))
      (should (eq other cursord-buffer-workspace))
      (should (equal "third" (plist-get (cursord-session other) :title))))
    (save-window-excursion
      (cursord-list-review)
      (should (derived-mode-p 'cursord-review-mode))
      (should (eq ws cursord-buffer-workspace)))
    ;; What is told is seen.
    (cursord-call other :session/update
                  (list :sessionId (cursord-workspace-current other)
                        :title "fourth"))
    (cursord-test-until "the title"
      (string-search "fourth" (car (cursord-test-list))))
    (cursord-test-row "fourth")
    (setq cursord-test-answers '(t))
    (cursord-sessions-delete)
    (should (equal '(" idle 1 now ws first") (cursord-test-list)))))

(ert-deftest cursord-test-projects ()
  "All folders are listed with what they are at, and lead to what is there."
  (cursord-test-with-two-projects
    (cursord-projects)
    (should (equal '(" idle now 1 yes ~/other" " review 1 now 1 yes ~/ws")
                   (cursord-test-list)))
    (cursord-test-row "/ws")
    (save-window-excursion
      (cursord-projects-go)
      (should (eq ws cursord-buffer-workspace)))
    (save-window-excursion
      (cursord-projects-sessions)
      (should (equal '(" idle 1 now ws first") (cursord-test-list))))
    (save-window-excursion
      (cursord-list-review)
      (should (derived-mode-p 'cursord-review-mode)))
    (cursord-projects-trust)
    (should (equal " review 1 now 1 no ~/ws" (cadr (cursord-test-list))))
    (cursord-test-row "/other")
    (setq cursord-test-answers '(t))
    (cursord-projects-delete)
    (should (string-match-p "~/other" (cadr (cursord-test-list))))
    (delete-directory there t)
    (revert-buffer)
    (should (string-match-p "^ gone 0 yes ~/other" (cadr (cursord-test-list))))
    (cursord-test-row "/other")
    (should-error (cursord-projects-go) :type 'user-error)))

(ert-deftest cursord-test-the-chat-was-lost ()
  "The chat says which key asks again with the transcript; that works once."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (begin "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"{{cwd}}\",\"session_id\":\"%s\",\"model\":\"Auto\"}"))
      (cl-flet ((runs (prompt id)
                  (cursord-test-plays (format begin id) (cursord-test-says (concat prompt "!")))
                  (cursord-test-turn ws prompt))
                (sent ()
                  (with-temp-buffer
                    (insert-file-contents (expand-file-name "runs" cursord-test-dir))
                    (goto-char (point-max))
                    (forward-line -1)
                    (buffer-substring (point) (point-max)))))
        (runs "remember seven" "one")
        (runs "which number" "another")
        (cursord-show-chat ws)
        (with-current-buffer (cursord-chat-buffer ws)
          (cursord-test-until "the notice"
            (string-search "ask again with a recap, the transcript as context: y here, or M-x" (string-replace "\n" " " (buffer-string))))
          ;; It was "ask again" there, as after any other turn.
          (should (equal "ask with a recap" (cursord--menu-again)))
          (should-not (string-search "remember seven" (sent)))
          (should (eq #'cursord-retry (key-binding "y")))
          (call-interactively #'cursord-retry))
        (cursord-test-hears "asked again with a recap, the transcript")
        (cursord-test-until "the end"
          (and (cursord-turn-ended-p (cursord--last-turn ws))
               (string-search "remember seven" (sent))))
        (cursord-test-until "nothing lost any more"
          (equal "ask again" (cursord--menu-again)))
        (cursord-retry)
        (cursord-test-until "the end"
          (and (null (cursord-busy-turns ws)) (not (string-search "remember seven" (sent)))))))))

;; The notice was looked for among the last 50 items.
(ert-deftest cursord-test-the-chat-was-lost-long-ago ()
  "A turn in which the agent went on for long is asked again with a recap."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (begin "{\"type\":\"system\",\"subtype\":\"init\",\"cwd\":\"{{cwd}}\",\"session_id\":\"%s\",\"model\":\"Auto\"}"))
      (cursord-test-plays (format begin "one"))
      (cursord-test-turn ws "remember seven")
      (cursord-test-plays (format begin "another")
                          (mapcar (lambda (n)
                                    (pcase-let ((`(,start ,_ ,end)
                                                 (cursord-test-runs (format "%d" n))))
                                      (list start end)))
                                  (number-sequence 1 120)))
      (cursord-test-turn ws "which number")
      (cursord-retry)
      (cursord-test-hears "asked again with a recap, the transcript")
      (cursord-test-until "the end" (null (cursord-busy-turns ws))))))

(ert-deftest cursord-test-the-last-prompt-again ()
  "It is asked again with what went along, or changed first; a draft is kept."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\n") (cursord-test-open)))
           (cursord-before-send-functions
            (list (lambda (prompt _ws) (concat prompt "!"))))
           (turns (lambda ()
                    (mapcar (lambda (turn) (plist-get turn :prompt))
                            (plist-get (cursord-call
                                        ws :turn/list
                                        (list :sessionId
                                              (cursord-workspace-current ws)))
                                       :turns))))
           (runs (lambda ()
                   (with-temp-buffer
                     (ignore-errors
                       (insert-file-contents
                        (expand-file-name "runs" cursord-test-dir)))
                     (how-many "selection path" (point-min))))))
      (should-error (cursord-retry) :type 'user-error)
      (find-file (cursord-test-file "f"))
      (push-mark (point-max) t t)
      (let ((transient-mark-mode t))
        (cursord-send ws "what is @region" (cursord-origin-here)))
      (cursord-test-until "the end of the first run"
        (and (= 1 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      (deactivate-mark)
      (cursord-retry)
      (cursord-test-until "the end of the second run"
        (and (= 2 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      (should (equal '("what is @region!" "what is @region!") (funcall turns)))
      ;; Also after a prompt that was not sent, and one of another session.
      (should-error (cursord-send ws "now @region") :type 'user-error)
      (let ((session (cursord-session ws)))
        (cursord-send ws "another session" nil t)
        (cursord-test-until "the end" (null (cursord-busy-turns ws)))
        (cursord-talk-with ws session))
      (cursord-retry)
      (cursord-test-until "the end of the third run"
        (and (= 3 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      ;; An Emacs that does not know what went along says so.
      (let ((sent (cursord-workspace-sent ws)))
        (setf (cursord-workspace-sent ws) nil)
        (cl-letf (((symbol-function 'cursord--last-turn)
                   (lambda (ws)
                     (list :id "x" :sessionId (cursord-workspace-current ws)
                           :prompt "what is @region" :status "completed"
                           :context '((:kind "selection" :path "f"))))))
          (should (string-match-p "has not sent.*@region"
                                  (cadr (should-error (cursord-retry)
                                                      :type 'user-error)))))
        (setf (cursord-workspace-sent ws) sent))
      (cursord-compose)
      (erase-buffer)
      (insert "a draft")
      (cursord-edit-prompt)
      (cursord-test-hears "the draft is kept: M-n shows it")
      (should (equal "what is @region" (buffer-string)))
      (cursord-next-prompt)
      (should (equal "a draft" (buffer-string)))
      ;; A prompt that was left as it is gives way to the draft.
      (cursord-edit-prompt)
      (cursord-compose-abort)
      (cursord-compose)
      (should (equal "a draft" (buffer-string)))
      (cursord-edit-prompt)
      (insert " now")
      (cursord-compose-abort)
      (cursord-compose)
      (should (equal "what is @region now" (buffer-string)))
      ;; What another client has sent with a prompt goes along again, once.
      (let ((file '(:kind "file" :path "f"))
            (turn `(:id "x" :prompt "why @f" :images ("/a.png")
                        :context [(:kind "file" :path "f")
                                  (:kind "text" :title "too long")
                                  (:kind "text" :text "piped" :title "stdin")])))
        (write-region "one\n" nil (cursord-test-file "f"))
        (should (equal '((:kind "text" :text "piped" :title "stdin")
                         (:kind "image" :path "/a.png"))
                       (cursord--context-again ws turn)))
        (should (equal `("why @f" ,file
                         (:kind "text" :text "piped" :title "stdin")
                         (:kind "image" :path "/a.png"))
                       (cursord--last-prompt ws turn)))
        (cursord-test-hears "without a text that was too long to be kept")
        (should (member file (cursord--context-again
                              ws (append '(:prompt "why") turn)))))
      (erase-buffer))))

(ert-deftest cursord-test-export ()
  "A session is written to a file, for people or to be imported."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (text (lambda (file)
                  (with-temp-buffer (insert-file-contents file)
                                    (buffer-string))))
          (file (cursord-test-file "x.md")))
      (should-error (cursord-export file) :type 'user-error)
      (cursord-test-plays (cursord-test-says "It is wörds."))
      (cursord-test-turn ws "What is: this/that?")
      (should (equal "what-is-this-that.md"
                     (cursord--export-name (cursord-session ws))))
      (cursord-export file)
      (should (string-search "It is wörds." (funcall text file)))
      (setq cursord-test-answers '(nil))
      (should-error (cursord-export file) :type 'user-error)
      (let ((lines (cursord-test-file "x.ndjson")))
        (cursord-export lines)
        (dolist (line (split-string (funcall text lines) "\n" t))
          (should (hash-table-p (json-parse-string line))))
        (should (string-search "What is: this/that?" (funcall text lines)))))))

(ert-deftest cursord-test-bookmarks-and-desktops ()
  "A session is found again by a bookmark and by a desktop, also after a restart."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open))
           (id (progn (cursord-test-turn ws "the one")
                      (cursord-workspace-current ws)))
           bookmark data)
      (with-current-buffer (cursord--chat-buffer-create ws)
        (setq bookmark (bookmark-make-record)
              data (funcall desktop-save-buffer nil)))
      (should (equal "cursord: the one" (car bookmark)))
      (cursord-talk-with ws nil)
      (cursord-test-turn ws "another")
      (cursord-test-forget)
      (cl-flet ((shown (what)
                  (cursord-test-until what
                    (let ((ws (car cursord-workspaces)))
                      (and (equal id (cursord-workspace-current ws))
                           (with-current-buffer (cursord-chat-buffer ws)
                             (string-search "the one" (buffer-string))))))))
        (bookmark-jump bookmark #'set-buffer)
        (shown "the session of the bookmark")
        (cursord-test-forget)
        (should (buffer-live-p
                 (funcall (alist-get 'cursord-chat-mode
                                     desktop-buffer-mode-handlers)
                          nil "x" data)))
        (shown "the session of the desktop"))
      (should-not (cursord-restore-desktop nil "x" '("/nowhere/" "x")))
      (should-error (cursord-bookmark-jump '("x" (root . "/nowhere/")))
                    :type 'user-error))))

(ert-deftest cursord-test-options-in-the-menu ()
  "Options show their values, are of the session, and are kept for new ones."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open))
           (cursord-session-options nil) (cursord--default-models nil)
           (custom-file "custom.el") kept
           (infix (lambda (command)
                    (let ((obj (clone (get command 'transient--suffix))))
                      (transient-init-value obj)
                      obj)))
           (shown (lambda (command)
                    (substring-no-properties
                     (transient-format-value (funcall infix command)))))
           (step (lambda (command)
                   (let ((obj (funcall infix command)))
                     (transient-infix-set obj (transient-infix-read obj))))))
      (cl-letf (((symbol-function 'transient--show) #'ignore))
        (pcase-dolist (`(,command . ,values)
                       '((cursord--menu-mode "(agent)" "ask" "plan" "agent")
                         (cursord--menu-isolation "(none)" "copy" "none")
                         (cursord--menu-sandbox "(default)" "enabled" "disabled"
                                                "(default)" "enabled")
                         (cursord--menu-auto-review "(off)" "on" "(off)" "on")))
          (should (equal (car values) (funcall shown command)))
          (dolist (value (cdr values))
            (funcall step command)
            (should (equal value (funcall shown command)))))
        (should (equal "(auto)" (funcall shown 'cursord--menu-model)))
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (&rest _) "fake-large")))
          (funcall step 'cursord--menu-model))
        (should (equal "The next session" (cursord--menu-session)))
        (cursord-test-turn ws "a title")
        ;; Now they are the session's.
        (should (equal "Session: a title" (cursord--menu-session)))
        (should (equal "fake-large" (funcall shown 'cursord--menu-model)))
        (should (equal "enabled" (funcall shown 'cursord--menu-sandbox)))
        (let ((id (cursord-workspace-current ws)))
          (funcall step 'cursord--menu-isolation)
          (should (equal "The next session" (cursord--menu-session)))
          (funcall step 'cursord--menu-isolation)
          (should (equal id (cursord-workspace-current ws))))
        (funcall step 'cursord--menu-mode)
        (should (equal "ask" (plist-get (cursord-session ws) :mode))))
      (cl-letf (((symbol-function 'customize-save-variable)
                 (lambda (variable value)
                   (setq kept variable cursord-session-options value))))
        (cursord-keep-options))
      (should (eq kept 'cursord-session-options))
      (cursord-talk-with ws nil)
      (should (equal "ask" (funcall shown 'cursord--menu-mode)))
      (cursord-test-turn ws "another")
      (should (equal '("ask" "fake-large" "enabled" t)
                     (mapcar (lambda (key) (plist-get (cursord-session ws) key))
                             '(:mode :model :sandbox :autoReview)))))))

(provide 'cursord-sessions-tests)
;;; cursord-sessions-tests.el ends here
