;;; cursord-conflicts-tests.el --- Undo of decided conflicts, in batch  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-review)

(defun cursord-test-conflict (ws &rest changes)
  "Have f with a conflict in line 3, and the agent's other CHANGES, in WS.
The buffer of f is current."
  (let ((before (cursord-test-numbered 9)))
    (cursord-talk-with ws nil)
    (cursord-test-put "f" before)
    (find-file (cursord-test-file "f"))
    (buffer-enable-undo)
    (cursord-test-go 3)
    (delete-line)
    (insert "mine\n")
    (undo-boundary)
    (cursord-test-plays
     (cursord-test-edits "f" before (apply #'cursord-test-numbered 9 3 "agent\n"
                                           changes)))
    (cursord-test-turn ws "change it")
    (cursord-test-until "the conflict"
      (and (equal (apply #'cursord-test-numbered 9 3 "mine\n" changes)
                  (buffer-string))
           (seq-some #'cursord-conflict-p (mapcar #'car (cursord-hunk-places)))))))

(defun cursord-test-conflict-ends (ws)
  "Forget f, and decide all hunks of WS."
  (set-buffer-modified-p nil)
  (kill-buffer "f")
  (cursord-decide-all ws :diff/reject)
  (cursord-test-until "the end" (equal '(0 . 0) (cursord-pending ws))))

(ert-deftest cursord-test-no-question-about-a-shown-conflict ()
  "Emacs saves over a conflict without a question, also if it is all that is new.
It asks if another program has written the file since."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) (inhibit-message t)
          (mine (cursord-test-numbered 9 3 "mine\n")))
      (cursord-test-conflict ws)
      (cursord-test-hears "f has unsaved changes, and was written meanwhile; nothing is lost, see M-x cursord-review")
      (cursord-test-until "the file is known" (verify-visited-file-modtime))
      (save-buffer)
      (should (cursord-test-said-p "saved your lines over the agent.s in 1 conflict"))
      (cursord-test-agree ws "f" mine 0)
      (cursord-test-conflict-ends ws)
      (cursord-test-conflict ws)
      (cursord-test-until "the file is known" (verify-visited-file-modtime))
      (cursord-test-put "f" (cursord-test-numbered 9 3 "other\n"))
      (should-error (save-buffer) :type 'user-error)
      (cursord-test-conflict-ends ws))))

(provide 'cursord-conflicts-tests)
;;; cursord-conflicts-tests.el ends here
