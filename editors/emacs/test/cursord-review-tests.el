;;; cursord-review-tests.el --- Reviewing, in batch  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-review)
(require 'cursord-compare)
(require 'cursord-merge)
(require 'autorevert)

;;;; Conflicts

(defun cursord-test-merge (&rest sides)
  "Choose SIDES of the conflicts in the current buffer, in order; nil leaves one."
  (goto-char (point-min))
  (dolist (side sides)
    (re-search-forward smerge-begin-re)
    (pcase side
      ('before (smerge-keep-upper))
      ('agent (smerge-keep-lower))
      ('both (smerge-keep-all)))))

(ert-deftest cursord-test-conflict-markers-are-nobodys-text ()
  "Conflicts are in a copy; what is chosen there is decided, and undo takes it back."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 40))
           (after (cursord-test-numbered 40 5 "five\n" 15 "15a\n15b\n"
                                         25 "" 35 "thirty-five\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (buffer-enable-undo)
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" after 4)
        (switch-to-buffer (current-buffer))
        (cursord-test-go 5)
        (cursord-smerge-file)
        (should (equal "*f: merge*" (buffer-name)))
        (should (equal (cursord-test-numbered
                        40 5 "<<<<<<< before\nline 5\n=======\nfive\n>>>>>>> agent\n"
                        15 "<<<<<<< before\nline 15\n=======\n15a\n15b\n>>>>>>> agent\n"
                        25 "<<<<<<< before\nline 25\n=======\n>>>>>>> agent\n"
                        35 "<<<<<<< before\nline 35\n=======\nthirty-five\n>>>>>>> agent\n")
                       (buffer-string)))
        (cursord-test-agree ws "f" after 4)
        (should-error (cursord-merge-finish) :type 'user-error)
        (cursord-test-merge 'before 'agent nil 'both)
        (cursord-merge-finish)
        (let ((chosen (cursord-test-numbered 40 15 "15a\n15b\n" 25 ""
                                             35 "line 35\nthirty-five\n")))
          (cursord-test-agree ws "f" chosen 3)
          (should-not (get-buffer "*f: merge*"))
          ;; Undo leads back over the edit and over the reject.
          (with-current-buffer "f"
            (let ((last-command nil) (inhibit-message t))
              (undo)
              (save-buffer)
              (cursord-test-agree ws "f"
                                  (cursord-test-numbered 40 15 "15a\n15b\n" 25 ""
                                                         35 "thirty-five\n")
                                  3)
              (cursord-undo)
              (cursord-test-agree ws "f" after 4)
              (cursord-test-until "the marks"
                (equal '(5 15 26 35) (cursord-test-rows)))
              (cursord-test-go 5)
              (cursord-reject-hunk)
              (cursord-test-agree ws "f"
                                  (cursord-test-numbered 40 15 "15a\n15b\n" 25 ""
                                                         35 "thirty-five\n")
                                  3))))))))

(ert-deftest cursord-test-conflicts-of-what-is-isolated ()
  "The agent's side of a proposal is accepted; what was is left undecided."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n" 15 "fifteen\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (cursord-isolation 'copy))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" before 2)
        (switch-to-buffer (current-buffer))
        (cursord-test-go 5)
        (cursord-smerge-file)
        (cursord-test-merge 'agent)
        (cursord-merge-finish)
        (cursord-test-agree ws "f" (cursord-test-numbered 20 5 "five\n") 1)))))

(ert-deftest cursord-test-half-a-conflict ()
  "A conflict whose markers are half gone is not decided, and nothing is lost."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\ntwo")
                     (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo" "one\n2"))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" "one\n2" 1)
        (switch-to-buffer (current-buffer))
        (cursord-test-go 2)
        (cursord-smerge-file)
        (goto-char (point-min))
        (search-forward "=======\n")
        (replace-match "")
        (should-error (cursord-merge-finish) :type 'user-error)
        (cursord-test-agree ws "f" "one\n2" 1)
        (undo-boundary)
        (let ((last-command nil)) (undo))
        (cursord-test-merge 'both)
        (cursord-merge-finish)
        (cursord-test-until "the edit" (equal "one\ntwo\n2" (cursord-test-get "f")))))))

;;;; The first command

(ert-deftest cursord-test-the-first-command-waits ()
  "Whatever the first command is, it has the pending changes."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n" 15 "fifteen\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (here default-directory)
           (first (lambda (command)
                    (cursord-test-forget)
                    (let ((default-directory here))
                      (find-file (cursord-test-file "f")))
                    (cursord-test-go 5)
                    (call-interactively command))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-turn ws "change f")
      (funcall first #'cursord-review)
      (should (looking-at "@@ -2,7"))
      (funcall first #'cursord-next-hunk)
      (should (looking-at "fifteen"))
      (funcall first #'cursord-accept-hunk)
      (cursord-test-agree (car cursord-workspaces) "f" after 1)
      (setq cursord-test-answers '(t))
      (funcall first #'cursord-reject-all)
      (cursord-test-agree (car cursord-workspaces) "f"
                          (cursord-test-numbered 20 5 "five\n") 0)
      (should (equal "There is nothing to review"
                     (cadr (should-error (funcall first #'cursord-next-hunk))))))))

(ert-deftest cursord-test-hunks-are-there-when-a-file-is-opened ()
  "Before any command; and where there are none no daemon is started."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (other (expand-file-name "other" cursord-test-dir))
           (here default-directory)
           (stop (lambda ()
                   (with-temp-buffer
                     (call-process "cursord" nil t nil "stop")
                     (string-trim (buffer-string))))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-turn ws "change f")
      (cursord-test-forget)
      (should (equal "" (funcall stop)))
      (write-region "x\n" nil other nil 'silent)
      (cursord-mode 1)
      (unwind-protect
          (let ((default-directory here) looked)
            (advice-add 'cursord--looked :after
                        (lambda (process _)
                          (unless (process-live-p process) (setq looked t)))
                        '((name . test)))
            (with-current-buffer (find-file-noselect other)
              (cursord-test-until "the look" looked))
            (should (equal "no daemon is running" (funcall stop)))
            (should-not cursord-workspaces)
            (find-file (cursord-test-file "f"))
            (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
            (should (overlay-get (car cursord--marks) 'before-string)))
        (advice-remove 'cursord--looked 'test)
        (cursord-mode -1)))))

;;;; Everything

(ert-deftest cursord-test-all-is-what-was-counted ()
  "A reject of everything leaves what came after the question was asked."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-put "g" "1\n")
                      (cursord-test-open)))
           asked)
      (cursord-test-plays (cursord-test-edits "f" "one\n" "ONE\n"))
      (cursord-test-turn ws "change f")
      (cursord-test-until "the hunk" (equal '(1 . 1) (cursord-pending ws)))
      ;; One goes and another comes: the counts are the same.
      (cursord-test-plays (cursord-test-edits "g" "1\n" "2\n"))
      (cl-letf (((symbol-function 'y-or-n-p)
                 (lambda (prompt)
                   (setq asked prompt)
                   (cursord-decide-all ws :diff/accept "f")
                   (cursord-test-turn ws "change g")
                   (cursord-test-until "the other hunk"
                     (equal '(("g" . 1))
                            (mapcar (lambda (path) (cons path 1))
                                    (hash-table-keys (cursord-workspace-diffs ws)))))
                   t)))
        (should (string-match-p "other hunks"
                                (cadr (should-error (cursord-reject-all)
                                                    :type 'user-error)))))
      (should (equal "Reject all 1 hunk in 1 file? " asked))
      (should (equal "2\n" (cursord-test-get "g")))
      ;; It comes while the decision is on its way.
      (cursord-test-plays (cursord-test-edits "f" "ONE\n" "One\n"))
      (let ((seen (cursord--all-ids ws)))
        (cursord-test-turn ws "change f again")
        (cursord-test-until "both" (equal '(2 . 2) (cursord-pending ws)))
        (cursord-decide-all ws :diff/reject nil seen))
      (cursord-test-until "what is said"
        (string-match-p "other hunks" (cursord-test-said)))
      (should (equal '("One\n" "2\n")
                     (mapcar #'cursord-test-get '("f" "g")))))))

;;;; Buffers and files

(ert-deftest cursord-test-no-lock-file-stays ()
  "Undo of a reject leads to what the disk has again, and no lock is left."
  (cursord-test-with-world
    (let* ((create-lockfiles t)
           (before "one\ntwo\nthree\n") (after "one\n2\nthree\n")
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (names (lambda ()
                    (directory-files (cursord-test-file "") nil
                                     directory-files-no-dot-files-regexp))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (buffer-enable-undo)
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" after 1)
        (cursord-test-go 2)
        (cursord-reject-hunk)
        (cursord-test-agree ws "f" before 0)
        (should (equal '("f") (funcall names)))
        (let ((last-command nil) (inhibit-message t)) (undo))
        (should (equal '(".#f" "f") (funcall names)))
        (cursord-test-agree ws "f" after 1)
        (should (equal '("f") (funcall names)))))))

(ert-deftest cursord-test-renamed-file ()
  "The buffer of a file goes with its name, when the agent renames it and back."
  (cursord-test-with-world
    (let* ((text (cursord-test-numbered 20))
           (ws (progn (cursord-test-put "a.txt" text) (cursord-test-open))))
      (cursord-test-plays (cursord-test-runs "mkdir sub && mv a.txt sub/b.txt"))
      (find-file (cursord-test-file "a.txt"))
      (cursord-test-turn ws "rename it")
      (cursord-test-until "the name"
        (equal (cursord-test-file "sub/b.txt") buffer-file-name))
      (should (equal "b.txt" (buffer-name)))
      (should (verify-visited-file-modtime))
      (cursord-test-agree ws "sub/b.txt" text 1)
      (cursord-reject-file)
      (cursord-test-until "the old name"
        (equal (cursord-test-file "a.txt") buffer-file-name))
      (cursord-test-agree ws "a.txt" text 0)
      (cursord-test-until "what is said"
        (equal "rejected 1 hunk; nothing left to review" (cursord-test-said)))
      (cursord-undo)
      (cursord-test-until "the new name"
        (equal (cursord-test-file "sub/b.txt") buffer-file-name))
      (goto-char (point-max))
      (insert "mine\n")
      (let ((inhibit-message t)) (save-buffer))
      (cursord-test-until "the text on disk"
        (equal (concat text "mine\n") (cursord-test-get "sub/b.txt")))
      (should-not (cursord-test-get "a.txt")))))

(ert-deftest cursord-test-auto-revert-keeps-point ()
  "A buffer that Auto Revert reads again first keeps point, marks and undo."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (concat "new\n" (cursord-test-numbered 30 2 "2\n" 29 "29\n")))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-go 15)
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-put "f" after)
      (set-visited-file-modtime '(1 0))
      (auto-revert-mode 1)
      (auto-revert-handler)
      (auto-revert-mode -1)
      (should (equal after (buffer-string)))
      (should (looking-at "line 15$"))
      (should-not (buffer-modified-p))
      (let ((last-command nil) (inhibit-message t)) (undo))
      (should (equal before (buffer-string)))
      (ignore ws))))

(ert-deftest cursord-test-narrowed-buffer ()
  "Going to the next hunk leaves a narrowing when there is none in it."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 40))
           (after (cursord-test-numbered 40 5 "five\n" 15 "fifteen\n" 35 "z\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change f")
      (cursord-test-until "the marks" (equal '(5 15 35) (cursord-test-rows)))
      (cursord-test-go 10)
      (narrow-to-region (progn (cursord-test-go 1) (point))
                        (progn (cursord-test-go 21) (point)))
      (goto-char (point-min))
      (dolist (there '("five" "fifteen" "z" "five"))
        (cursord-next-hunk)
        (should (looking-at there)))
      (narrow-to-region (progn (cursord-test-go 10) (point))
                        (progn (cursord-test-go 21) (point)))
      (dolist (there '("fifteen" "five" "z"))
        (cursord-previous-hunk)
        (should (looking-at there))))))

(ert-deftest cursord-test-version-control ()
  "What version control says of a file goes with what the agent does."
  (skip-unless (executable-find "git"))
  (cursord-test-with-world
    (cursord-test-put "f" "one\ntwo\n")
    (dolist (args '(("init" "-q") ("add" ".")
                    ("-c" "user.name=n" "-c" "user.email=e" "commit" "-qm" "all")))
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

(ert-deftest cursord-test-text-of-a-file-whose-mode-changed ()
  "One goes to its hunks of text, and they are marked, like any other's."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "f" before (cursord-test-numbered 20 5 "five\n"))
       (cursord-test-runs "chmod +x f"))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change f")
      (should (equal "mode" (plist-get (gethash "f" (cursord-workspace-diffs ws))
                                       :kind)))
      (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
      (cursord-next-hunk)
      (should (looking-at "five"))
      (cursord-review)
      (goto-char (point-min))
      (should (search-forward "old mode 100644\nnew mode 100755\n" nil t))
      (should (search-forward "+five" nil t)))))

;;;; What is seen

(ert-deftest cursord-test-ediff-shows-lines-once ()
  "While Ediff shows a file, the marks in its buffer do not."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-test-open)))
           (seen (lambda ()
                   (seq-some (lambda (overlay) (overlay-get overlay 'before-string))
                             cursord--marks)))
           started)
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\nthree\n"))
      (cursord-mode 1)
      (unwind-protect
          (progn
            (find-file (cursord-test-file "f"))
            (cursord-test-turn ws "change f")
            (cursord-test-until "the mark" (funcall seen))
            (cursord-test-go 2)
            (cl-letf (((symbol-function 'ediff-buffers)
                       (lambda (_a _b startup) (setq started startup))))
              (cursord-ediff-file))
            (should-not (funcall seen))
            (with-temp-buffer
              (mapc #'funcall started)
              (run-hooks 'ediff-after-quit-hook-internal))
            (should (funcall seen)))
        (cursord-mode -1)))))

(ert-deftest cursord-test-signs-where-colors-are-few ()
  "Added lines have a sign on a display without colours, and only there."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-open)))
          (colors 8)
          (prefix (lambda () (overlay-get (car cursord--marks) 'line-prefix))))
      (cursord-test-plays (cursord-test-edits "f" "one\n" "one\ntwo\n"))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change f")
      (cursord-test-until "the mark" (equal '(2) (cursord-test-rows)))
      (cl-letf (((symbol-function 'display-color-cells) (lambda (&rest _) colors)))
        (unwind-protect
            (progn
              (cursord-mode 1)
              (should (equal "+" (funcall prefix)))
              (cursord-mode -1)
              (should-not (funcall prefix))
              (setq colors 256)
              (cursord-mode 1)
              (should-not (funcall prefix)))
          (cursord-mode -1))))))

(ert-deftest cursord-test-file-headings ()
  "What is seen above a file's hunks is for people, and git's line is there."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "lib/util.py" "1\n2\n3\n")
                     (cursord-test-put "old" (cursord-test-numbered 9))
                     (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "lib/util.py" "1\n2\n3\n" "one\n2\n3\n4\n")
       (cursord-test-runs "mv old new"))
      (cursord-test-turn ws "change them")
      (cursord-review)
      (let ((noninteractive nil)) (font-lock-mode 1))
      (font-lock-ensure)
      (let (headings)
        (goto-char (point-min))
        (while (re-search-forward "^diff --git a/" nil t)
          (push (substring-no-properties (get-char-property (point) 'display))
                headings))
        (should (equal '("modified lib/util.py +2 −1" "renamed old → new")
                       (nreverse headings)))))))

(ert-deftest cursord-test-review-of-dos-lines ()
  "Carriage returns that all lines have are not seen; others are."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "dos" "one\r\ntwo\r\n")
                     (cursord-test-put "end" "one\r\ntwo")
                     (cursord-test-put "mixed" "one\r\ntwo\r\n")
                     (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "dos" "one\r\ntwo\r\n" "one\r\n2\r\n")
       (cursord-test-edits "end" "one\r\ntwo" "one\r\n2")
       (cursord-test-edits "mixed" "one\r\ntwo\r\n" "one\r\n2\n"))
      (cursord-test-turn ws "change them")
      (cursord-test-until "all" (equal '(3 . 3) (cursord-pending ws)))
      (cursord-review)
      (should-not (buffer-modified-p))
      (let ((noninteractive nil)) (font-lock-mode 1))
      (font-lock-ensure)
      (let (lines)
        (goto-char (point-min))
        (while (search-forward "\r" nil t)
          (push (list (get-text-property (point) 'cursord-path)
                      (get-char-property (1- (point)) 'display))
                lines))
        (should (equal '(("dos" "") ("dos" "") ("dos" "") ("end" "")
                         ("mixed" nil) ("mixed" nil))
                       (nreverse lines)))))))

(ert-deftest cursord-test-wrapping-is-said ()
  "Going on behind the last hunk says so."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before
                                              (cursord-test-numbered 20 5 "5\n" 15 "15\n")))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change f")
      (cursord-test-until "the marks" (equal '(5 15) (cursord-test-rows)))
      (goto-char (point-min))
      (let (said)
        (cl-letf (((symbol-function 'message)
                   (lambda (format &rest args)
                     (push (apply #'format format args) said))))
          (cursord-next-hunk)
          (cursord-next-hunk)
          (should-not said)
          (cursord-next-hunk)
          (should (equal '("cursord: from the last hunk to the first") said))
          (cursord-previous-hunk)
          (should (equal "cursord: from the first hunk to the last" (car said))))))))

(provide 'cursord-review-tests)
;;; cursord-review-tests.el ends here
