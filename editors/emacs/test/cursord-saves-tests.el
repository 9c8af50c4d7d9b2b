;;; cursord-saves-tests.el --- Saves beside agents  -*- lexical-binding: t; -*-

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
(require 'cursord-hunks)
(require 'cursord-first)
(require 'cursord-decide)
(require 'cursord-review)

(ert-deftest cursord-test-saves-during-a-command ()
  "Lines that a person types and saves during a command are no hunks.
A reject of all leaves them."
  (cursord-test-with-world
    (cursord-test-put "g" "g\n")
    (cursord-test-put "f" "a\n")
    (cursord-test-put "reviewed" "a\n")
    (let ((coding-system-for-write 'latin-1))
      (write-region "é\n" nil (cursord-test-file "latin1") nil 'silent))
    (let* ((ws (cursord-test-open))
           (script (cursord-test-runs "true"))
           (calls nil)
           (count (lambda (event _ws object _before)
                    (when (and (eq event 'item)
                               (equal "running" (plist-get object :status))
                               (equal "tool" (plist-get object :kind)))
                      (push object calls)))))
      (cursord-test-plays (cursord-test-edits "reviewed" "a\n" "b\na\n"))
      (find-file (cursord-test-file "reviewed"))
      (cursord-test-turn ws "edit")
      (cursord-decide-all ws :diff/accept)
      (cursord-test-agree ws "reviewed" "b\na\n" 0)
      (add-hook 'cursord-event-functions count)
      (unwind-protect
          (dolist (name '("f" "reviewed" "new" "latin1"))
            (ert-info (name)
              (find-file (cursord-test-file name))
              (setq calls nil)
              (cursord-test-plays
               (car script)
               (format (concat "{\"fake\":\"exec\",\"argv\":[\"sh\",\"-c\","
                               "\"echo x >> g; touch ../ready-%s\"]}")
                       name)
               (cursord-test-waits (concat "go-" name))
               (cdr script))
              (let ((mine (concat (buffer-string) "mine\n"))
                    (turn (plist-get
                           (plist-get (cursord-send ws "run it") :turn)
                           :id)))
                (cursord-test-until "the command"
                  (and calls
                       (file-exists-p (expand-file-name (concat "ready-" name)
                                                        cursord-test-dir))))
                (goto-char (point-max))
                (insert "mine\n")
                (let ((inhibit-message t)) (save-buffer))
                (cursord-call ws :diff/list nil) ; the daemon has heard of it
                (write-region "" nil (expand-file-name (concat "go-" name)
                                                       cursord-test-dir)
                              nil 'silent)
                (cursord-test-until "the end of the turn"
                  (when-let* ((now (gethash turn (cursord-workspace-turns ws))))
                    (cursord-turn-ended-p now)))
                (cursord-test-until "the hunk"
                  (equal '(1 . 1) (cursord-pending ws)))
                (should (gethash "g" (cursord-workspace-diffs ws)))
                (cursord-decide-all ws :diff/reject)
                (cursord-test-until "the reject"
                  (and (equal "g\n" (cursord-test-get "g"))
                       (equal '(0 . 0) (cursord-pending ws))))
                (should (equal mine (buffer-string)))
                (revert-buffer t t)
                (should (equal mine (buffer-string))))))
        (remove-hook 'cursord-event-functions count)))))

(ert-deftest cursord-test-saves-over-a-deletion ()
  "Emacs says that a file was deleted below unsaved text, and what a save did."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "old\nfile\n") (cursord-test-open))))
      (cursord-test-plays (cursord-test-runs "rm f"))
      (find-file (cursord-test-file "f"))
      (insert "mine ")
      (cursord-test-turn ws "delete it")
      (cursord-test-until "the deletion"
        (cursord-test-said-p
         "f has unsaved changes, and was deleted meanwhile"))
      (save-window-excursion
        (cursord-review)
        (goto-char (point-min))
        (should (looking-at
                 (concat "f has unsaved changes here, and was deleted"
                         " meanwhile: save the buffer to keep\n"
                         "what it has, or kill it\\.$"))))
      (let ((inhibit-message t)) (save-buffer))
      (cursord-test-hears "wrote f again, which was deleted meanwhile")
      (cursord-test-agree ws "f" "mine old\nfile\n" 0))))

(ert-deftest cursord-test-decide-a-deletion-in-its-buffer ()
  "The deletion of an open file is the hunk of its buffer, unsaved or not."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) (cursord-mode t) (home (current-buffer))
          asked)
      (pcase-dolist (`(,name ,typed ,command)
                     '(("a" "mine " cursord-reject-hunk)
                       ("b" "mine " cursord-accept-hunk)
                       ("c" nil cursord-reject-hunk)
                       ("d" nil cursord-accept-hunk)))
        (ert-info (name)
          (cursord-test-put name "old\nfile\n")
          (cursord-test-plays (cursord-test-runs (concat "rm " name)))
          (find-file (cursord-test-file name))
          (when typed
            (insert typed))
          (cursord-test-turn ws "delete it")
          (cursord-test-until "the mark" (equal '(1) (cursord-test-rows)))
          (should (string-match-p
                   "the agent has deleted this file: C-c = r brings it back"
                   (overlay-get (car cursord--marks) 'before-string)))
          (goto-char (point-max))
          (switch-to-buffer home)
          (cursord-next-hunk)
          (should (equal (buffer-name) name))
          (should (bobp))
          (funcall command)
          (cursord-test-until "the decision"
            (equal '(0 . 0) (cursord-pending ws)))
          (cursord-test-until "no mark" (null (cursord-test-rows)))
          (should (equal (concat typed "old\nfile\n") (buffer-string)))
          (should (eq (and typed t) (buffer-modified-p)))
          (if (eq command 'cursord-accept-hunk)
              (should-not (cursord-test-get name))
            (should (equal "old\nfile\n" (cursord-test-get name)))
            ;; The disk is what the text was based on: a save asks nothing.
            (cursord-test-until "no conflict"
              (null (cursord-document-conflict (cursord-document))))
            (should (verify-visited-file-modtime))
            (cl-letf (((symbol-function 'ask-user-about-supersession-threat)
                       (lambda (&rest _) (setq asked t))))
              (insert "x")
              (let ((inhibit-message t)) (save-buffer)))
            (should-not asked)
            (should (string-prefix-p (concat "x" typed)
                                     (cursord-test-get name)))
            (cursord-test-until "nothing to review"
              (equal '(0 . 0) (cursord-pending ws)))))))))

(defun cursord-test-written-just-now (name text)
  "Have the agent, which waits for \"go\", give the file NAME TEXT.
Emacs has heard nothing of that from the daemon yet."
  (write-region "" nil (expand-file-name "go" cursord-test-dir) nil 'silent)
  (let ((limit (time-add nil cursord-test-patience)))
    ;; This takes no messages.
    (while (not (equal text (cursord-test-get name)))
      (unless (time-less-p nil limit)
        (ert-fail "the agent wrote nothing")))))

(ert-deftest cursord-test-no-question-while-the-agent-writes ()
  "Emacs asks nothing before an edit or a save just after the agent's write."
  (dolist (act '(type save))
    (ert-info ((symbol-name act))
      (cursord-test-with-world
        (let* ((before (cursord-test-numbered 9))
               (after (cursord-test-numbered 9 9 "nine\n"))
               (edit (cursord-test-edits "f" before after))
               (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
          (cursord-test-plays (car edit) (cursord-test-waits "go") (cdr edit))
          (find-file (cursord-test-file "f"))
          (cursord-send ws "edit it")
          (cursord-test-until "the turn" (cursord-busy-turns ws))
          (when (eq act 'save)
            (insert "x"))
          (cursord-test-written-just-now "f" after)
          (if (eq act 'type)
              (insert "x")
            (let ((inhibit-message t)) (save-buffer))
            (should (string-prefix-p "x" (cursord-test-get "f"))))
          (cursord-test-until "both changes"
            (equal (concat "x" after) (buffer-string)))
          (cursord-test-until "the end" (null (cursord-busy-turns ws)))
          (let ((inhibit-message t)) (save-buffer))
          (should (equal (concat "x" after) (cursord-test-get "f")))
          (cursord-test-until "the hunk"
            (equal '(9) (cursord-test-rows))))))))

(ert-deftest cursord-test-version-control-of-unsaved-text ()
  "What version control says follows the disk below unsaved text, too."
  (skip-unless (executable-find "git"))
  (cursord-test-with-world
    (dolist (name '("overlaps" "merges"))
      (cursord-test-put name (cursord-test-numbered 9)))
    (dolist (args '(("init" "-q") ("add" ".")
                    ("-c" "user.name=n" "-c" "user.email=e"
                     "commit" "-qm" "all")))
      (apply #'call-process "git" nil nil nil args))
    (let ((ws (cursord-test-open)))
      (pcase-dolist (`(,name ,rest . ,rows) '(("overlaps" "line 8\n" 2)
                                              ("merges" "8\n" 2 8)))
        (ert-info (name)
          (cursord-test-plays (cursord-test-edits
                               name (cursord-test-numbered 9)
                               (cursord-test-numbered 9 2 "two\n" 8 rest)))
          (find-file (cursord-test-file name))
          (vc-refresh-state)
          (should (eq 'up-to-date (vc-state buffer-file-name)))
          (cursord-test-go 2)
          (insert "my ")
          (cursord-test-turn ws "change it")
          (cursord-test-until "the conflict" (equal rows (cursord-test-rows)))
          (cursord-test-until "the state"
            (eq 'edited (vc-state buffer-file-name)))
          (should (string-match-p ":" (substring-no-properties vc-mode)))
          (should (equal (cursord-test-numbered 9 2 "my line 2\n" 8 rest)
                         (buffer-string)))
          (should (buffer-modified-p)))))))

(ert-deftest cursord-test-version-control-of-a-renamed-file ()
  "What version control says is there after a rename, and after its reject."
  (skip-unless (executable-find "git"))
  (cursord-test-with-world
    (cursord-test-put "a" "one\ntwo\n")
    (dolist (args '(("init" "-q") ("add" ".")
                    ("-c" "user.name=n" "-c" "user.email=e"
                     "commit" "-qm" "all")))
      (apply #'call-process "git" nil nil nil args))
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-runs "mv a b"))
      (find-file (cursord-test-file "a"))
      (vc-refresh-state)
      (should vc-mode)
      (cursord-test-turn ws "rename it")
      (cursord-test-until "the name"
        (equal (cursord-test-file "b") buffer-file-name))
      (sleep-for 0.5)                   ; git does not know the new name
      (should-not vc-mode)
      (cursord-reject-file)
      (cursord-test-until "the old name"
        (equal (cursord-test-file "a") buffer-file-name))
      (cursord-test-until "the state" vc-mode)
      (should (eq 'up-to-date (vc-state buffer-file-name))))))

(ert-deftest cursord-test-version-control-of-a-deleted-file ()
  "Nothing fails if the file of unsaved text, which git knows, is deleted."
  (skip-unless (executable-find "git"))
  (cursord-test-with-world
    (cursord-test-put "a" "one\ntwo\n")
    (dolist (args '(("init" "-q") ("add" ".")
                    ("-c" "user.name=n" "-c" "user.email=e"
                     "commit" "-qm" "all")))
      (apply #'call-process "git" nil nil nil args))
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-runs "rm a"))
      (find-file (cursord-test-file "a"))
      (vc-refresh-state)
      (should vc-mode)
      (insert "my ")
      (cursord-test-turn ws "delete it")
      (cursord-test-hears (concat "a has unsaved changes, and was deleted"
                                  " meanwhile; nothing is lost: M-x"
                                  " cursord-reject-hunk brings the file back"))
      (cursord-test-until "the look at version control"
        (null cursord--to-refresh))
      (should-not (cursord-test-said-p ".*error")))))

;; The save waited for its full time, and later saves did not wait at all.
(ert-deftest cursord-test-look-that-ends-at-once ()
  "A save takes the answer of a program that has ended before it is looked at."
  (cursord-test-with-world
    (cursord-test-put "f" "a\n")
    (find-file (cursord-test-file "f"))
    (let ((look (symbol-function 'cursord--look))
          (cursord--save-most cursord-test-patience)
          (cursord--save-looked 0)
          (cursord--save-late nil)
          process)
      (cl-letf (((symbol-function 'cursord--look)
                 (lambda ()
                   (setq process (funcall look))
                   ;; This reads nothing.
                   (while (process-live-p process))
                   process)))
        (cursord-look-before-save)
        (should (process-get process 'cursord-looked))
        (should-not cursord--save-late)))))

;; Text without its hunk would be written unreviewed.
(ert-deftest cursord-test-undo-and-save-at-once ()
  "Two rejects that undo takes back are pending again, also if saved at once."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 25 "25\n"))
           (ws (cursord-test-open)))
      (dolist (mine '("" "mine\n"))
        (let ((name (if (string-empty-p mine) "clean" "mine")))
          (cursord-test-put name before)
          (cursord-test-plays (cursord-test-edits name before after))
          (find-file (cursord-test-file name))
          (buffer-enable-undo)
          (cursord-test-turn ws "change it")
          (cursord-test-until "the marks" (= 2 (length (cursord-test-rows))))
          (goto-char (point-min))
          (insert mine)
          ;; A decision that is undone already is not undone by `undo' again.
          (cursord-decide-all ws :diff/reject)
          (cursord-test-until "the decision" (null (cursord-test-rows)))
          (cursord-undo)
          (dotimes (i 2)
            (undo-boundary)
            (cursord-test-until "the marks"
              (= (- 2 i) (length (cursord-test-rows))))
            (cursord-test-until "the diff"
              (cursord--diff-fits-p (cursord-document)))
            (cursord-test-go (car (cursord-test-rows)))
            (cursord-reject-hunk)
            (cursord-test-until "the decision"
              (= (- 1 i) (length (cursord-test-rows)))))
          (let ((inhibit-message t))
            (save-buffer)
            (cursord-test-agree ws name (concat mine before) 0)
            (undo-boundary)
            (setq last-command nil)
            (undo 2)
            (should (equal (concat mine after) (buffer-string)))
            (save-buffer))
          (cursord-test-agree ws name (concat mine after) 2)
          ;; And back again, which is a person's edit.
          (undo-boundary)
          (let ((inhibit-message t) (last-command 'ignore))
            (undo)
            (let ((last-command 'undo))
              (while (not (equal (concat mine before) (buffer-string)))
                (undo-more 1)))
            (save-buffer))
          (cursord-test-agree ws name (concat mine before) 0)
          (should-not (string-match-p "the text is back"
                                      (cursord-test-buffers))))))))

(ert-deftest cursord-test-version-control ()
  "What version control says of a file goes with what the agent does."
  (skip-unless (executable-find "git"))
  (cursord-test-with-world
    (cursord-test-put "f" "one\ntwo\n")
    (dolist (args '(("init" "-q") ("add" ".")
                    ("-c" "user.name=n" "-c" "user.email=e"
                     "commit" "-qm" "all")))
      (apply #'call-process "git" nil nil nil args))
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\n" "one\n2\n"))
      (find-file (cursord-test-file "f"))
      (vc-refresh-state)
      (should (eq 'up-to-date (vc-state buffer-file-name)))
      (cursord-test-turn ws "change f")
      (cursord-test-agree ws "f" "one\n2\n" 1)
      (cursord-test-until "the state" (eq 'edited (vc-state buffer-file-name)))
      (should (string-match-p ":" (substring-no-properties vc-mode)))
      (cursord-test-go 2)
      (cursord-reject-hunk)
      (cursord-test-agree ws "f" "one\ntwo\n" 0)
      (cursord-test-until "the state"
        (eq 'up-to-date (vc-state buffer-file-name))))))

(provide 'cursord-saves-tests)
;;; cursord-saves-tests.el ends here
