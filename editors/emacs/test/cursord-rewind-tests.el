;;; cursord-rewind-tests.el --- Rewound sessions  -*- lexical-binding: t; -*-

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
(require 'cursord-why)
(require 'cursord-rewind)
(require 'cursord-again)
(require 'cursord-sessions)

(defmacro cursord-test-with-turns (&rest body)
  "Run BODY with WS, where TURNS, the ids of three, have made f \"3\\n\".
It was \"0\\n\" before, and each turn has said \"said N\".  The chat is
current."
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

(defun cursord-test-patch (buffer)
  "Return the text of BUFFER, a patch that a window shows."
  (should (get-buffer-window buffer))
  (with-current-buffer buffer
    (should (derived-mode-p 'diff-mode))
    (buffer-string)))

(defmacro cursord-test-asked (answer &rest body)
  "Run BODY, give ANSWER to yes or no; return what was asked: (TEXT . PATCH).
PATCH is what the buffer of the patch showed; nil for no such buffer."
  (declare (indent 1) (debug t))
  `(let (asked)
     (cl-letf (((symbol-function 'yes-or-no-p)
                (lambda (text)
                  (let ((buffer (get-buffer "*cursord-rewind: ws*")))
                    (should-not asked)
                    (setq asked (cons text
                                      (and buffer
                                           (cursord-test-patch buffer)))))
                  ,answer)))
       ,@body)
     (should-not (get-buffer "*cursord-rewind: ws*"))
     asked))

(ert-deftest cursord-test-rewind-in-the-chat ()
  "The turn at point and later ones go after a look at the patch; undo works."
  (cursord-test-with-turns
    (cl-flet ((press-at (text)
                (goto-char (point-min))
                (search-forward text)
                (call-interactively (key-binding (kbd "R")))))
      (pcase-let ((`(,text . ,patch) (cursord-test-asked nil
                                       (press-at "said 2"))))
        (should (equal "Take back 2 turns and 1 change of files? " text))
        (should (string-prefix-p
                 (concat "These prompts leave the session:\n"
                         "  prompt 2\n  prompt 3\n\ndiff --git ")
                 patch))
        (should (string-match-p "^-3\n\\+1$" patch)))
      (cursord-test-hears "nothing was taken back")
      (should (equal "3\n" (cursord-test-get "f")))
      (cursord-test-shows "said 1" "said 2" "said 3")
      (cursord-test-asked t (press-at "prompt 2"))
      (cursord-test-hears (concat "took back 2 turns and 1 change of files;"
                                  " M-x cursord-undo brings the files back"))
      (cursord-test-shows "said 1")
      (should (equal "1\n" (cursord-test-get "f")))
      (cursord-undo)
      (cursord-test-until "the file" (equal "3\n" (cursord-test-get "f")))
      (cursord-test-shows "said 1"))
    ;; Elsewhere one is asked for the turn.
    (cursord-test-plays (cursord-test-says "said 4"))
    (cursord-test-turn ws "prompt 4")
    (find-file (cursord-test-file "f"))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_ table &rest _)
                 (should (equal '("1: prompt 4" "2: prompt 1")
                                (all-completions "" table)))
                 "1: prompt 4")))
      (should (equal `("Take back 1 turn, no change of files? "
                       . ,(concat "This prompt leaves the session:\n"
                                  "  prompt 4\nNo file changes.\n"))
                     (cursord-test-asked t (cursord-rewind)))))
    (switch-to-buffer (cursord-chat-buffer ws))
    (cursord-test-shows "said 1")))

;; It was said only how many turns go.
(ert-deftest cursord-test-rewind-names-prompts ()
  "The first prompts are named, each on a line, and the others are counted."
  (should (equal (concat "These prompts leave the session:\n"
                         "  one two\n  " (make-string 69 ?x) "…\n"
                         "  … and 5 more\n")
                 (cursord--rewind-names
                  (list "one\n two" (make-string 200 ?x)) 7)))
  (cursord-test-with-turns
    (let ((cursord--rewind-most 2))
      (goto-char (point-min))
      (search-forward "prompt 1")
      (should (string-prefix-p
               (concat "These prompts leave the session:\n"
                       "  prompt 1\n  prompt 2\n  … and 1 more\n")
               (cdr (cursord-test-asked nil (cursord-rewind))))))))

(ert-deftest cursord-test-rewind-says-what-stays ()
  "What a person has written since stays, and is named before and after."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" (cursord-test-numbered 9))
                     (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits
                           "f" (cursord-test-numbered 9)
                           (cursord-test-numbered 9 3 "three\n" 7 "seven\n")))
      (cursord-test-turn ws "in words")
      (cursord-test-put "f" (cursord-test-numbered 9 3 "mine\n" 7 "seven\n"))
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-until "the prompt"
        (goto-char (point-min))
        (search-forward "in words" nil t))
      (should (string-search "f stays where it was changed since.\n"
                             (cdr (cursord-test-asked t (cursord-rewind)))))
      (cursord-test-hears (concat "took back 1 turn and 1 change of files;"
                                  " f stays where it was changed since;"
                                  " M-x cursord-undo brings the files back"))
      (should (equal (cursord-test-numbered 9 3 "mine\n")
                     (cursord-test-get "f"))))))

(ert-deftest cursord-test-rewind-and-unsaved-text ()
  "Unsaved text is in the way of a rewind before a turn is chosen.
Undo in a buffer after a rewind says what it brings back."
  (cursord-test-with-turns
    (find-file (cursord-test-file "f"))
    (buffer-enable-undo)
    (cursord-test-until "the text" (equal "3\n" (buffer-string)))
    (goto-char (point-max))
    (insert "mine\n")
    (cl-letf (((symbol-function 'cursord-read-title)
               (lambda (&rest _) (ert-fail "asked"))))
      (should (equal (concat "Nothing was taken back: f has unsaved changes;"
                             " save it first")
                     (cadr (should-error (cursord-rewind) :type 'user-error)))))
    (delete-region (pos-bol 0) (point-max))
    (cursord-test-until "the saved text" (not (buffer-modified-p)))
    (cl-letf (((symbol-function 'cursord-read-title) (lambda (_ _ first) first))
              (cursord-test-answers '(t)))
      (cursord-rewind))
    (cursord-test-until "the text" (equal "2\n" (buffer-string)))
    (undo-boundary)
    (let ((last-command nil) (inhibit-message t)) (undo))
    (should (equal "3\n" (buffer-string)))
    (cursord-test-hears (concat "what the rewind took back is here again, and"
                                " not on disk; M-x cursord-undo takes back the"
                                " rewind"))))

(ert-deftest cursord-test-edit-prompt-begins-anew ()
  "The last turn goes, and its prompt comes; not while a turn runs."
  (cursord-test-with-turns
    (pcase-let ((`(,text . ,patch) (cursord-test-asked t
                                     (cursord-edit-prompt))))
      (should (equal (concat "Take back 1 turn and 1 change of files,"
                             " to begin anew there? ")
                     text))
      (should (string-match-p "^-3\n\\+2$" patch)))
    (should (equal "2\n" (cursord-test-get "f")))
    (should (eq major-mode 'cursord-compose-mode))
    (should (equal "prompt 3" (buffer-string)))
    (insert " anew")
    (cursord-test-plays (cursord-test-waits "go") (cursord-test-says "said 5"))
    (cursord-compose-send)
    (switch-to-buffer (cursord-chat-buffer ws))
    (cursord-test-until "the turn" (cursord-busy-turns ws))
    (dolist (command '(cursord-edit-prompt cursord-rewind))
      (should (string-search "M-x cursord-cancel ends it"
                             (cadr (should-error (funcall command)
                                                 :type 'user-error)))))
    (write-region "" nil (cursord-test-file "../go") nil 'silent)
    (cursord-test-shows "said 1" "said 2" "said 5")
    (should (string-search "prompt 3 anew" (buffer-string)))))

(defmacro cursord-test-at-line (line &rest body)
  "Ask why LINE of the current buffer is as it is; run BODY where it is shown."
  (declare (indent 1) (debug t))
  `(save-window-excursion
     (cursord-test-go ,line)
     (cursord-why)
     (should (equal "*cursord why*" (buffer-name)))
     (prog1 (progn ,@body)
       (kill-buffer "*cursord why*"))))

(ert-deftest cursord-test-why ()
  "Lines lead to their prompts, also in unsaved text; never a wrong line."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" (cursord-test-numbered 9))
                     (cursord-test-open)))
          (text (lambda () (buffer-substring-no-properties (point-min)
                                                           (point-max))))
          of-region turn)
      (setq of-region (lambda (from to)
                        (save-window-excursion
                          (cursord-test-go to)
                          (push-mark nil t t)
                          (setq mark-active t transient-mark-mode t)
                          (cursord-test-go from)
                          (cursord-why)
                          (funcall text))))
      (cursord-test-plays (cursord-test-edits
                           "f" (cursord-test-numbered 9)
                           (cursord-test-numbered 9 3 "three\n" 7 "seven\n")))
      (setq turn (cursord-test-turn ws "Say it\nin words"))
      (find-file (cursord-test-file "f"))
      (cursord-test-at-line 3
        (should (<= (string-width header-line-format) 40)) ; of a narrow frame
        (should (string-match-p (concat "\\`Line 3  Say it in words\n"
                                        "  pending, [0-9 :-]+ (just now),"
                                        " Say it")
                                (funcall text))))
      (cursord-call ws :diff/accept '(:all t))
      (cursord-test-at-line 7
        (should (string-prefix-p "Line 7  Say it in words\n  accepted, "
                                 (funcall text))))
      (cursord-test-go 4)
      (cursord-why)
      (cursord-test-hears (concat "Line 4: no prompt is known; a person wrote"
                                  " it, or it is older than cursord"))
      ;; A region that ends at the beginning of a line does not have it.
      (should (string-match-p
               "\\`Line 2  a person's.*\nLine 3  Say it.*\n.*\nf\n\\'"
               (funcall of-region 2 4)))
      (save-window-excursion
        (cursord-why t)
        (should (string-match-p (concat "\\`Lines 1–2  a .*\nLine 3  .*\n.*\n"
                                        "Lines 4–6  .*\nLine 7  .*\n.*\n"
                                        "Lines 8–9  .*\nf\n\\'")
                                (funcall text))))
      ;; Unsaved changes between lines 5 and 6.
      (cursord-test-go 5)
      (end-of-line)
      (insert " of mine\nand more\nand more")
      (cursord-test-at-line 3
        (should (string-match-p
                 "\\`Line 3  Say .*\n.*\nf: the buffer has unsaved changes"
                 (funcall text))))
      (cursord-test-at-line 9
        (should (string-prefix-p "Line 9  Say " (funcall text))))
      (cursord-test-go 6)
      (cursord-why)
      (cursord-test-hears "Line 6: yours, not saved yet")
      (cursord-test-go 12)
      (should (string-search "no such line"
                             (cadr (should-error (cursord-why)
                                                 :type 'user-error))))
      (save-window-excursion
        (cursord-why t)
        (should (string-match-p (concat
                                 "\\`Lines 1–2  a person's.*\nLine 3  Say .*\n"
                                 ".*\nLine 4  a .*\n"
                                 "Lines 5–7  yours, not saved yet\n"
                                 "Line 8  a .*\nLine 9  Say .*\n.*\n"
                                 "Lines 10–11  a .*\n"
                                 "f: the buffer has unsaved changes\n\\'")
                                (funcall text))))
      ;; More changes, around lines that the file has: it was not said of those.
      (cursord-test-go 1)
      (insert "above\n")
      (goto-char (point-max))
      (insert "below")
      (cursord-test-at-line 4
        (should (string-prefix-p "Line 4  Say " (funcall text))))
      (cursord-test-at-line 10
        (should (string-prefix-p "Line 10  Say " (funcall text))))
      (should (string-match-p (concat "\\`Line 5  a person's.*\n"
                                      "Lines 6–8  yours.*\n"
                                      "Line 9  a person's.*\nLine 10  Say ")
                              (funcall of-region 5 11)))
      ;; Line 7 of the disk, moved.
      (cursord-test-go 10)
      (let ((line (delete-and-extract-region (pos-bol) (pos-bol 2))))
        (cursord-test-go 2)
        (insert line))
      (cursord-test-at-line 2
        (should (string-prefix-p "Line 2  Say " (funcall text))))
      ;; RET goes to the prompt, also if another session is shown.
      (cursord-talk-with ws nil)
      (cursord-test-plays)
      (cursord-test-turn ws "another")
      (cursord-test-go 5)
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
      (cursord-test-at-line 5
        (should (string-match-p (concat "\\`Line 5  (the prompt was deleted)\n"
                                        "  accepted, .*a session that was"
                                        " deleted")
                                (funcall text)))
        (should-error (cursord-why-go) :type 'user-error))
      (with-temp-buffer
        (should-error (cursord-why) :type 'user-error)))))

;; It said that the prompt was deleted, which sounds like a deleted session.
(ert-deftest cursord-test-why-of-a-rewound-turn ()
  "Of lines whose turn was taken back, it is said that a rewind has done that."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-open)))
           (turn (progn (cursord-test-plays
                         (cursord-test-edits "f" "one\n" "two\n"))
                        (cursord-test-turn ws "change it"))))
      (cursord-call ws :session/rewind
                    (list :sessionId (plist-get turn :sessionId)
                          :turnId (plist-get turn :id) :files :json-false))
      (find-file (cursord-test-file "f"))
      (cursord-test-at-line 1
        (should (looking-at-p (concat "Line 1  (its turn was taken back: a"
                                      " rewind has removed it, with its prompt)"
                                      "\n  pending, .*, change it$")))))))

(ert-deftest cursord-test-tree-of-forks ()
  "Forks are below their sessions, in the order of their making."
  (cl-flet ((tree (&rest sessions)
              (mapcar (lambda (node)
                        (cons (intern (plist-get (car node) :id)) (cdr node)))
                      (cursord--session-tree
                       (mapcar (lambda (one)
                                 `(:id ,(symbol-name (car one))
                                       :createdAt ,(format "%02d" (cadr one))
                                       ,@(and (cddr one)
                                              `(:forkedFrom
                                                (:sessionId
                                                 ,(symbol-name (caddr one)))))))
                               sessions)))))
    (should (equal '() (tree)))
    (should (equal '((a . "") (b . "")) (tree '(a 1) '(b 2))))
    ;; The tree of the latest, e, is first; its sessions are not in that order.
    (should (equal '((a . "") (c . "├ ") (e . "│ └ ") (d . "└ ") (x . ""))
                   (tree '(e 5 c) '(x 9) '(d 4 a) '(c 3 a) '(a 1))))
    ;; What it came from is gone, or is itself.
    (should (equal '((b . "") (c . "└ ")) (tree '(c 2 b) '(b 1 gone))))
    (should (equal '((c . "") (a . "") (b . ""))
                   (tree '(c 3 b) '(a 1 b) '(b 2 a))))
    (let ((chain (mapcar (lambda (n)
                           (list (intern (format "n%d" n)) n
                                 (intern (format "n%d" (1- n)))))
                         (number-sequence 1 500))))
      (should (equal 40 (length
                         (cdar (last (apply #'tree '(n0 0) chain)))))))))

(provide 'cursord-rewind-tests)
;;; cursord-rewind-tests.el ends here
