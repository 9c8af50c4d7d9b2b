;;; cursord-buffers-tests.el --- Buffers of files  -*- lexical-binding: t; -*-

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
(require 'autorevert)

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
      (should (equal (concat "This hunk is shown only now, and not decided:"
                             " look at it, then decide")
                     (cadr (should-error
                            (funcall first #'cursord-accept-hunk)))))
      (cursord-test-agree (car cursord-workspaces) "f" after 2)
      (cursord-accept-hunk)
      (cursord-test-agree (car cursord-workspaces) "f" after 1)
      (setq cursord-test-answers '(t))
      (funcall first #'cursord-reject-all)
      (cursord-test-agree (car cursord-workspaces) "f"
                          (cursord-test-numbered 20 5 "five\n") 0)
      (should (equal "There is nothing to review"
                     (cadr (should-error
                            (funcall first #'cursord-next-hunk))))))))

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
      (should (cursord-test-said-p
               (concat "a.txt → sub/b.txt:"
                       " the file was renamed, and its buffer with it$")))
      (should (verify-visited-file-modtime))
      (cursord-test-agree ws "sub/b.txt" text 1)
      (cursord-reject-file)
      (cursord-test-until "the old name"
        (equal (cursord-test-file "a.txt") buffer-file-name))
      (should (cursord-test-said-p "sub/b.txt → a.txt: "))
      (cursord-test-agree ws "a.txt" text 0)
      (cursord-test-hears "rejected 1 hunk; nothing left to review")
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
      ;; A way to a place that is seen leaves the narrowing.
      (cursord-test-go 6)
      (should (looking-at "fifteen"))
      (save-window-excursion
        (cursord-review)
        (should (looking-at "@@"))
        (cursord-review-visit)
        (should (looking-at "fifteen"))
        (should (buffer-narrowed-p)))
      (goto-char (point-max))
      (dolist (there '("fifteen" "five" "z"))
        (cursord-previous-hunk)
        (should (looking-at there))))))

(ert-deftest cursord-test-signs-where-colors-are-few ()
  "Added lines have a sign on a display without colours, and only there."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\n1\n") (cursord-test-open)))
          (colors 8)
          (signs (lambda ()
                   (list (overlay-get (car cursord--marks) 'before-string)
                         (mapcar (lambda (at)
                                   (get-char-property at 'line-prefix))
                                 '(1 5 9 13))))))
      (cursord-test-plays (cursord-test-edits "f" "one\n1\n"
                                              "one\ntwo\n3 3\n4 4\n"))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change f")
      (cursord-test-until "the mark" (equal '(2) (cursord-test-rows)))
      (cl-letf (((symbol-function 'display-color-cells)
                 (lambda (&rest _) colors))
                ((symbol-function 'define-fringe-bitmap) nil))
        (unwind-protect
            (progn
              (cursord-mode 1)
              (should (equal-including-properties
                       (list (concat (propertize "-1\n" 'face 'cursord-removed)
                                     "+")
                             '(nil nil "+" "+"))
                       (funcall signs)))
              (cursord-mode -1)
              (should (equal '(nil (nil nil nil nil)) (funcall signs)))
              (setq colors 256)
              (cursord-mode 1)
              (should (equal '("-1\n" (nil nil nil nil)) (funcall signs)))
              (cursord-mode -1)
              (setq colors 8)
              (cursord-mode 1)
              (cursord-marks-clear)
              (should-not (overlays-in (point-min) (point-max))))
          (cursord-mode -1))))))

(ert-deftest cursord-test-wrapping-is-said ()
  "Going on behind the last hunk says so."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "f" before
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
          (should (equal "cursord: from the first hunk to the last"
                         (car said))))))))

(defun cursord-test-random-text (words)
  "A text of lines, of which many are alike, made of WORDS."
  (let (lines)
    (dotimes (_ (random 30) (apply #'concat lines))
      (push (concat (nth (random (length words)) words) "\n") lines))))

(ert-deftest cursord-test-replace ()
  "A buffer gets any other text, and one undo leads back.
Markers stay at lines that stay."
  (random "cursord")
  (dotimes (_ 300)
    (let* ((words '("" "a" "b" "some words" "ä 😀" "}" "other words"))
           (old (cursord-test-random-text words))
           (new (cursord-test-random-text words))
           (end (seq-random-elt '("" "\n")))
           (new-end (if (zerop (random 3)) "" end))
           (cursord--compare-at-once (1+ (random 20)))
           (cursord--compare-windows (seq-random-elt '((6 60) (1 3) (2))))
           (cursord--replace-careful-time (seq-random-elt '(0 1)))
           (source (generate-new-buffer " *source*")))
      (with-temp-buffer
        (buffer-enable-undo)
        (insert "kept\n" old "kept too" end)
        (with-current-buffer source (insert "kept\n" new "kept too" new-end))
        (let ((first (copy-marker 3))
              (last (copy-marker (- (point-max) (length end) 3)))
              (comparison (cursord-compare-buffers (current-buffer) source))
              (before (buffer-string)))
          (undo-boundary)
          (while (not (cursord-compare-on comparison (current-time))))
          (should (eq (cursord-as-one-step
                        (cursord-compared-replace comparison))
                      (not (equal before
                                  (with-current-buffer source
                                    (buffer-string))))))
          (should (equal (concat "kept\n" new "kept too" new-end)
                         (buffer-string)))
          (should (= first 3))
          (when (equal end new-end)
            (should (= last (- (point-max) (length end) 3))))
          (unless (equal before (buffer-string))
            (let ((last-command nil) (inhibit-message t)) (undo))
            (should (equal before (buffer-string))))))
      (kill-buffer source))))

(ert-deftest cursord-test-indirect-buffers ()
  "A clone of a file's buffer has no hunks, and its end takes none away."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 5 "five\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (cursord-mode)
      (unwind-protect
          (progn
            (cursord-test-turn ws "change f")
            (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
            (let ((clone (clone-indirect-buffer "clone" nil)))
              (with-current-buffer clone
                (should-not (overlays-in (point-min) (point-max)))
                (should-error (cursord-accept-hunk) :type 'user-error)
                (goto-char (point-min))
                (insert "mine\n"))
              (cursord-test-until "the mark" (equal '(6) (cursord-test-rows)))
              (cursord-test-until "what was typed"
                (cursord--diff-fits-p (cursord-document)))
              (kill-buffer clone))
            (should (equal '(6) (cursord-test-rows)))
            (cursord-test-go 6)
            (cursord-reject-hunk)
            (cursord-test-until "the decision"
              (equal (concat "mine\n" before) (buffer-string))))
        (cursord-mode -1)))))

(ert-deftest cursord-test-a-folder-below-a-workspace ()
  "Outside of projects a folder belongs to the workspace around it, also later."
  (cursord-test-with-world
    (cursord-test-put "sub/b" "one\n")
    (let ((root (cursord-workspace-root (cursord-test-open))))
      (cursord-test-forget)
      (let ((default-directory (cursord-test-file "sub/")))
        (should (equal root (cursord-workspace-root (cursord-workspace-open)))))
      (let ((default-directory cursord-test-dir))
        (should (equal cursord-test-dir (cursord-project-root)))))))

(ert-deftest cursord-test-narrowed-to-whole-lines ()
  "A narrowing begins at a line also after a reject of lines at its beginning."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 19))
           (after (cursord-test-numbered
                   19 12 "line twelve AGENT\nextra 1\nextra 2\nextra 3\n"))
           (ws (cursord-test-open)))
      (dolist (mine '("" "mine\n"))
        (cursord-test-put "f" before)
        (cursord-test-plays (cursord-test-edits "f" before after))
        (find-file (cursord-test-file "f"))
        (buffer-enable-undo)
        (cursord-test-turn ws "change f")
        (cursord-test-until "the hunk" (equal '(12) (cursord-test-rows)))
        (goto-char (point-max))
        (insert mine)
        (cursord-await-marks)
        (cursord-test-go 14)
        (narrow-to-region (point) (pos-bol 6))
        (should (looking-at "extra 2"))
        (cursord-reject-hunk)
        (cursord-test-until "the reject"
          (equal (concat before mine) (cursord--whole-text)))
        (should (buffer-narrowed-p))
        (goto-char (point-min))
        (should (looking-at "line 1[23]\n"))
        (should (equal "line 15\n"
                       (buffer-substring (- (point-max) 8) (point-max))))
        (set-buffer-modified-p nil)
        (kill-buffer)))))

(provide 'cursord-buffers-tests)
;;; cursord-buffers-tests.el ends here
