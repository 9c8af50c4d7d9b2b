;;; cursord-copies-tests.el --- Copies being edited  -*- lexical-binding: t; -*-

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

(defun cursord-test-presses (keys)
  "Press KEYS in the current buffer; return the message of a `user-error'."
  (condition-case err
      (progn (call-interactively (key-binding (kbd keys))) nil)
    (user-error (error-message-string err))))

(defmacro cursord-test-with-proposal (before after &rest body)
  "Run BODY in the buffer of f, for which an agent in a copy proposes AFTER.
The file is BEFORE, and WS the workspace."
  (declare (indent 2) (debug t))
  `(cursord-test-with-world
     (let ((ws (progn (cursord-test-put "f" ,before) (cursord-test-open)))
           (cursord-session-options '(:isolation "copy")))
       (cursord-test-plays (cursord-test-edits "f" ,before ,after))
       (find-file (cursord-test-file "f"))
       (buffer-enable-undo)
       (cursord-test-turn ws "change f")
       (cursord-test-until "the marks" (cursord-test-rows))
       ,@body)))

(ert-deftest cursord-test-saving-a-proposal-accepts-it ()
  "Save accepts what was edited, asks for no file, and else says what to press."
  (let* ((before (cursord-test-numbered 40))
         (after (cursord-test-numbered 40 5 "five\n" 35 "35a\n35b\n"))
         (edited (string-replace "35b" "35 mine" after)))
    (cursord-test-with-proposal before after
      (cursord-test-go 35)
      (cursord-edit-proposal)
      (should (looking-at "35a\n"))
      (cl-letf (((symbol-function 'read-file-name)
                 (lambda (&rest _) (ert-fail "asked for a file"))))
        (should (string-match-p "Nothing is edited here: C-c C-c "
                                (cursord-test-presses "C-x C-s")))
        (cursord-test-agree ws "f" before 2)
        (search-forward "35b")
        (replace-match "35 mine")
        (should-not (cursord-test-presses "C-x C-s"))
        (cursord-test-agree ws "f" edited 0)
        (should-not (get-buffer "*f: proposal*"))))))

(ert-deftest cursord-test-copies-are-not-deleted-unasked ()
  "The question names hunks that are in the copy of the session alone."
  (let* ((before (cursord-test-numbered 40))
         (after (cursord-test-numbered 40 5 "five\n" 35 "35\n"))
         asked)
    (cursord-test-with-proposal before after
      (cl-letf (((symbol-function 'yes-or-no-p)
                 (lambda (question) (push question asked) nil)))
        (cursord-may-delete-p (cursord-session ws))
        (should (equal (list (concat "Delete \"change f\", with 2 hunks"
                                     " to review in its copy alone? "))
                       asked))
        (cursord-decide-all ws :diff/accept)
        (cursord-test-agree ws "f" after 0)
        (cursord-may-delete-p (cursord-session ws))
        (should (equal "Delete \"change f\" and all that was said in it? "
                       (car asked))))
      ;; As the first commands of another Emacs.
      (dolist (command (list #'cursord-fork-session
                             (lambda ()
                               (cl-letf (((symbol-function 'read-string)
                                          (lambda (&rest _) "other")))
                                 (call-interactively
                                  #'cursord-rename-session)))))
        (cursord-test-forget)
        (with-temp-buffer
          (setq default-directory (cursord-test-file ""))
          (funcall command)
          (should (cursord-workspace-current (cursord-workspace-open))))))))

(ert-deftest cursord-test-emacs-ends-with-edited-copies ()
  "Before it ends, Emacs offers to save a copy, and waits until it is taken."
  (let ((before (cursord-test-numbered 40))
        (after (cursord-test-numbered 40 5 "five\n" 35 "35a\n35b\n")))
    (cursord-test-with-proposal before after
      (cursord-edit-proposal)
      (save-some-buffers nil t)         ; asks nothing
      (goto-char (point-min))
      (insert "mine\n")
      (should-not (kill-buffer))        ; after a question
      (let (asked)
        (cl-letf (((symbol-function 'map-y-or-n-p)
                   (lambda (prompter actor list &rest _)
                     (dolist (one (if (functionp list) nil list))
                       (when-let* ((question (funcall prompter one)))
                         (push question asked)
                         (funcall actor one)))
                     1)))
          (save-some-buffers nil t))
        (should (equal '("Save buffer *f: proposal*? ") asked)))
      ;; Emacs may end now.
      (should (equal (concat "mine\n" after) (cursord-test-get "f")))
      (should-not (get-buffer "*f: proposal*"))
      (cursord-test-agree ws "f" (concat "mine\n" after) 0)
      ;; A copy that cannot be taken keeps Emacs from ending.
      (cursord-test-plays
       (cursord-test-edits "f" (concat "mine\n" after) "other\n"))
      (switch-to-buffer "f")
      (cursord-test-turn ws "change f again")
      (cursord-test-until "the mark" (cursord-test-rows))
      (cursord-smerge-file)
      (should (looking-at "<<<<<<< before\n"))
      (smerge-keep-lower)
      (with-current-buffer "f" (goto-char (point-max)) (insert "typed\n"))
      (should-error (save-buffer) :type 'user-error)
      (should (buffer-modified-p))
      (should (get-buffer "*f: merge*")))))

(ert-deftest cursord-test-conflicts-are-no-proposals ()
  "A conflict of unsaved lines with the agent's is nothing that was proposed."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "f" before (cursord-test-numbered 9 3 "agent\n")))
      (find-file (cursord-test-file "f"))
      (cursord-test-go 3)
      (delete-line)
      (insert "mine\n")
      (cursord-test-turn ws "change f")
      (cursord-test-until "the conflict"
        (and (equal '(3) (cursord-test-rows))
             (cursord--diff-fits-p (cursord-document))))
      (cursord-test-go 3)
      (should (string-match-p "Nothing is proposed .* beside yours"
                              (cadr (should-error (cursord-edit-proposal)
                                                  :type 'user-error))))
      (cursord-review)
      (should (string-search (concat "You have changed some lines, too, and not"
                                     " saved them: a reject keeps yours.\n")
                             (buffer-string)))
      (should-not (string-search "Isolated" (buffer-string))))))

;; The daemon names the person's lines: :beside.
(ert-deftest cursord-test-changed-here-and-in-a-copy ()
  "A place that both have changed is a conflict: yours, the agent's, or both."
  (let ((before (cursord-test-numbered 20))
        (after (cursord-test-numbered 20 5 "five\n5b\n" 15 "15\n"))
        (mine (cursord-test-numbered 20 5 "mine\n"))
        (note (concat "you changed this, too: C-c = r keeps yours,"
                      " C-c = a the agent's, C-c = b both\n")))
    (pcase-dolist (`(,keys ,lines ,hunks ,where)
                   '(("C-c = r" "mine\n" 1 file) ("C-c = a" "five\n5b\n" 1 file)
                     ("C-c = b" "mine\nfive\n5b\n" 1 file)
                     ("r" "mine\n" 1 review) ("a" "five\n5b\n" 1 review)
                     ("b" "mine\nfive\n5b\n" 1 review)
                     ("upper" "mine\n" 1 merge) ("lower" "five\n5b\n" 1 merge)
                     ("all" "mine\nfive\n5b\n" 1 merge)))
      (ert-info ((format "%s %s" keys where))
        (cursord-test-with-proposal before after
          (let ((decided (cursord-test-numbered 20 5 lines)))
            (cursord-mode)
            (cursord-test-go 5)
            (delete-line)
            (insert "mine\n")
            (let ((inhibit-message t)) (save-buffer))
            (cursord-test-until "the conflict"
              (and (equal '(5 15) (cursord-test-rows))
                   (cursord-beside-p (caar (cursord-hunk-places)))
                   (cursord--diff-fits-p (cursord-document))))
            (cursord-test-go 5)
            (let ((overlay (seq-find (lambda (overlay)
                                       (overlay-get overlay 'cursord-group))
                                     (overlays-at (point)))))
              (should (equal "mine\n" (buffer-substring (overlay-start overlay)
                                                        (overlay-end overlay))))
              (should (string-search note
                                     (substring-no-properties
                                      (overlay-get overlay 'before-string)))))
            (pcase where
              ('file (should-not (cursord-test-presses keys)))
              ('review
               (cursord-review)
               (should (string-search
                        " @@ you changed this, too: b keeps both\n"
                        (buffer-string)))
               (goto-char (point-min))
               (search-forward "you changed this")
               (should-not (cursord-test-presses keys))
               (switch-to-buffer "f"))
              ('merge
               (cursord-smerge-file)
               (should (looking-at (concat "<<<<<<< yours\nmine\n=======\n"
                                           "five\n5b\n>>>>>>> agent\n")))
               (funcall (intern (concat "smerge-keep-" keys)))
               (should-not (cursord-test-presses "C-c C-c"))
               (switch-to-buffer "f")))
            (cursord-test-agree ws "f" decided hunks)
            (cursord-test-until "the other hunk"
              (equal (list (+ 14 (length (split-string lines "\n" t))))
                     (cursord-test-rows)))
            ;; Undo goes back to the conflict, with all that the person wrote.
            (when (member keys '("a" "C-c = a" "lower"))
              (let ((last-command nil) (inhibit-message t)) (undo))
              (should (equal mine (buffer-string))))
            (unless (member keys '("a" "C-c = a" "lower"))
              (cursord-undo))
            (cursord-test-until "the hunk again"
              (and (equal '(2 . 1) (cursord-pending ws))
                   (equal mine (buffer-string))))))))))

(ert-deftest cursord-test-accept-of-a-copy-over-unsaved-lines ()
  "An accept in place of unsaved lines is one step of undo.
It brings back the hunk."
  (let* ((before (cursord-test-numbered 20))
         (mine (cursord-test-numbered 20 5 "mine\n")))
    (cursord-test-with-proposal before (cursord-test-numbered 20 5 "five\n")
      (cursord-test-go 5)
      (delete-line)
      (insert "mine\n")
      (cursord-test-until "the conflict"
        (and (equal '(5) (cursord-test-rows))
             (cursord-beside-p (caar (cursord-hunk-places)))
             (cursord--diff-fits-p (cursord-document))))
      (cursord-test-go 5)
      (cursord-accept-hunk)
      (cursord-test-until "the decision"
        (and (equal (cursord-test-numbered 20 5 "five\n") (buffer-string))
             (equal '(0 . 0) (cursord-pending ws))))
      (undo-boundary)
      (let ((last-command nil) (inhibit-message t)) (undo))
      (should (equal mine (buffer-string)))
      (cursord-test-until "the hunk again"
        (and (equal '(1 . 1) (cursord-pending ws))
             (equal '(5) (cursord-test-rows)))))))

(provide 'cursord-copies-tests)
;;; cursord-copies-tests.el ends here
