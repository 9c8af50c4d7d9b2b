;;; cursord-conflicts-tests.el --- Undone conflicts  -*- lexical-binding: t; -*-

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
           (seq-some #'cursord-conflict-p
                     (mapcar #'car (cursord-hunk-places)))))))

(defun cursord-test-conflict-ends (ws)
  "Forget f, and decide all hunks of WS."
  (set-buffer-modified-p nil)
  (kill-buffer "f")
  (cursord-decide-all ws :diff/reject)
  (cursord-test-until "the end" (equal '(0 . 0) (cursord-pending ws))))

(ert-deftest cursord-test-undo-of-the-only-conflict ()
  "Undo brings back the only hunk of a file, a conflict, however it was decided.
Where the agent's lines can only be pending in the file, the buffer follows it.
A reject of what has come back leaves the person's line alone."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) (inhibit-message t)
          (mine (cursord-test-numbered 9 3 "mine\n"))
          (agents (cursord-test-numbered 9 3 "agent\n"))
          (both (cursord-test-numbered 9 3 "mine\nagent\n"))
          (taken-back "the accept is taken back; 1 hunk left")
          (undone "undone: the reject of 1 hunk; 1 hunk left"))
      (pcase-dolist (`(,command ,save ,decided ,back ,said)
                     `((cursord-accept-hunk nil ,agents ,mine ,taken-back)
                       (cursord-accept-hunk t ,agents ,mine ,taken-back)
                       (cursord-accept-both nil ,both ,mine nil)
                       (cursord-accept-both t ,both ,both ,taken-back)
                       (cursord-reject-hunk nil ,mine ,mine ,undone)
                       (cursord-reject-hunk t ,mine ,agents ,undone)))
        (ert-info ((format "%s %s" command save))
          (cursord-test-conflict ws)
          (cursord-test-go 3)
          (call-interactively command)
          (cursord-test-until "the decision"
            (and (equal decided (buffer-string))
                 (equal '(0 . 0) (cursord-pending ws))))
          (cursord-test-hears (format "%s 1 hunk%s; nothing left to review"
                                      (if (eq command #'cursord-reject-hunk)
                                          "rejected"
                                        "accepted")
                                      ;; The file has it already.
                                      (if (eq command #'cursord-accept-hunk) ""
                                        ", on disk when you save")))
          (when save
            (save-buffer)
            (cursord-test-agree ws "f" decided 0))
          (undo-boundary)
          (let ((last-command nil)) (undo))
          (cursord-test-until "text and hunk"
            (and (equal back (buffer-string))
                 (equal '(1 . 1) (cursord-pending ws))
                 (= 1 (length (cursord-test-rows)))))
          (when said
            (cursord-test-until said (cursord-test-said-p said)))
          (cursord-test-go (car (cursord-test-rows)))
          (cursord-reject-hunk)
          (cursord-test-until "the reject"
            (and (equal mine (buffer-string))
                 (equal '(0 . 0) (cursord-pending ws))))
          (save-buffer)
          (cursord-test-agree ws "f" mine 0)
          (cursord-test-conflict-ends ws))))))

;; The save came first, the daemon took it for a reject, and refused the accept.
(ert-deftest cursord-test-save-right-after-an-accept ()
  "A save waits for the decision that is on its way."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) (inhibit-message t))
      (pcase-dolist (`(,command ,line) '((cursord-accept-hunk "agent\n")
                                         (cursord-accept-both "mine\nagent\n")
                                         (cursord-reject-hunk "mine\n")))
        (ert-info ((format "%s" command))
          (cursord-test-conflict ws)
          (cursord-test-go 3)
          (cursord-test-hold "diff/accept" "diff/reject")
          (call-interactively command)
          (run-at-time 0.05 nil #'cursord-test-release)
          (save-buffer)
          (should (equal (cursord-test-numbered 9 3 line) (buffer-string)))
          (should (equal (buffer-string) (cursord-test-get "f")))
          (cursord-test-until "the end" (equal '(0 . 0) (cursord-pending ws)))
          (cursord-test-conflict-ends ws))))))

(ert-deftest cursord-test-undo-of-both-beside-another-hunk ()
  "Undo of a saved accept of both sides leaves the person's line there once.
Before, the line that was saved came back as the agent's, beside the person's."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open)) (inhibit-message t)
           (mine (cursord-test-numbered 9 3 "mine\n" 8 "8\n"))
           (both (cursord-test-numbered 9 3 "mine\nagent\n" 8 "8\n")))
      (cursord-test-conflict ws 8 "8\n")
      (cursord-test-go 3)
      (cursord-accept-both)
      (cursord-test-until "the decision"
        (and (equal both (buffer-string))
             (equal '(1 . 1) (cursord-pending ws))))
      (save-buffer)
      (cursord-test-agree ws "f" both 1)
      (undo-boundary)
      (let ((last-command nil)) (undo))
      (cursord-test-hears "the accept is taken back; 2 hunks left in 1 file")
      (cursord-test-agree ws "f" both 2)
      (cursord-test-until "the marks" (equal '(4 9) (cursord-test-rows)))
      (cursord-test-go 4)
      (cursord-reject-hunk)
      (cursord-test-agree ws "f" mine 1)
      (cursord-test-conflict-ends ws))))

(ert-deftest cursord-test-no-question-about-a-shown-conflict ()
  "Emacs saves over a conflict without a question, also if only that is new.
It asks if another program has written the file since."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) (inhibit-message t)
          (mine (cursord-test-numbered 9 3 "mine\n")))
      (cursord-test-conflict ws)
      (cursord-test-hears (concat "f has unsaved changes, and was written"
                                  " meanwhile; nothing is lost,"
                                  " see M-x cursord-review"))
      (cursord-test-until "the file is known" (verify-visited-file-modtime))
      (save-buffer)
      (should (cursord-test-said-p
               "saved your lines over the agent.s in 1 conflict"))
      (cursord-test-agree ws "f" mine 0)
      (cursord-test-conflict-ends ws)
      (cursord-test-conflict ws)
      (cursord-test-until "the file is known" (verify-visited-file-modtime))
      (cursord-test-put "f" (cursord-test-numbered 9 3 "other\n"))
      (should-error (save-buffer) :type 'user-error)
      (cursord-test-conflict-ends ws))))

(ert-deftest cursord-test-merged-to-the-text-of-the-file ()
  "A buffer that is as its file after a merge is not called unsaved."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open)) (inhibit-message t)
           (before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 3 "agent\n" 8 "8\n")))
      (cursord-test-put "f" before)
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-go 3)
      (delete-line)
      (insert "agent\n")
      (cursord-test-plays (cursord-test-edits "f" before after))
      (cursord-test-turn ws "change it")
      (cursord-test-hears "changes on disk came into f; undo takes them out")
      (should-not (buffer-modified-p)))))

(provide 'cursord-conflicts-tests)
;;; cursord-conflicts-tests.el ends here
