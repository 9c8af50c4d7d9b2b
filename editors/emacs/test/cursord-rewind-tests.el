;;; cursord-rewind-tests.el --- Sessions that go back  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-chat)
(require 'cursord-why)

(defmacro cursord-test-with-turns (&rest body)
  "Run BODY with WS, where TURNS, the ids of three, have made f \"3\\n\".
It was \"0\\n\" before, and each turn has said \"said N\".  The chat is current."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let ((ws (progn (cursord-test-put "f" "0\n") (cursord-test-open)))
           turns)
       (dolist (n '(1 2 3))
         (cursord-test-plays (cursord-test-says (format "said %d" n))
                             (cursord-test-edits "f" (format "%d\n" (1- n))
                                                 (format "%d\n" n)))
         (push (plist-get (cursord-test-turn ws (format "prompt %d" n)) :id)
               turns))
       (setq turns (nreverse turns))
       (switch-to-buffer (cursord--chat-buffer-create ws))
       (cursord-test-shows "said 1" "said 2" "said 3")
       ,@body)))

(defun cursord-test-shows (&rest texts)
  "Wait until the current buffer has TEXTS, in order, and no other \"said\"."
  (cursord-test-until (format "%s" texts)
    (let ((all (buffer-string)) said (at 0))
      (while (setq at (string-match "said [0-9]" all at))
        (push (match-string 0 all) said)
        (setq at (match-end 0)))
      (equal texts (nreverse said)))))

(ert-deftest cursord-test-chat-drops-removed-turns ()
  "A chat takes turns that a rewind elsewhere removes out, and goes on."
  (cursord-test-with-turns
    (should (equal turns
                   (mapcar (lambda (n)
                             (goto-char (point-min))
                             (search-forward (format "said %d" n))
                             (cursord-transcript-turn-at cursord-transcript
                                                         (point)))
                           '(1 2 3))))
    (let ((before (progn (goto-char (point-min))
                         (search-forward "prompt 2")
                         (buffer-substring (point-min) (pos-bol -2)))))
      (cursord-call ws :session/rewind
                    (list :sessionId (cursord-workspace-current ws)
                          :turnId (nth 1 turns)))
      (cursord-test-shows "said 1")
      (should-not (string-search "prompt 2" (buffer-string)))
      (should (string-prefix-p (string-trim-right before)
                               (buffer-string)))
      (should (= 1 (hash-table-count (cursord-transcript-turns
                                      cursord-transcript)))))
    (should (equal "1\n" (cursord-test-get "f")))
    ;; What comes next is at the end.
    (cursord-test-plays (cursord-test-says "said 4"))
    (cursord-test-turn ws "prompt 4")
    (cursord-test-shows "said 1" "said 4")
    ;; All of it is as a chat that reads it anew shows it.
    (let ((text (buffer-string)))
      (cursord-chat-resync)
      (cursord-test-until "the same" (equal text (buffer-string))))))

(defmacro cursord-test-at-line (line &rest body)
  "Ask why LINE of the current buffer is as it is; run BODY where that is shown."
  (declare (indent 1) (debug t))
  `(save-window-excursion
     (cursord-test-go ,line)
     (cursord-why)
     (should (equal "*cursord why*" (buffer-name)))
     (prog1 (progn ,@body)
       (kill-buffer "*cursord why*"))))

(defun cursord-test-no-reason (line)
  "Return the error of asking why LINE of the current buffer is as it is."
  (cursord-test-go line)
  (cadr (should-error (cursord-why) :type 'user-error)))

(ert-deftest cursord-test-why ()
  "Lines lead to their prompts, also in unsaved text; never a wrong line."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" (cursord-test-numbered 9))
                     (cursord-test-open)))
          (text (lambda () (buffer-substring-no-properties (point-min)
                                                           (point-max))))
          turn)
      (cursord-test-plays (cursord-test-edits
                           "f" (cursord-test-numbered 9)
                           (cursord-test-numbered 9 3 "three\n" 7 "seven\n")))
      (setq turn (cursord-test-turn ws "Say it\nin words"))
      (find-file (cursord-test-file "f"))
      (cursord-test-at-line 3
        (should (string-match-p "\\`Line 3  Say it in words\n  pending, [0-9 :-]+ (just now), Say it"
                                (funcall text))))
      (cursord-call ws :diff/accept '(:all t))
      (cursord-test-at-line 7
        (should (string-prefix-p "Line 7  Say it in words\n  accepted, "
                                 (funcall text))))
      (cursord-test-go 4)
      (cursord-why)
      (cursord-test-hears "Line 4: no prompt is known; a person wrote it, or it is older than cursord")
      ;; A region that ends at the beginning of a line does not have it.
      (cl-flet ((of-region (from to)
                  (save-window-excursion
                    (cursord-test-go to)
                    (push-mark nil t t)
                    (setq mark-active t transient-mark-mode t)
                    (cursord-test-go from)
                    (cursord-why)
                    (funcall text))))
        (should (string-match-p "\\`Line 2  a person's.*\nLine 3  Say it.*\n.*\nf\n\\'"
                                (of-region 2 4))))
      (save-window-excursion
        (cursord-why t)
        (should (string-match-p "\\`Lines 1–2  a .*\nLine 3  .*\n.*\nLines 4–6  .*\nLine 7  .*\n.*\nLines 8–9  .*\nf\n\\'"
                                (funcall text))))
      ;; Unsaved changes between lines 5 and 6.
      (cursord-test-go 5)
      (end-of-line)
      (insert " of mine\nand more\nand more")
      (cursord-test-at-line 3
        (should (string-match-p "\\`Line 3  Say .*\n.*\nf: the buffer has changes elsewhere"
                                (funcall text))))
      (cursord-test-at-line 9
        (should (string-prefix-p "Line 9  Say " (funcall text))))
      (dolist (line '(5 6 7))
        (should (string-match-p "not on the disk" (cursord-test-no-reason line))))
      (should (string-match-p "no such line" (cursord-test-no-reason 12)))
      (save-window-excursion
        (cursord-why t)
        (should (string-search "the lines on the disk; the buffer has changes"
                               (funcall text))))
      ;; RET goes to the prompt, also if another session is shown.
      (cursord-talk-with ws nil)
      (cursord-test-plays)
      (cursord-test-turn ws "another")
      (cursord-test-go 3)
      (cursord-why)
      (call-interactively (key-binding (kbd "RET")))
      (cursord-test-until "the prompt"
        (and (eq major-mode 'cursord-chat-mode)
             (equal (plist-get turn :sessionId)
                    (cursord-workspace-current ws))
             (looking-at-p "## You\n\nSay it\nin words")))
      ;; Of a deleted session only the state is known.
      (cursord-call ws :session/delete
                    (list :sessionId (plist-get turn :sessionId)))
      (cursord-test-until "the delete"
        (null (gethash (plist-get turn :sessionId)
                       (cursord-workspace-sessions ws))))
      (switch-to-buffer "f")
      (cursord-test-at-line 3
        (should (string-match-p "\\`Line 3  (the prompt was deleted)\n  accepted, .*a session that was deleted"
                                (funcall text)))
        (should-error (cursord-why-go) :type 'user-error))
      (with-temp-buffer
        (should-error (cursord-why) :type 'user-error)))))

(provide 'cursord-rewind-tests)
;;; cursord-rewind-tests.el ends here
