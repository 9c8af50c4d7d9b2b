;;; cursord-await-tests.el --- Waiting commands  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.  A program that is built for tests holds back what the
;; daemon answers; see `cursord-test-hold'.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory
                (or (bound-and-true-p byte-compile-current-file)
                    load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-await)
(require 'cursord-compare)

(defconst cursord-test-thirty (cursord-test-numbered 30))
(defconst cursord-test-thirty-after
  (cursord-test-numbered 30 5 "five\n" 15 "fifteen\n" 26 "26\n"))

(defmacro cursord-test-with-two-files (&rest body)
  "Run BODY in a world where the files a and f have hunks in lines 5, 15, 26.
The buffer of f is current, and its hunks are marked."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let ((ws (progn (cursord-test-put "a" cursord-test-thirty)
                      (cursord-test-put "f" cursord-test-thirty)
                      (cursord-test-open))))
       (cursord-test-plays
        (cursord-test-edits "a" cursord-test-thirty cursord-test-thirty-after)
        (cursord-test-edits "f" cursord-test-thirty cursord-test-thirty-after))
       (cursord-test-turn ws "change them")
       (find-file (cursord-test-file "f"))
       (cursord-workspace-reviewed)
       (should (equal '(5 15 26) (cursord-test-rows)))
       ,@body)))

(ert-deftest cursord-test-typing-before-the-first-command ()
  "The first command finds the hunks of a buffer with text typed just before.
That is so whatever the daemon is slow with."
  (dolist (held '(nil ("workspace/subscribe") ("diff/list")))
    (cursord-test-with-two-files
      (ignore ws)
      (cursord-test-forget)
      (when held
        (apply #'cursord-test-hold held))
      (find-file (cursord-test-file "f"))
      (insert "x")
      (if held
          (cursord-test-when-it-waits (cursord-test-release)
            (cursord-next-hunk))
        (cursord-next-hunk))
      (should (equal '("f" 5) (list (buffer-name) (line-number-at-pos))))
      (cursord-test-forget)
      (when held
        (apply #'cursord-test-hold held))
      (find-file (cursord-test-file "f"))
      (insert "mine\n")
      (cursord-test-go 16)
      ;; Nobody has seen the hunk before.
      (if held
          (cursord-test-when-it-waits (cursord-test-release)
            (should-error (cursord-reject-hunk) :type 'user-error))
        (should-error (cursord-reject-hunk) :type 'user-error))
      (should (equal '(6 16 27) (cursord-test-rows)))
      (cursord-reject-hunk)
      (cursord-test-until "the reject"
        (equal (concat "mine\n" (cursord-test-numbered 30 5 "five\n" 26 "26\n"))
               (buffer-string))))))

(ert-deftest cursord-test-typing-before-any-command ()
  "A command waits for the answer about the text that it is called in.
Marks are no reason not to: they are those of an older text."
  (cursord-test-with-two-files
    (cursord-test-hold "diff/list")
    (cursord-test-go 5)
    (delete-line)
    (insert "mine\n")
    ;; A timer may have sent the text, and the answer may not be there.
    (cursord-report (cursord-document))
    (should (cursord--in-sync-p (cursord-document)))
    (goto-char (point-min))
    (cursord-test-when-it-waits (cursord-test-release)
      (cursord-next-hunk))
    ;; The person has changed line 5.  The agent's part of it is its deletion.
    (should (cursord--diff-fits-p (cursord-document)))
    (should (equal (cursord-test-rows)
                   (mapcar (lambda (hunk) (1+ (cursord-hunk-row hunk)))
                           (plist-get (cursord-diff-of (cursord-document))
                                      :hunks))))
    (should (equal (car (cursord-test-rows)) (line-number-at-pos)))
    (ignore ws)))

(ert-deftest cursord-test-region-before-any-command ()
  "The lines of a region are those that the person sees."
  (cursord-test-with-two-files
    (ignore ws)
    (let ((transient-mark-mode t))
      (cursord-test-hold "diff/list")
      (goto-char (point-min))
      (insert "mine\n")
      (cursord-test-go 16)
      (set-mark (point))
      (forward-line 1)
      (activate-mark)
      (cursord-test-when-it-waits (cursord-test-release)
        (cursord-reject-hunk))
      (cursord-test-until "the reject"
        (equal (concat "mine\n" (cursord-test-numbered 30 5 "five\n" 26 "26\n"))
               (buffer-string))))))

(ert-deftest cursord-test-comparing-waits-for-the-diff ()
  "What was just typed is in the comparison."
  (cursord-test-with-two-files
    (ignore ws)
    (let (compared)
      (cl-letf (((symbol-function 'ediff-buffers)
                 (lambda (a &rest _) (setq compared a))))
        (cursord-test-hold "diff/list")
        (goto-char (point-min))
        (insert "mine\n")
        (cursord-test-when-it-waits (cursord-test-release)
          (cursord-ediff-file))
        (should (equal (concat "mine\n" cursord-test-thirty)
                       (with-current-buffer compared (buffer-string))))
        (kill-buffer compared)))))

(ert-deftest cursord-test-all-waits-for-each-buffer ()
  "All hunks are those of the texts of all buffers."
  (cursord-test-with-two-files
    (cursord-test-hold "diff/list")
    (goto-char (point-min))
    (insert "mine\n")
    (switch-to-buffer (find-file-noselect (cursord-test-file "a")))
    (setq cursord-test-answers '(t))
    (cursord-test-when-it-waits (cursord-test-release)
      (cursord-reject-all))
    (cursord-test-until "all of it to be rejected"
      (and (equal (concat "mine\n" cursord-test-thirty)
                  (with-current-buffer "f" (buffer-string)))
           (equal cursord-test-thirty (buffer-string))
           (equal '(0 . 0) (cursord-pending ws))))))

(ert-deftest cursord-test-waiting-ends ()
  "A command gives up in the end, and says what to do; it has done nothing."
  (cursord-test-with-two-files
    (cursord-test-hold "diff/list")
    (goto-char (point-min))
    (insert "mine\n")
    (let ((cursord--await-most 0))
      (should (equal '(user-error "Nothing was done: in 0 seconds the daemon \
did not place the hunks in f; see M-x cursord-doctor")
                     (should-error (cursord-next-hunk) :type 'user-error))))
    (should (= 2 (line-number-at-pos)))
    ;; A quit ends it as well.
    (should (eq 'quit (condition-case nil
                          (cursord-test-when-it-waits (signal 'quit nil)
                            (cursord-next-hunk))
                        (quit 'quit))))
    (cursord-test-release)
    (cursord-next-hunk)
    (should (= 6 (line-number-at-pos)))
    (ignore ws)))

(ert-deftest cursord-test-waiting-outlives-the-connection ()
  "A command that waits when the connection is lost goes on with the next one."
  (cursord-test-with-two-files
    (cursord-test-hold "diff/list")
    (goto-char (point-min))
    (insert "mine\n")
    (cursord-test-when-it-waits
        (progn
          (kill-process (jsonrpc--process (cursord-connection-to nil)))
          (cursord-test-release))
      (cursord-next-hunk))
    (should (= 6 (line-number-at-pos)))
    (ignore ws)))

(ert-deftest cursord-test-waiting-for-many-marks ()
  "A command waits until the last of very many hunks is marked."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 2000))
           (after (replace-regexp-in-string "^line \\(.*5\\)$" "agent \\1"
                                            before))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (cursord--place-slice 0.001))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-turn ws "change it")
      (cursord-test-forget)
      (find-file (cursord-test-file "f"))
      (insert "x")
      (cursord-next-hunk 200)
      (should (equal '("f" 1995) (list (buffer-name) (line-number-at-pos)))))))

(provide 'cursord-await-tests)
;;; cursord-await-tests.el ends here
