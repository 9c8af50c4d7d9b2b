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

(provide 'cursord-rewind-tests)
;;; cursord-rewind-tests.el ends here
