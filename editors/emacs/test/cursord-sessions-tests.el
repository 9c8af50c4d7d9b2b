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

(ert-deftest cursord-test-sessions-of-all-projects ()
  "They are listed with their hunks, gone on with, renamed and deleted."
  (cursord-test-with-world
    (let* ((other (expand-file-name "other/" cursord-test-dir))
           (ws (progn (cursord-test-put "f" "one\n") (cursord-test-open)))
           (lines (lambda ()
                    (split-string (replace-regexp-in-string
                                   " +" " " (buffer-substring-no-properties
                                             (point-min) (point-max)))
                                  "\n" t))))
      (cursord-test-plays (cursord-test-edits "f" "one\n" "two\n"))
      (cursord-test-turn ws "first")
      (cursord-test-plays)
      (make-directory other)
      (let* ((default-directory other)
             (ws (cursord-test-open)))
        (cursord-test-turn ws "second"))
      (cursord-sessions)
      (should (equal '(" idle now other second" " idle 1 now ws first")
                     (funcall lines)))
      (goto-char (point-min))
      (cursord-sessions-rename "third")
      (should (equal " idle now other third" (car (funcall lines))))
      (goto-char (point-min))
      (search-forward "first")
      (save-window-excursion
        (cursord-sessions-go)
        (should (eq ws cursord-buffer-workspace)))
      (save-window-excursion
        (cursord-sessions-review)
        (should (derived-mode-p 'cursord-review-mode))
        (should (eq ws cursord-buffer-workspace)))
      (goto-char (point-min))
      (setq cursord-test-answers '(t))
      (cursord-sessions-delete)
      (should (equal '(" idle 1 now ws first") (funcall lines)))
      (kill-buffer))))

(provide 'cursord-sessions-tests)
;;; cursord-sessions-tests.el ends here
