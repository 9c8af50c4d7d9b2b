;;; cursord-steps-tests.el --- Decisions as steps  -*- lexical-binding: t; -*-

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

(ert-deftest cursord-test-undo-after-undo-and-redo-of-decisions ()
  "Each decision is one step of undo, also if it was taken back and made again."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 25 "25\n"))
           (rejected (cursord-test-numbered 30 5 "five\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (undone nil))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cl-flet ((agree (text rows)
                  (cursord-test-agree ws "f" text (length rows))
                  (cursord-test-until "the marks"
                    (equal rows (cursord-test-rows)))
                  (undo-boundary))
                (back ()
                  (let ((last-command (and undone 'undo)) (inhibit-message t))
                    (undo)
                    (setq undone t))))
        (cursord-test-turn ws "change it")
        (agree after '(5 25))
        (cursord-test-go 5)
        (cursord-accept-hunk)
        (agree after '(25))
        (cursord-test-go 25)
        (cursord-reject-hunk)
        (agree rejected nil)
        (dolist (times '(1 2))
          (cursord-undo)
          (agree after '(25))
          (cursord-undo)
          (agree after '(5 25))
          (cursord-redo)
          (agree after '(25))
          (ert-info ((format "redone %d" times))
            (cursord-redo)
            (agree rejected nil)))
        ;; Undo of the buffer goes the same way.
        (back)
        (agree after '(25))
        (back)
        (agree after '(5 25))
        (back)
        (cursord-test-until "the text from before the agent"
          (equal before (buffer-string)))))))

(ert-deftest cursord-test-undo-after-a-decision-was-taken-back ()
  "A decision that `cursord-undo' has taken back is no step of undo any more."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 25 "25\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-turn ws "change it")
      (cursord-test-until "the marks" (equal '(5 25) (cursord-test-rows)))
      (pcase-dolist (`(,method ,row ,rows ,text)
                     `((cursord-accept-hunk 5 (25) ,after)
                       (cursord-reject-hunk
                        5 (25) ,(cursord-test-numbered 30 25 "25\n"))))
        (ert-info ((symbol-name method))
          (cursord-test-go row)
          (funcall method)
          (cursord-test-agree ws "f" text (length rows))
          (cursord-undo)
          (cursord-test-agree ws "f" after 2)
          (cursord-test-until "the marks" (equal '(5 25) (cursord-test-rows)))))
      (undo-boundary)
      (let ((last-command nil) (inhibit-message t)) (undo))
      (cursord-test-until "the text from before the agent"
        (equal before (buffer-string)))
      (cursord-test-until "the message"
        (cursord-test-said-p
         "the agent.s changes are undone; redo brings them back")))))

(ert-deftest cursord-test-undo-of-a-rejected-deletion-or-rename ()
  "Undo brings the hunk back, and does not take out what was typed before."
  (cursord-test-with-world
    (let* ((text (cursord-test-numbered 9)) (inhibit-message t)
           (ws (cursord-test-open)))
      ;; The name of a file with unsaved text cannot be decided.
      (pcase-dolist (`(,save . ,all)
                     '((nil ("rm a" "a" nil))
                       (t ("rm a" "a" nil) ("mv a b" "b" "b"))))
        (pcase-dolist (`(,command ,name ,there) all)
          (ert-info ((format "%s %s" command save))
            (cursord-talk-with ws nil)
            (cursord-test-put "a" text)
            (find-file (cursord-test-file "a"))
            (buffer-enable-undo)
            (goto-char (point-max))
            (insert "mine\n")
            (undo-boundary)
            (when save (save-buffer))
            (cursord-test-plays (cursord-test-runs command))
            (cursord-test-turn ws "go")
            (cursord-test-until "the hunk"
              (and (equal '(1 . 1) (cursord-pending ws))
                   (equal (cursord-test-file name) buffer-file-name)))
            (cursord-reject-file)
            (cursord-test-until "the file"
              (and (cursord-test-get "a") (equal '(0 . 0) (cursord-pending ws))
                   (null (assq ws cursord--deciding))))
            (undo-boundary)
            (let ((last-command nil)) (undo))
            (cursord-test-hears
             "undone: the reject of 1 hunk; 1 hunk left in 1 file")
            (should (equal (concat text "mine\n") (buffer-string)))
            (should-not (cursord-test-get "a"))
            (should (equal (and there (concat text "mine\n"))
                           (and there (cursord-test-get there))))
            (set-buffer-modified-p nil)
            (kill-buffer)
            (cursord-decide-all ws :diff/reject)
            (cursord-test-until "the end"
              (equal '(0 . 0) (cursord-pending ws)))))))))

(provide 'cursord-steps-tests)
;;; cursord-steps-tests.el ends here
