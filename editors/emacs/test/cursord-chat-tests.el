;;; cursord-chat-tests.el --- The chat, in batch  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-chat)

(ert-deftest cursord-test-asking-shows-the-answer ()
  "Asking from a file has the chat show what comes, wherever its point was."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-open))))
      (cursord-test-plays (cursord-test-says (cursord-test-numbered 200)))
      (delete-other-windows)
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "first")
      (cursord-test-until "the answer"
        (save-excursion (goto-char (point-min)) (search-forward "line 200" nil t)))
      (goto-char (point-min))
      (let ((chat (selected-window)))
        (select-window (split-window))
        (find-file (cursord-test-file "f"))
        (cursord-test-plays (cursord-test-says "The second answer."))
        (cl-letf (((symbol-function 'read-from-minibuffer)
                   (lambda (&rest _) "second")))
          (cursord-ask))
        (should (equal "f" (buffer-name)))
        (cursord-test-until "the second answer"
          (with-current-buffer (window-buffer chat)
            (save-excursion (goto-char (point-max))
                            (search-backward "The second answer." nil t))))
        (should (= (window-point chat)
                   (with-current-buffer (window-buffer chat) (point-max))))))))

(ert-deftest cursord-test-a-new-session-is-named ()
  "The question says when it begins a new session, and the header which model answers."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open)) asked
           (cursord--default-models nil)
           (header (lambda ()
                     (with-current-buffer (cursord-chat-buffer ws)
                       (substring-no-properties (cursord--chat-header))))))
      (cl-letf (((symbol-function 'read-from-minibuffer)
                 (lambda (prompt &rest _) (setq asked prompt) "x")))
        (cursord-ask)
        (should (equal "Ask (new session): " asked))
        (cursord-ask)
        (should (equal "Ask: " asked))
        (cursord-talk-with ws nil)
        (cursord-ask)
        (should (equal "Ask (new session): " asked)))
      (cursord-test-until "the model"
        (string-match-p "· auto ·" (funcall header)))
      (cursord-set-model "fake-large")
      (should (string-match-p "· fake-large ·" (funcall header))))))

(provide 'cursord-chat-tests)
;;; cursord-chat-tests.el ends here
