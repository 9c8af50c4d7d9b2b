;;; cursord-sessions-tests.el --- Lists of sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory
                (or (bound-and-true-p byte-compile-current-file)
                    load-file-name buffer-file-name))))

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
  "A session is found again by a bookmark and a desktop, also after a restart."
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
