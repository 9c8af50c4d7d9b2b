;;; cursord-review-tests.el --- Reviewing, in batch  -*- lexical-binding: t; -*-

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

(ert-deftest cursord-test-review-buffer ()
  "The review is a unified diff that goes with what happens."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n")
                          (cursord-test-edits "n" nil "new\n"))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (should (derived-mode-p 'diff-mode))
        (cursord-test-until "the diff"
          (equal (concat "diff --git a/f b/f\n--- a/f\n+++ b/f\n"
                         "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n"
                         "diff --git a/n b/n\nnew file mode 100644\n"
                         "--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+new\n")
                 (buffer-substring-no-properties (point-min) (point-max))))
        (cursord-next-hunk)
        (should (looking-at "@@ -0,0"))
        (cursord-reject-hunk)
        (cursord-test-until "the file to go" (null (cursord-test-get "n")))
        (cursord-test-until "point on the other" (looking-at "@@ -1,3"))
        (cursord-accept-file)
        (cursord-test-until "the end"
          (equal "Nothing to review.\n" (buffer-string)))
        (should (equal "one\n2\nthree\n" (cursord-test-get "f")))))))

(ert-deftest cursord-test-review-says-that-lines-were-decided ()
  "A decision about lines of a hunk is not said to be one about the hunk."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "9\n") (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" "9\n" "NINE\n10\n"))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (goto-char (point-min))
        (search-forward "+NINE")
        (let ((transient-mark-mode t))
          (set-mark (line-beginning-position))
          (goto-char (line-end-position))
          (activate-mark)
          (cursord-accept-hunk))
        (cursord-test-until "what is said"
          (cursord-test-said-p
           "accepted 1 line of a hunk; [12] hunks? left in 1 file$"))))))

