;;; cursord-keys-tests.el --- Keys for hunks  -*- lexical-binding: t; -*-

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

(ert-deftest cursord-test-keys-without-hunks ()
  "The keys for hunks are bound in files without hunks, too, and type no text."
  (cursord-test-with-world
    (cursord-test-put "f.txt" "one\n")
    (cursord-test-put "o.org" "one\n")
    (let ((bound (lambda () (key-binding (kbd "C-c = n")))))
      (find-file (cursord-test-file "f.txt"))
      (should-not (funcall bound))
      (cursord-mode 1)
      (unwind-protect
          (progn
            (should (eq (funcall bound) #'cursord-next-hunk))
            (should (equal '(user-error "There is nothing to review")
                           (should-error (call-interactively (funcall bound)))))
            (switch-to-buffer "*scratch*")
            (should-not (funcall bound))
            ;; A key of the major mode stays.
            (find-file (cursord-test-file "o.org"))
            (should (eq (key-binding (kbd "C-c =")) 'org-table-eval-formula)))
        (cursord-mode -1)))))

(ert-deftest cursord-test-keys-on-deleted-lines ()
  "A hunk without lines in the buffer has the keys of hunks beside it."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "" 20 ""))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (bound (lambda () (eq (key-binding (kbd "C-c = r"))
                                 #'cursord-reject-hunk))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-mode 1)
      (unwind-protect
          (progn
            (find-file (cursord-test-file "f"))
            (cursord-test-turn ws "delete")
            (cursord-test-until "the marks"
              (= 2 (length (cursord-hunk-places))))
            ;; The prefix works in the whole buffer, so that its second key is
            ;; typed into the text nowhere.
            (cursord-test-go 10)
            (should (funcall bound))
            (should (equal "There is no hunk here"
                           (cadr (should-error
                                  (call-interactively
                                   (key-binding (kbd "C-c = r")))))))
            (setq bound (lambda ()
                          (let ((buffer-read-only t))
                            (eq (key-binding "r") #'cursord-reject-hunk))))
            (dolist (line '(4 5))
              (cursord-test-go line)
              (should (funcall bound))
              (end-of-line)
              (should (funcall bound)))
            (dolist (line '(3 6))
              (cursord-test-go line) (should-not (funcall bound)))
            (goto-char (point-max))
            (should (funcall bound))
            (cursord-mode -1)
            (should-not (funcall bound))
            (should-not (key-binding (kbd "C-c = r")))
            (cursord-mode 1)
            (call-interactively (key-binding (kbd "C-c = r")))
            (cursord-test-until "the last line"
              (string-suffix-p "line 20\n" (buffer-string)))
            (cursord-test-until "one mark" (= 1 (length (cursord-hunk-places))))
            (cursord-test-go 18)
            (should-not (funcall bound)))
        (cursord-mode -1)))))

(provide 'cursord-keys-tests)
;;; cursord-keys-tests.el ends here
