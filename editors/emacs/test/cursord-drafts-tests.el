;;; cursord-drafts-tests.el --- Drafts, in batch  -*- lexical-binding: t; -*-

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
(require 'cursord-chat)

(ert-deftest cursord-test-drafts-outlive-emacs ()
  "A draft is there in the next Emacs, and after an earlier prompt was sent."
  (cursord-test-with-world
    (let ((cursord-prompt-history '("first"))
          (cursord-show-chat-on-ask nil)
          (cursord-test-answers '(t))
          (kill-emacs-hook nil)
          (ws (cursord-workspace-open)))
      (cl-flet* ((compose () (cursord--compose ws (cursord-origin-here)))
                 (next-emacs ()
                   (run-hooks 'kill-emacs-hook)
                   (kill-buffer (cursord--compose-buffer ws))
                   (compose)))
        (save-window-excursion
          (compose)
          (should (equal "" (buffer-string)))
          (insert "ein Entwürf")
          (next-emacs)
          (should (equal "ein Entwürf" (buffer-string)))
          (cursord-previous-prompt)
          (next-emacs)
          (should (equal "ein Entwürf" (buffer-string)))
          (cursord-previous-prompt)
          (cursord-compose-send)
          (compose)
          (should (equal "ein Entwürf" (buffer-string)))
          (erase-buffer)
          (next-emacs)
          (should (equal "" (buffer-string))))))))

(ert-deftest cursord-test-drafts-outlive-a-killed-emacs ()
  "What was typed is on disk soon.  Another Emacs takes it if this one is gone."
  (cursord-test-with-world
    (let* ((kill-emacs-hook nil)
           (cursord--draft-delay 0)
           (ws (cursord-workspace-open))
           (live (cursord--live-draft-file ws))
           (gone (concat (cursord--draft-file ws) ".0999999999")))
      (cl-flet ((compose () (cursord--compose ws (cursord-origin-here))))
        (save-window-excursion
          (compose)
          (insert "a draft")
          (cursord-test-until "the draft on disk" (file-exists-p live))
          (let ((kill-buffer-hook nil)) (erase-buffer) (kill-buffer))
          ;; It was killed: its file is that of a process that is not there.
          (rename-file live gone t)
          (compose)
          (should (equal "a draft" (buffer-string)))
          (should-not (file-exists-p gone))
          (should (file-exists-p live))
          (erase-buffer)
          (cursord-test-until "no draft" (not (file-exists-p live)))
          ;; That of a process that lives is not taken.
          (let ((other (start-process "other" nil "sleep" "100")))
            (unwind-protect
                (progn
                  (write-region "another's" nil
                                (format "%s.%d" (cursord--draft-file ws)
                                        (process-id other)))
                  (kill-buffer)
                  (compose)
                  (should (equal "" (buffer-string))))
              (delete-process other))))))))

(ert-deftest cursord-test-drafts-outlive-their-buffers ()
  "The draft of a killed buffer is said to be kept, and is in the next buffer."
  (cursord-test-with-world
    (let* ((kill-emacs-hook nil)
           (kept "the draft is kept: M-x cursord-compose shows it")
           (ws (cursord-workspace-open))
           (compose (lambda () (cursord--compose ws (cursord-origin-here)))))
      (save-window-excursion
        (funcall compose)
        (kill-buffer)
        (should-not (cursord-test-said-p kept))
        (funcall compose)
        (insert "a draft")
        (kill-buffer)
        (should (cursord-test-said-p kept))
        (funcall compose)
        (should (equal "a draft" (buffer-string)))
        ;; A buffer whose draft cannot be kept stays.
        (cursord-test-put "file" "")
        (let ((user-emacs-directory (cursord-test-file "file/")))
          (should-error (kill-buffer) :type 'user-error))
        (should (equal "a draft" (buffer-string)))))))

(provide 'cursord-drafts-tests)
;;; cursord-drafts-tests.el ends here