(ert-deftest cursord-test-review-isearch-finds-headings ()
  "Isearch finds the headings of files as they are shown."
  (cursord-test-with-world
    (let ((ws (progn (dolist (name '("a" "b" "c"))
                       (cursord-test-put name "one\n"))
                     (cursord-test-open)))
          (found (lambda ()
                   (and isearch-success
                        (progn (beginning-of-line)
                               (get-text-property (point) 'cursord-path))))))
      (cursord-test-plays (cursord-test-edits "a" "one\n" "1\n")
                          (cursord-test-edits "b" "one\n" "1\nmodified c\n")
                          (cursord-test-edits "c" "one\n" "1\n"))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (pcase-dolist (`(,from ,forward ,text ,path)
                       '((1 t "modified b +2" "b") (1 t "modified c" "b")
                         (end nil "modified c +" "c")
                         (end nil "modified a" "a") (1 t "modified d" nil)))
          (ert-info (text)
            (goto-char (if (eq from 'end) (point-max) from))
            (isearch-mode forward)
            (isearch-yank-string text)
            (should (equal path (funcall found)))
            (isearch-done)))))))

(ert-deftest cursord-test-review-keeps-folds ()
  "What is folded in the review stays so when its file is drawn again."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 40))
           (after (cursord-test-numbered 40 5 "five\n" 20 "20\n" 35 "35\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (seen (lambda ()
                   (let (lines)
                     (save-excursion
                       (goto-char (point-min))
                       (while (re-search-forward "^[-+][^-+].*$" nil t)
                         (unless (invisible-p (match-beginning 0))
                           (push (match-string-no-properties 0) lines))))
                     (nreverse lines)))))
      (cursord-test-plays (cursord-test-edits "f" before after)
                          (cursord-test-edits "n" nil "new\n"))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (cursord-test-until "the diff" (= 7 (length (funcall seen))))
        (cursord-next-hunk)
        (outline-cycle)                 ; the second hunk of f
        (search-forward "diff --git")
        (outline-cycle)                 ; the file n
        (should (equal '("-line 5" "+five" "-line 35" "+35") (funcall seen)))
        (goto-char (point-min))
        (search-forward "+five")
        (cursord-accept-hunk)
        (cursord-test-until "the decision"
          (equal '(3 . 2) (cursord-pending ws)))
        (cursord-test-until "the drawing"
          (equal '("-line 35" "+35") (funcall seen)))
        (cursord-undo)
        (cursord-test-until "the hunk to be back"
          (equal '("-line 5" "+five" "-line 35" "+35") (funcall seen)))))))

(ert-deftest cursord-test-review-style ()
  "A review begins where the person likes it to."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                     (cursord-test-open)))
          (shown (lambda () (buffer-name (window-buffer)))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n"))
      (cursord-test-turn ws "change")
      (let ((cursord-review-style 'inline))
        (save-window-excursion
          (cursord-review)
          (should (equal "f" (funcall shown)))
          (should (looking-at "2$"))
          (cursord-test-until "the buffer's own hunk" (cursord-hunk-at))
          (cursord-review)
          (should (derived-mode-p 'cursord-review-mode))))
      (let ((cursord-review-style 'inline))
        (save-window-excursion
          (cursord-review '(4))
          (should (derived-mode-p 'cursord-review-mode))))
      (let ((cursord-review-style 'ediff) compared)
        (cl-letf (((symbol-function 'ediff-buffers)
                   (lambda (a b &rest _) (setq compared (list a b)))))
          (save-window-excursion
            (cursord-review)))
        (should (equal '("one\ntwo\nthree\n" "one\n2\nthree\n")
                       (mapcar (lambda (buffer)
                                 (with-current-buffer buffer (buffer-string)))
                               compared)))
        (kill-buffer (car compared))))))

(ert-deftest cursord-test-all-is-what-was-counted ()
  "A reject of everything leaves what came after the question was asked."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\n")
                      (cursord-test-put "g" "1\n")
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
                                    (hash-table-keys
                                     (cursord-workspace-diffs ws)))))
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
        (cursord-test-said-p ".*other hunks"))
      (should (equal '("One\n" "2\n")
                     (mapcar #'cursord-test-get '("f" "g")))))))

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
      (should (equal "mode"
                     (plist-get (gethash "f" (cursord-workspace-diffs ws))
                                :kind)))
      (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
      (cursord-next-hunk)
      (should (looking-at "five"))
      (cursord-review)
      (goto-char (point-min))
      (should (search-forward "old mode 100644\nnew mode 100755\n" nil t))
      (should (search-forward "+five" nil t)))))

(ert-deftest cursord-test-file-headings ()
  "What is seen above a file's hunks is for people, and git's line is there."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "lib/util.py" "1\n2\n3\n")
                     (cursord-test-put "old" (cursord-test-numbered 9))
                     (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "lib/util.py" "1\n2\n3\n" "one\n2\n3\n4\n")
       (cursord-test-runs
        "mv old new; printf 'x\\n' >tool; umask 022; chmod 755 tool"))
      (cursord-test-turn ws "change them")
      (cursord-review)
      (let ((noninteractive nil)) (font-lock-mode 1))
      (font-lock-ensure)
      (let (headings)
        (goto-char (point-min))
        (while (re-search-forward "^diff --git a/" nil t)
          (push (substring-no-properties (get-char-property (point) 'display))
                headings))
        (should (equal '("modified lib/util.py +2 −1" "renamed old → new"
                         "created tool, mode 100755, +1 −0")
                       (nreverse headings)))))))

(ert-deftest cursord-test-files-fold ()
  "A file folds to its heading, and a hunk to its first line."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 1 "one\n" 30 "the end\n"))
           (ws (progn (cursord-test-put "f" before)
                      (cursord-test-put "g" "1\n") (cursord-test-open)))
           (seen (lambda ()
                   (let (lines)
                     (save-excursion
                       (goto-char (point-min))
                       (while (not (eobp))
                         (unless (or (invisible-p (point))
                                     (equal "" (get-text-property
                                                (point) 'cursord-display)))
                           (push (buffer-substring-no-properties
                                  (point) (line-end-position))
                                 lines))
                         (forward-line 1)))
                     (nreverse lines))))
           (fold (lambda (beginning)
                   (goto-char (point-min))
                   (re-search-forward beginning)
                   (forward-line 0)
                   (call-interactively #'outline-cycle))))
      (cursord-test-plays (cursord-test-edits "f" before after)
                          (cursord-test-edits "g" "1\n" "2\n"))
      (cursord-test-turn ws "change them")
      (cursord-review)
      (funcall fold "^diff --git a/f")
      (should (equal '("diff --git a/f b/f" "diff --git a/g b/g"
                       "@@ -1,1 +1,1 @@" "-1" "+2")
                     (funcall seen)))
      (funcall fold "^diff --git a/f")
      (should (equal '("diff --git a/f b/f" "@@ -1,4 +1,4 @@"
                       "@@ -27,4 +27,4 @@" "diff --git a/g b/g"
                       "@@ -1,1 +1,1 @@" "-1" "+2")
                     (funcall seen)))
      (funcall fold "^@@ -27")
      (should (member "+the end" (funcall seen)))
      (should-not (member "+one" (funcall seen))))))

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

(ert-deftest cursord-test-undo-goes-to-its-hunk ()
  "The header line names a file whose heading is out of sight."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 60))
           (after (cursord-test-numbered 60 5 "five\n" 25 "more\n"
                                         50 "fifty\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (cursord-test-until "the hunks"
          (= 3 (length (cursord--hunk-positions))))
        (should-not (string-match-p "f · " (cursord--review-header)))
        (goto-char (cdar (cursord--hunk-positions)))
        (set-window-start nil (point))
        (should (string-match-p "\\` f · 3 hunks" (cursord--review-header)))
        (let ((id (plist-get (cursord-review-hunk-at (point)) :id)))
          (cursord-reject-hunk)
          (cursord-test-until "two hunks"
            (= 2 (length (cursord--hunk-positions))))
          (goto-char (cdadr (cursord--hunk-positions)))
          (cursord-undo)
          (cursord-test-until "point on the hunk that is back"
            (equal id (plist-get (cursord-review-hunk-at (point)) :id)))
          (should (= 3 (length (cursord--hunk-positions)))))))))

(provide 'cursord-review-tests)
;;; cursord-review-tests.el ends here
