;;; cursord-tests.el --- The package against a real daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What can be seen without a terminal; this file and its likes beside it.
;; "go test ./cmd/cursord/tests/emacs -run TestEmacsERT" runs it; by hand,
;; with `cursord' on PATH:
;;
;;   emacs -Q --batch -L editors/emacs \
;;     -l editors/emacs/test/cursord-tests.el -f ert-run-tests-batch-and-exit
;;
;; Tests that drive Emacsen from outside, some by keys in a terminal, are in
;; cmd/cursord/tests/emacs.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-review)
(require 'cursord-compare)
(require 'cursord-first)

;;;; The main job

(ert-deftest cursord-test-main-job ()
  "Ask, be told, accept, reject, take back: buffers, disk and daemon agree."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 15 "15a\n15b\n" 25 ""))
           ws)
      (cursord-test-put "f" before)
      (setq ws (cursord-test-open))
      (cursord-test-plays (cursord-test-says "I change f. ")
                          (cursord-test-edits "f" before after)
                          (cursord-test-says "Done."))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (cursord-test-go 20)
        (cursord--chat-buffer-create ws)
        (should (equal "completed"
                       (plist-get (cursord-test-turn ws "change f") :status)))
        (cursord-test-agree ws "f" after 3)
        (should (equal '(5 15 26) (cursord-test-rows)))
        (should (looking-at "line 20$"))
        (should (eq 'review (cursord-state ws)))
        (cursord-test-until "the chat"
          (string-match-p "\\`\n## You\n\nchange f\n\n## Cursor\n\nI change f\\. ?\n\n✓ .*f \\+3 −3\n\\(?:  │ [-+].*\n\\)+\nDone\\.\n\\'"
                          (with-current-buffer (cursord-chat-buffer ws)
                            (buffer-string))))

        (cursord-test-go 5)
        (cursord-accept-hunk)
        (cursord-test-agree ws "f" after 2)
        (cursord-test-go 15)
        (cursord-reject-hunk)
        (let ((one (cursord-test-numbered 30 5 "five\n" 25 "")))
          (cursord-test-agree ws "f" one 1)
          (cursord-undo)
          (cursord-test-agree ws "f" after 2)
          (cursord-redo)
          (cursord-test-agree ws "f" one 1)
          ;; What a person undoes in the buffer is that decision too.
          (let ((last-command nil)) (undo))
          (cursord-test-agree ws "f" after 2)
          (setq cursord-test-answers '(t))
          (cursord-reject-all)
          (cursord-test-agree ws "f" (cursord-test-numbered 30 5 "five\n") 0)
          (should (eq 'idle (cursord-state ws))))))))

(ert-deftest cursord-test-unsaved-text ()
  "In a buffer with changes a reject is one edit, and the disk stays."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 20))
           (after (cursord-test-numbered 20 5 "five\n" 15 "fifteen\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (with-current-buffer (find-file-noselect (cursord-test-file "f"))
        (buffer-enable-undo)
        (cursord-test-turn ws "change f")
        (cursord-test-agree ws "f" after 2)
        (goto-char (point-min))
        (insert "mine\n")
        (undo-boundary)
        (cursord-test-until "the marks" (equal '(6 16) (cursord-test-rows)))
        (cursord-reject-file)
        (cursord-test-until "the edit"
          (equal (concat "mine\n" before) (buffer-string)))
        (should (equal after (cursord-test-get "f")))
        (let ((last-command nil)) (undo))
        (should (equal (concat "mine\n" after) (buffer-string)))
        (cursord-test-until "the hunks" (equal '(6 16) (cursord-test-rows)))
        (let ((inhibit-message t)) (save-buffer))
        (cursord-test-agree ws "f" (concat "mine\n" after) 2)))))

(ert-deftest cursord-test-review-buffer ()
  "The review is a unified diff that goes with what happens."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n")
                          (cursord-test-edits "n" nil "new\n"))
      (cursord-test-turn ws "change")
      (save-window-excursion
        (cursord-review)
        (should (derived-mode-p 'diff-mode))
        (cursord-test-until "the diff"
          (equal "diff --git a/f b/f\n--- a/f\n+++ b/f\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\ndiff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1,1 @@\n+new\n"
                 (buffer-substring-no-properties (point-min) (point-max))))
        (cursord-next-hunk)
        (should (looking-at "@@ -0,0"))
        (cursord-reject-hunk)
        (cursord-test-until "the file to go" (null (cursord-test-get "n")))
        (cursord-test-until "point on the other" (looking-at "@@ -1,3"))
        (cursord-accept-file)
        (cursord-test-until "the end"
          (equal "Nothing to review.\n" (buffer-string)))
        (should (equal "one\n2\nthree\n" (cursord-test-get "f")))))))

(ert-deftest cursord-test-comparing-waits-for-the-diff ()
  "What was typed is told at once; until the diff of it is there, nothing is compared."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           compared)
      (cursord-test-plays (cursord-test-edits "f" before
                                              (cursord-test-numbered 9 5
                                                                     "five\n")))
      (cl-letf (((symbol-function 'ediff-buffers)
                 (lambda (a &rest _) (setq compared a))))
        (with-current-buffer (find-file-noselect (cursord-test-file "f"))
          (cursord-test-turn ws "change f")
          (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
          (goto-char (point-min))
          (insert "mine\n")
          (cursord--tell-text (cursord-document))
          (should-error (cursord-ediff-file) :type 'user-error)
          (cursord-test-until "the diff"
            (cursord--diff-fits-p (cursord-document)))
          (cursord-ediff-file)
          (should (equal (concat "mine\n" before)
                         (with-current-buffer compared (buffer-string))))
          (kill-buffer compared))))))

(ert-deftest cursord-test-review-style ()
  "A review begins where the person likes it to."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                     (cursord-test-open)))
          (shown (lambda () (buffer-name (window-buffer)))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n"))
      (cursord-test-turn ws "change")
      (let ((cursord-review-style 'inline))
        (save-window-excursion
          (cursord-review)
          (should (equal "f" (funcall shown)))
          (should (looking-at "2$"))
          (cursord-test-until "the buffer's own hunk" (cursord-hunk-at))
          (cursord-review)
          (should (derived-mode-p 'cursord-review-mode))))
      (let ((cursord-review-style 'inline))
        (save-window-excursion
          (cursord-review '(4))
          (should (derived-mode-p 'cursord-review-mode))))
      (let ((cursord-review-style 'ediff) compared)
        (cl-letf (((symbol-function 'ediff-buffers)
                   (lambda (a b &rest _) (setq compared (list a b)))))
          (save-window-excursion
            (cursord-review)))
        (should (equal '("one\ntwo\nthree\n" "one\n2\nthree\n")
                       (mapcar (lambda (buffer)
                                 (with-current-buffer buffer (buffer-string)))
                               compared)))
        (kill-buffer (car compared))))))

;;;; Asking

(ert-deftest cursord-test-isolation ()
  "A new session works where it was chosen, and what it did comes by accepting it."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-workspace-open)))
           (sessions (lambda ()
                       (append (plist-get (cursord-call ws :session/list nil)
                                          :sessions) nil))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n"))
      (let ((cursord-isolation 'copy))
        (setq cursord-test-answers '(nil))
        (should-error (cursord-send ws "change f") :type 'user-error)
        (cursord-test-until "nothing is left of what could not be asked"
          (null (funcall sessions)))
        (setq cursord-test-answers '(t))
        (with-current-buffer (find-file-noselect (cursord-test-file "f"))
          (cursord-test-turn ws "change f")
          (cursord-test-agree ws "f" "one\ntwo\nthree\n" 1)
          (should (equal "copy" (plist-get (cursord-session ws) :isolation)))
          (cursord-test-go 2)
          (cursord-accept-hunk)
          (cursord-test-agree ws "f" "one\n2\nthree\n" 0)
          (cursord-test-plays (cursord-test-edits "f" "one\n2\nthree\n"
                                                  "1\n2\nthree\n"))
          ;; What is chosen counts more, and for new ones.
          (cursord-set-isolation "none")
          (cursord-test-until "a new session"
            (null (cursord-workspace-current ws)))
          (cursord-test-turn ws "change f")
          (cursord-test-agree ws "f" "1\n2\nthree\n" 1)
          (should (equal '("none" "copy")
                         (mapcar (lambda (session)
                                   (plist-get session :isolation))
                                 (funcall sessions))))
          (let ((before (cursord-workspace-current ws)))
            (cursord-set-isolation "none")
            (cursord-test-until "what is said"
              (equal "none" (plist-get (cursord-workspace-next ws) :isolation)))
            (should (equal before (cursord-workspace-current ws)))))))))

(ert-deftest cursord-test-permits ()
  "What the agent may do is chosen for the next session, and for one that there is; images go along once."
  (cursord-test-with-world
    (let* ((cursord-show-chat-on-ask nil)
           (ws (cursord-workspace-open))
           (beside (file-truename (make-temp-file "beside" t)))
           (said (lambda ()
                   (with-temp-buffer
                     (insert-file-contents (getenv "CURSORD_FAKE_LOG"))
                     (goto-char (point-max))
                     (forward-line -1)
                     (json-parse-buffer :object-type 'plist)))))
      (cursord-test-put "shot.png" "GIF89a, whatever its name is")
      (cursord-test-put "anim.gif" "GIF89a")
      (setq cursord-test-answers '(t t))
      (cursord-talk-with ws nil)
      (cursord-set-sandbox "enabled")
      (cursord-set-auto-review t)
      (cursord-add-directory beside)
      (cursord-add-image (cursord-test-file "anim.gif"))
      (cursord-test-turn ws "see @shot.png")
      (let* ((run (funcall said))
             (args (append (plist-get run :args) nil)))
        (should (equal "enabled" (cadr (member "--sandbox" args))))
        (should (member "--auto-review" args))
        (should (equal beside (cadr (member "--add-dir" args))))
        (should (string-search "shot.png\" />" (plist-get run :prompt)))
        (should (string-search "anim.gif\" />" (plist-get run :prompt))))
      (should (equal "sandbox · auto-review · +1 dir"
                     (cursord--permits-word (cursord-session ws))))
      (cursord-set-sandbox "default")
      (cursord-set-auto-review nil)
      (cursord-add-directory nil)
      (cursord-test-turn ws "again")
      (let* ((run (funcall said))
             (args (append (plist-get run :args) nil)))
        (should-not (seq-intersection '("--sandbox" "--auto-review" "--add-dir")
                                      args))
        (should-not (string-search "<image" (plist-get run :prompt))))
      (delete-directory beside))))

(ert-deftest cursord-test-refused-call ()
  "Why a call was refused is seen without unfolding."
  (cursord-test-with-world
    (let* ((cursord-show-chat-on-ask nil)
           (ws (cursord-workspace-open)))
      (should (equal "✗ npm test (rejected: refused by policy)\n  │ refused by policy"
                     (cursord--tool-text ws
                                         '(:status "rejected"
                                                   :tool (:title "npm test"
                                                                 :error "refused by policy"))))))))

(ert-deftest cursord-test-compose ()
  "What is written stays until it is sent; earlier prompts come back."
  (cursord-test-with-world
    (let ((cursord-prompt-history '("second" "first"))
          (cursord-show-chat-on-ask nil)
          (ws (cursord-workspace-open)))
      (cursord-test-put "src/main.go" "package main\n")
      (save-window-excursion
        (cursord-compose)
        (insert "a draft @src/ma")
        (completion-at-point)
        (should (equal "a draft @src/main.go" (buffer-string)))
        (cursord-previous-prompt)
        (should (equal "second" (buffer-string)))
        (cursord-previous-prompt)
        (should (equal "first" (buffer-string)))
        (should-error (cursord-previous-prompt) :type 'user-error)
        (cursord-next-prompt)
        (cursord-next-prompt)
        (should (equal "a draft @src/main.go" (buffer-string)))
        (cursord-compose-abort)
        (cursord-compose)
        (should (equal "a draft @src/main.go" (buffer-string)))
        ;; Nobody has said yet that agents may work here.
        (setq cursord-test-answers '(nil))
        (should-error (cursord-compose-send) :type 'user-error)
        (should (equal "a draft @src/main.go" (buffer-string)))
        (setq cursord-test-answers '(t))
        (cursord-compose-send)
        (should (equal "a draft @src/main.go" (car cursord-prompt-history)))
        (cursord-test-until "the end of the turn"
          (and (> (hash-table-count (cursord-workspace-turns ws)) 0)
               (null (cursord-busy-turns ws))))
        (with-temp-buffer
          (insert-file-contents (expand-file-name "runs" cursord-test-dir))
          (should (search-forward "src/main.go" nil t)))))))

(ert-deftest cursord-test-chat-is-read-only ()
  "History cannot be edited, is told once, and point that is not at the end stays."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-says "one\ntwo\n")
                          (cursord-test-waits "go")
                          (cursord-test-says "three\nfour"))
      (with-current-buffer (cursord--chat-buffer-create ws)
        (cursord-send ws "count")
        (cursord-test-until "the first words"
          (save-excursion (goto-char (point-min)) (search-forward "two" nil t)))
        (goto-char (point-min))
        (search-forward "one")
        (let ((inhibit-read-only nil) (buffer-read-only nil))
          (should-error (insert "x") :type 'text-read-only)
          (should-error (delete-char -1) :type 'text-read-only)
          (write-region "" nil (expand-file-name "go" cursord-test-dir) nil
                        'silent)
          (cursord-test-until "the last words"
            (string-suffix-p "one\ntwo\nthree\nfour\n" (buffer-string)))
          (should (looking-back "\none" 1))
          (cursord-chat-resync)
          (cursord-test-until "all of it again"
            (equal "\n## You\n\ncount\n\n## Cursor\n\none\ntwo\nthree\nfour\n"
                   (buffer-substring-no-properties (point-min)
                                                   (point-max)))))))))

(ert-deftest cursord-test-reconnects ()
  "When the program that leads to the daemon ends, all goes on."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" "one\n" "two\n"))
      (let (cursord-tell-turn-end) (cursord-test-turn ws "change f"))
      (kill-process (jsonrpc--process (cursord-connection-to nil)))
      (cursord-test-until "the loss" (null (cursord-workspace-ready ws)))
      (cursord-test-until "another connection" (cursord-workspace-ready ws))
      (should (equal '(1 . 1) (cursord-pending ws)))
      (should (equal "no such turn none"
                     (condition-case err
                         (cursord-call ws :turn/wait '(:turnId "none"))
                       (user-error (cadr err))))))))

(ert-deftest cursord-test-errors-stay-where-they-are ()
  "A receiver that fails is logged, and nothing else is lost."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open)) told
           (breaks (lambda (&rest _) (error "A view is broken")))
           (hears (lambda (event &rest _) (push event told))))
      (unwind-protect
          (progn
            (add-hook 'cursord-event-functions breaks -90)
            (add-hook 'cursord-event-functions hears 90)
            (cursord-test-turn ws "go on")
            (should (memq 'turn told))
            (with-current-buffer "*cursord-log*"
              (goto-char (point-min))
              (should (search-forward "A view is broken" nil t))))
        (remove-hook 'cursord-event-functions breaks)
        (remove-hook 'cursord-event-functions hears)))))

(ert-deftest cursord-test-the-chat-takes-one-window ()
  "Asking from the chat leaves the other windows what they show."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (save-window-excursion
        (delete-other-windows)
        (let ((other (selected-window))
              (here (split-window nil nil 'below)))
          (set-window-buffer other (get-buffer-create "*other*"))
          (select-window here)
          (switch-to-buffer (cursord--chat-buffer-create ws))
          (cursord-show-chat ws)
          (should (equal "*other*" (buffer-name (window-buffer other))))
          (should (eq here (selected-window)))
          (should (length= (window-list) 2))
          (select-window other)
          (delete-other-windows)
          (cursord-show-chat ws)
          (should (get-buffer-window (cursord-chat-buffer ws)))
          (should (eq other (selected-window))))))))

;;;; What is told while one waits

(defmacro cursord-test-receiving-at-once (&rest body)
  "Run BODY, and have nothing received until the end of a turn has come."
  (declare (indent 0) (debug t))
  `(let ((cursord--slice 30) come
         (notified (symbol-function 'cursord--notified))
         (drain (symbol-function 'cursord--drain)))
     (cl-letf (((symbol-function 'cursord--notified)
                (lambda (conn method params)
                  (when (and (eq method 'turn/changed)
                             (cursord-turn-ended-p (plist-get params :turn)))
                    (setq come t))
                  (funcall notified conn method params)))
               ((symbol-function 'cursord--drain)
                (lambda ()
                  (if come (funcall drain)
                    (setq cursord--timer nil)
                    (cursord--wake 0.02)))))
       ,@body)))

(ert-deftest cursord-test-all-of-a-turn-behind-the-answer ()
  "What comes with the answer that names a new session is shown, and nothing has to be read."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open))
           (numbers (number-sequence 1 130)) read)
      (cursord-test-plays (mapcar (lambda (i)
                                    (list (cursord-test-says (format "number %d"
                                                                     i))
                                          (cursord-test-edits (format "f%d" i)
                                                              nil "x\n")))
                                  numbers))
      (with-current-buffer (cursord--chat-buffer-create ws)
        (cursord-test-until "the session" (cursord-workspace-chosen ws))
        (let ((request (symbol-function 'cursord-request)))
          (cl-letf (((symbol-function 'cursord-request)
                     (lambda (ws method &rest more) (push method read)
                       (apply request ws method more))))
            (cursord-test-receiving-at-once
              (cursord-test-turn ws "count"))))
        (should-not (seq-intersection read '(:session/read :item/read)))
        (dolist (i numbers)
          (goto-char (point-min))
          (should (search-forward (format "\nnumber %d\n" i) nil t))
          (should (search-forward (format "f%d" i) nil t)))
        (should-not (cursord-transcript-oldest cursord-transcript))))))

(defmacro cursord-test-with-transcript (&rest body)
  "Run BODY in a buffer that shows a session without a daemon.
`asked' has what was asked: lists of a method, its parameters, and the function
that takes the answer."
  (declare (indent 0) (debug t))
  `(with-temp-buffer
     (let ((cursord--stored 0) asked)
       (cl-letf (((symbol-function 'cursord-request)
                  (lambda (_ws method params &rest more)
                    (push (list method params (plist-get more :then)) asked))))
         (cursord-transcript-clear (cursord--workspace-make :root "/w/"
                                                            :path "/w") "s")
         (cl-flet ((turn (seq status)
                     (cursord-transcript-turn cursord-transcript
                                              (cursord-test-object seq status
                                                                   :id "t"
                                                                   :prompt "go")))
                   (item (seq status text &optional read)
                     (cursord-transcript-item cursord-transcript
                                              (cursord-test-item seq status
                                                                 text) read))
                   (delta (offset text)
                     (cursord-transcript-delta cursord-transcript
                                               (list :itemId "i" :turnId "t"
                                                     :offset offset
                                                     :text text)))
                   (answer (result)
                     (cursord-test-until "a question" (sit-for 0.01) asked)
                     (funcall (nth 2 (pop asked)) result))
                   (shown () (cursord-transcript-flush cursord-transcript)
                     (buffer-substring-no-properties (point-min) (point-max))))
           (ignore #'turn #'item #'delta #'answer #'shown)
           ,@body)))))

(defun cursord-test-object (seq status &rest more)
  "An object with SEQ, STATUS and MORE."
  `(:seq ,seq :status ,status :createdAt "2026" :turnId "t" ,@more))

(defun cursord-test-item (seq status text)
  "What the agent said, as an item with SEQ, STATUS and TEXT."
  (apply #'cursord-test-object seq status :id "i" :index 0 :kind "assistant"
         (and text (list :text text))))

(ert-deftest cursord-test-an-answer-behind-the-end ()
  "What was read of an item takes nothing from what was told since, also before its turn is known."
  (dolist (known '(t nil))
    (cursord-test-with-transcript
      (when known (turn 1 "running"))
      (item 2 "running" nil)
      (delta 0 "one ")
      (item 2 "running" "o" t)
      (item 2 "running" nil t)
      (delta 4 "two")
      (item 9 "completed" "one two three")
      (item 2 "running" "one" t)
      (item 1 "running" nil t)
      (unless known (turn 1 "running"))
      (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\none two three\n"
                     (shown)))
      (should (equal '(:session/read) (mapcar #'car asked))))))

(ert-deftest cursord-test-text-behind-a-gap ()
  "Text of which the beginning was not told is shown once that was read, and is asked for once."
  (cursord-test-with-transcript
    (setq asked nil)
    (turn 1 "running")
    (item 2 "running" nil)
    (delta 8 "three ")
    (delta 14 "four ")
    (answer `(:item ,(cursord-test-item 2 "running" "one tw")))
    (delta 19 "five ")
    (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\none tw\n" (shown)))
    ;; The daemon had not stored more yet.
    (answer `(:item ,(cursord-test-item 2 "running" "one two three f")))
    (delta 24 "six")
    (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\none two three four five six\n" (shown)))
    (delta 40 "lost")
    (item 3 "completed" "all of it")
    (sit-for 0.02)
    (should-not asked)
    (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\nall of it\n"
                   (shown)))))

(ert-deftest cursord-test-older-messages-are-older ()
  "A page of which all was told already does not hide what is before it."
  (cursord-test-with-transcript
    (cl-labels ((page (&rest numbers)
                  `(:turns ,(if (memq 1 numbers)
                                (vector (cursord-test-object 1 "running" :id "t"
                                                             :prompt "go"))
                              [])
                           :more ,(if (memq 1 numbers) :json-false t)
                           :items ,(vconcat (mapcar #'numbered numbers))))
                (numbered (n)
                  (cursord-test-object n "completed" :id (format "i%d" n)
                                       :index n :kind "assistant"
                                       :text (format "%d" n))))
      (turn 1 "running")
      (dolist (n '(3 4 5))
        (cursord-transcript-item cursord-transcript (numbered n)))
      (answer (page 4 5))
      (answer (page 2 3))
      (should (string-prefix-p "Load older" (shown)))
      (should-not asked)
      (cursord-transcript-load cursord-transcript)
      (answer (page 1))
      (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\n1\n\n2\n\n3\n\n4\n\n5\n" (shown))))))

;;;; Keys

(ert-deftest cursord-test-keys ()
  "Nothing is bound that the user has not bound, and \\`C-c C-c' destroys nothing."
  (should-not (where-is-internal 'cursord-ask global-map))
  (should-not (where-is-internal 'cursord global-map))
  (should (keymapp (symbol-function 'cursord-command-map)))
  (dolist (map (list cursord-review-mode-map cursord-chat-mode-map
                     cursord-compose-mode-map cursord-hunk-map
                     cursord-hunk-command-map))
    (let ((command (keymap-lookup map "C-c C-c")))
      ;; A number is for a prefix of it.
      (should (memq command
                    '(nil 1 cursord-review-visit cursord-compose
                          cursord-compose-send)))))
  (pcase-dolist (`(,key . ,command)
                 '(("n" . cursord-next-hunk) ("p" . cursord-previous-hunk)
                   ("N" . cursord-review-next-file)
                   ("P" . cursord-review-previous-file)
                   ("a" . cursord-accept-hunk) ("r" . cursord-reject-hunk)
                   ("u" . cursord-undo)
                   ("A" . cursord-accept-file) ("R" . cursord-reject-file)
                   ("C-c C-a" . cursord-accept-all)
                   ("C-c C-r" . cursord-reject-all) ("e" . cursord-ediff-file)
                   ("s" . cursord-smerge-file) ("m" . cursord-comment-hunk)
                   ("RET" . cursord-review-visit) ("q" . quit-window)))
    (should (eq command (keymap-lookup cursord-review-mode-map key))))
  (dolist (command '(cursord-next-hunk cursord-previous-hunk cursord-accept-hunk
                                       cursord-reject-hunk cursord-undo
                                       cursord-redo))
    (should (eq 'cursord-hunk-repeat-map (get command 'repeat-map)))))

;;;; Texts

(defun cursord-test-random-text (words)
  "A text of lines, of which many are alike, made of WORDS."
  (let (lines)
    (dotimes (_ (random 30) (apply #'concat lines))
      (push (concat (nth (random (length words)) words) "\n") lines))))

(ert-deftest cursord-test-replace ()
  "A buffer gets any other text, markers stay at lines that stay, and one undo leads back."
  (random "cursord")
  (dotimes (_ 300)
    (let* ((words '("" "a" "b" "some words" "ä 😀" "}" "other words"))
           (old (cursord-test-random-text words))
           (new (cursord-test-random-text words))
           (end (seq-random-elt '("" "\n")))
           (new-end (if (zerop (random 3)) "" end))
           (cursord--compare-at-once (1+ (random 20)))
           (cursord--compare-windows (seq-random-elt '((6 60) (1 3) (2))))
           (cursord--replace-careful-time (seq-random-elt '(0 1)))
           (source (generate-new-buffer " *source*")))
      (with-temp-buffer
        (buffer-enable-undo)
        (insert "kept\n" old "kept too" end)
        (with-current-buffer source (insert "kept\n" new "kept too" new-end))
        (let ((first (copy-marker 3))
              (last (copy-marker (- (point-max) (length end) 3)))
              (comparison (cursord-compare-buffers (current-buffer) source))
              (before (buffer-string)))
          (undo-boundary)
          (while (not (cursord-compare-on comparison (current-time))))
          (should (eq (cursord-as-one-step (cursord-compared-replace comparison))
                      (not (equal before
                                  (with-current-buffer source
                                    (buffer-string))))))
          (should (equal (concat "kept\n" new "kept too" new-end)
                         (buffer-string)))
          (should (= first 3))
          (when (equal end new-end)
            (should (= last (- (point-max) (length end) 3))))
          (unless (equal before (buffer-string))
            (let ((last-command nil) (inhibit-message t)) (undo))
            (should (equal before (buffer-string))))))
      (kill-buffer source))))

(ert-deftest cursord-test-positions ()
  "Positions count UTF-16 units."
  (with-temp-buffer
    (insert "a\nä😀b\n")
    (should (equal '(:line 1 :character 3) (cursord--position 5)))
    (should (equal '(:line 0 :character 0) (cursord--position 1)))))

(ert-deftest cursord-test-names ()
  "What is shown of numbers, times and names."
  (should (equal "1 hunk" (cursord-plural 1 "hunk")))
  (should (equal "0:42" (cursord--elapsed 42.9)))
  (should (equal "1:01:01" (cursord--elapsed 3661)))
  (should (equal "a/b c" (cursord--patch-name "a" "b c")))
  (should (equal "\"a/q\\\"\\n\"" (cursord--patch-name "a" "q\"\n"))))

(ert-deftest cursord-test-docstrings-fit-the-manual ()
  "Each command, option and face that the manual names is there."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "cursord.texi"
                                            (file-name-directory (locate-library "cursord-doctor"))))
    (let ((n 0))
      (while (re-search-forward "@\\(?:code{\\|item[x]? M-x \\|kbd{M-x \\)\\(cursord[a-z-]*\\)" nil t)
        (let ((symbol (intern (match-string 1))))
          (setq n (1+ n))
          (unless (memq symbol '(cursord-event-functions))
            (should (or (fboundp symbol) (boundp symbol) (facep symbol))))))
      (should (> n 20)))))

(provide 'cursord-tests)
;;; cursord-tests.el ends here
