;;; cursord-merge-tests.el --- Conflicts, comparing  -*- lexical-binding: t; -*-

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
(require 'cursord-review)
(require 'cursord-compare)
(require 'cursord-merge)

(defun cursord-test-merge (&rest sides)
  "Choose SIDES of the current buffer's conflicts, in order; nil leaves one."
  (goto-char (point-min))
  (dolist (side sides)
    (re-search-forward smerge-begin-re)
    (pcase side
      ('before (smerge-keep-upper))
      ('agent (smerge-keep-lower))
      ('both (smerge-keep-all)))))

(ert-deftest cursord-test-conflict-markers-are-nobodys-text ()
  "Conflicts are in a copy, and what is chosen there is decided.
Undo takes it back."
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
                        40
                        5 (concat "<<<<<<< before\nline 5\n=======\n"
                                  "five\n>>>>>>> agent\n")
                        15 (concat "<<<<<<< before\nline 15\n=======\n"
                                   "15a\n15b\n>>>>>>> agent\n")
                        25 "<<<<<<< before\nline 25\n=======\n>>>>>>> agent\n"
                        35 (concat "<<<<<<< before\nline 35\n=======\n"
                                   "thirty-five\n>>>>>>> agent\n"))
                       (buffer-string)))
        (cursord-test-agree ws "f" after 4)
        (should-error (cursord-merge-finish) :type 'user-error)
        (cursord-test-merge 'before 'agent nil 'both)
        (cursord-merge-finish)
        (let ((chosen (cursord-test-numbered 40 15 "15a\n15b\n" 25 ""
                                             35 "line 35\nthirty-five\n")))
          (cursord-test-agree ws "f" chosen 2)
          (should-not (get-buffer "*f: merge*"))
          ;; Undo leads back over the edit, the accept and the reject.
          (with-current-buffer "f"
            (let ((last-command nil) (inhibit-message t))
              (undo)
              (save-buffer)
              (cursord-test-agree ws "f"
                                  (cursord-test-numbered 40 15 "15a\n15b\n"
                                                         25 ""
                                                         35 "thirty-five\n")
                                  2)
              (cursord-undo)
              (cursord-undo)
              (cursord-test-agree ws "f" after 4)
              (cursord-test-until "the marks"
                (equal '(5 15 26 35) (cursord-test-rows)))
              (cursord-test-go 5)
              (cursord-reject-hunk)
              (cursord-test-agree ws "f"
                                  (cursord-test-numbered 40 15 "15a\n15b\n"
                                                         25 ""
                                                         35 "thirty-five\n")
                                  3))))))))

(ert-deftest cursord-test-conflicts-of-what-is-isolated ()
  "The agent's side of a proposal is accepted, the other one rejected."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n" 10 "ten\n"
                                         15 "fifteen\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (cursord-session-options '(:isolation "copy")))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" before 3)
        (switch-to-buffer (current-buffer))
        (cursord-test-go 5)
        (cursord-smerge-file)
        (cursord-test-merge 'agent 'before nil)
        (cursord-merge-finish)
        (cursord-test-agree ws "f" (cursord-test-numbered 20 5 "five\n") 1)))))

(ert-deftest cursord-test-conflict-with-unsaved-lines ()
  "Unsaved lines are called the person's; a save in the copy finishes it."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 3 "agent\n" 8 "8\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-go 3)
      (delete-line)
      (insert "mine\n")
      (cursord-test-turn ws "change f")
      (cursord-test-until "the conflict"
        (and (equal '(3 8) (cursord-test-rows))
             (cursord--diff-fits-p (cursord-document))))
      (cursord-smerge-file)
      (should (equal (cursord-test-numbered
                      9 3 "<<<<<<< yours\nmine\n=======\nagent\n>>>>>>> agent\n"
                      8 "<<<<<<< before\nline 8\n=======\n8\n>>>>>>> agent\n")
                     (buffer-string)))
      (should (string-match-p
               "\\` C-c C-c decide · .* · C-c \\^ u yours/before · "
               header-line-format))
      (search-forward "<<<<<<< yours\n")
      (replace-match "")
      (should-error (cursord-merge-finish) :type 'user-error)
      (goto-char (point-min))
      (forward-line 2)
      (insert "<<<<<<< yours\n")
      (cursord-test-merge 'before 'agent)
      (call-interactively (key-binding (kbd "C-x C-s")))
      (cursord-test-until "the decisions"
        (and (equal '(0 . 0) (cursord-pending ws))
             (not (get-buffer "*f: merge*"))))
      (should (equal (cursord-test-numbered 9 3 "mine\n" 8 "8\n")
                     (with-current-buffer "f" (buffer-string)))))))

;; The text was changed before Emacs knew of the workspace, and the agent
;; changes nothing but that line.
(ert-deftest cursord-test-conflict-of-the-first-command ()
  "A line that was typed before the first command is a conflict, no deletion."
  (cursord-test-with-world
    (let ((before (cursord-test-numbered 9)) ws)
      (cursord-test-put "f" before)
      (find-file (cursord-test-file "f"))
      (cursord-test-go 3)
      (delete-line)
      (insert "mine\n")
      (setq ws (cursord-test-open))
      (cursord-test-plays (cursord-test-edits
                           "f" before (cursord-test-numbered 9 3 "agent\n")))
      (cursord-test-turn ws "change f")
      (with-current-buffer "f"
        (cursord-test-until "the conflict"
          (and (cursord--diff-fits-p (cursord-document))
               (seq-some #'cursord-conflict-p
                         (plist-get (cursord-diff-of (cursord-document))
                                    :hunks))))
        (should (equal (cursord-test-numbered 9 3 "mine\n")
                       (buffer-string)))))))

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
        (cursord-test-until "the edit"
          (equal "one\ntwo\n2" (cursord-test-get "f")))))))

(ert-deftest cursord-test-ediff-shows-lines-once ()
  "While Ediff shows a file, the marks in its buffer do not."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-test-open)))
           (seen (lambda ()
                   (seq-some (lambda (overlay)
                               (overlay-get overlay 'before-string))
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

(ert-deftest cursord-test-buffers-follow-without-hunks ()
  "Also a file that never had hunks, and one whose hunks a shell accepted."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n"))
           (ws (progn (cursord-test-put "f" before)
                      (cursord-test-put "other" "one\n")
                      (cursord-test-put "typed" "one\n")
                      (cursord-test-open)))
           (typed (find-file-noselect (cursord-test-file "typed")))
           (other (find-file-noselect (cursord-test-file "other"))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change")
      (cursord-test-until "the change" (equal after (buffer-string)))
      (should (eql 0 (let ((default-directory (cursord-test-file "")))
                       (call-process "cursord" nil nil nil "accept" "--all"))))
      (cursord-test-until "no hunks" (null (cursord-hunk-places)))
      (with-current-buffer typed (insert "mine\n"))
      (cursord-test-put "typed" "two\n")
      (cursord-test-put "f" before)
      (cursord-test-put "other" "one\ntwo\n")
      (cursord-test-until "the former text" (equal before (buffer-string)))
      (should-not (buffer-modified-p))
      (with-current-buffer other
        (cursord-test-until "the second line"
          (equal "one\ntwo\n" (buffer-string)))
        (should-not (buffer-modified-p))
        (delete-file buffer-file-name)
        (cursord--reread)
        (should (equal "one\ntwo\n" (buffer-string))))
      (should (equal "mine\none\n"
                     (with-current-buffer typed (buffer-string)))))))

(provide 'cursord-merge-tests)
;;; cursord-merge-tests.el ends here
