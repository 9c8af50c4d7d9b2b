;;; cursord-undo-tests.el --- Log of decisions  -*- lexical-binding: t; -*-

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

(defun cursord-test-way-back (way)
  "Take the latest decision back by WAY, a symbol."
  (pcase way
    ('command (cursord-undo))
    ('buffer (let ((last-command nil) (inhibit-message t))
               (undo-boundary)
               (undo)))
    ('shell
     (let ((default-directory (cursord-test-file "")))
       (should (eql 0 (call-process "cursord" nil nil nil "undo")))))))

(defun cursord-test-pending-in-shell ()
  "How many hunks the command line says are pending."
  (let ((default-directory (cursord-test-file "")))
    (with-temp-buffer
      (call-process "cursord" nil t nil "diff" "--json")
      (goto-char (point-min))
      (let ((hunks 0))
        (seq-doseq (diff (append (gethash "diffs" (json-parse-buffer)) nil))
          (setq hunks (+ hunks (length (gethash "hunks" diff)))))
        hunks))))

(ert-deftest cursord-test-undo-after-a-save ()
  "What was decided and saved comes back, text and hunk, by each way."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 5 "five\n"))
           (ws (progn (dotimes (i 12)
                        (cursord-test-put (format "f%d" i) before))
                      (cursord-test-open)))
           (i -1))
      (pcase-dolist
          (`(,isolation ,method ,way ,decided ,back)
           `(("none" cursord-accept-hunk command ,after ,after)
             ("none" cursord-accept-hunk shell ,after ,after)
             ("none" cursord-accept-hunk buffer ,after ,after)
             ("none" cursord-reject-hunk command ,before ,after)
             ("none" cursord-reject-hunk shell ,before ,after)
             ("none" cursord-reject-hunk buffer ,before ,after)
             ("copy" cursord-accept-hunk command ,after ,before)
             ("copy" cursord-accept-hunk shell ,after ,before)
             ("copy" cursord-accept-hunk buffer ,after ,before)))
        (let* ((name (format "f%d" (setq i (1+ i))))
               (cursord-session-options (list :isolation isolation))
               (mine (lambda (text) (concat "mine\n" text))))
          (ert-info ((format "%s %s %s" isolation method way))
            (cursord-talk-with ws nil)
            (cursord-test-plays (cursord-test-edits name before after))
            (find-file (cursord-test-file name))
            (buffer-enable-undo)
            (cursord-test-turn ws "change it")
            (cursord-test-until "the mark" (equal '(5) (cursord-test-rows)))
            (goto-char (point-min))
            (insert "mine\n")
            (undo-boundary)
            (cursord-test-until "the mark" (equal '(6) (cursord-test-rows)))
            (cursord-test-go 6)
            (funcall method)
            (cursord-test-until "the decision"
              (and (equal (funcall mine decided) (buffer-string))
                   (equal '(0 . 0) (cursord-pending ws))))
            (let ((inhibit-message t)) (save-buffer))
            (cursord-test-agree ws name (funcall mine decided) 0)
            (should (= 0 (cursord-test-pending-in-shell)))
            (cursord-test-way-back way)
            (cursord-test-until "the hunk"
              (equal '(1 . 1) (cursord-pending ws)))
            (cursord-test-until "the text"
              (equal (funcall mine back) (buffer-string)))
            (should (= 1 (cursord-test-pending-in-shell)))
            (let ((inhibit-message t)) (save-buffer))
            (cursord-test-agree ws name (funcall mine back) 1)
            (cursord-test-until "the mark" (equal '(6) (cursord-test-rows)))
            (cursord-test-go 6)
            (cursord-accept-hunk)
            (cursord-test-until "the end" (equal '(0 . 0) (cursord-pending ws)))
            (let ((inhibit-message t)) (save-buffer))))))))

(ert-deftest cursord-test-undo-of-saved-decisions ()
  "Undo in a buffer goes back over saved decisions, the latest or not."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 25 "25\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-put "g" "1\n")
                      (cursord-test-open)))
           (mine (lambda (text) (concat "mine\n" text))))
      (cursord-test-plays (cursord-test-edits "f" before after)
                          (cursord-test-edits "g" "1\n" "2\n"))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-turn ws "change them")
      (goto-char (point-min))
      (insert "mine\n")
      (dolist (rows '((6 26) (26)))
        (undo-boundary)
        (cursord-test-until "the marks" (equal rows (cursord-test-rows)))
        (cursord-test-until "the diff"
          (cursord--diff-fits-p (cursord-document)))
        (cursord-test-go (car rows))
        (cursord-reject-hunk)
        (cursord-test-until "the decision"
          (equal (cdr rows) (cursord-test-rows))))
      (let ((inhibit-message t)) (save-buffer))
      (cursord-test-agree ws "f" (funcall mine before) 0)
      ;; The latest comes back; then something else is decided.
      (cursord-test-way-back 'buffer)
      (cursord-test-agree ws "f"
                          (funcall mine (cursord-test-numbered 30 25 "25\n"))
                          1)
      (cursord-decide-all ws :diff/accept "g")
      (cursord-test-until "the other file"
        (equal '(1 . 1) (cursord-pending ws)))
      (let ((inhibit-message t)) (undo-more 1))
      (cursord-test-until "the text"
        (equal (funcall mine after) (buffer-string)))
      ;; That is not the latest decision, but the daemon knows the text.
      (cursord-test-until "both hunks" (equal '(6 26) (cursord-test-rows)))
      (let ((inhibit-message t)) (save-buffer))
      (cursord-test-agree ws "f" (funcall mine after) 2)
      (should-not (cursord-test-said-p "the text is back, but not its hunk")))))

(ert-deftest cursord-test-undo-of-an-accept ()
  "Undo takes back an accept, which changed no text, and then earlier changes."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 25 "25\n"))
           (ws (cursord-test-open))
           (pending (lambda (hunks files said)
                      (cursord-test-until (format "%d hunks" hunks)
                        (and (equal (cons hunks files) (cursord-pending ws))
                             (cursord-test-said-p said))))))
      (dolist (name '("f" "g" "closed"))
        (cursord-test-put name before))
      (cursord-test-plays (mapcar (lambda (name)
                                    (cursord-test-edits name before after))
                                  '("f" "g" "closed")))
      (dolist (name '("g" "f"))
        (find-file (cursord-test-file name))
        (buffer-enable-undo))
      (cursord-test-turn ws "change them")
      (cursord-test-until "the marks" (equal '(5 25) (cursord-test-rows)))

      ;; One hunk: undo, redo, undo.
      (cursord-test-go 5)
      (cursord-accept-hunk)
      (funcall pending 5 3 "accepted 1 hunk")
      (cursord-test-way-back 'buffer)
      (funcall pending 6 3 "undone: the accept of 1 hunk; 6 hunks left")
      (should (equal '(5 25) (cursord-test-rows)))
      (cursord-test-way-back 'buffer)
      (funcall pending 5 3 "accepted 1 hunk")
      (cursord-test-way-back 'buffer)
      (funcall pending 6 3 "undone")
      ;; Before the accept is what the agent wrote.
      (switch-to-buffer "g")
      (cursord-test-go 5)
      (cursord-accept-hunk)
      (funcall pending 5 3 "accepted 1 hunk")
      (cursord-test-way-back 'buffer)
      (funcall pending 6 3 "undone")
      ;; Emacs makes no boundary itself where no text changes.
      (let ((last-command 'undo) (inhibit-message t)) (undo))
      (funcall pending 4 2 "the agent.s changes are undone; redo")
      (should (equal before (buffer-string)))
      (cursord-test-way-back 'buffer)
      (cursord-test-until "6 hunks" (equal '(6 . 3) (cursord-pending ws)))
      (should (equal after (buffer-string)))
      (switch-to-buffer "f")

      ;; All hunks of open and closed files are one decision.
      (cursord-decide-all ws :diff/accept)
      (funcall pending 0 0 "accepted 6 hunks; nothing left")
      (cursord-test-way-back 'buffer)
      (funcall pending 6 3 "undone: the accept of 6 hunks; 6 hunks left")
      (with-current-buffer "g"
        (cursord-test-way-back 'buffer)
        (funcall pending 6 3 "that is undone already: 6 hunks left")
        (should (equal after (buffer-string))))

      ;; An accept that is not the latest decision stays, and undo says why.
      (cursord-test-go 5)
      (cursord-accept-hunk)
      (funcall pending 5 3 "accepted 1 hunk")
      (cursord-decide-all ws :diff/accept "closed")
      (funcall pending 3 2 "accepted 2 hunks")
      (cursord-test-way-back 'buffer)
      (funcall pending 3 2
               (concat "the text is as before, but not its hunks: something"
                       " else was decided since; M-x cursord-undo takes back"
                       " that first"))
      (should-not (buffer-modified-p))

      ;; A buffer that was killed has no undo; the log of decisions has.
      (kill-buffer "f")
      (find-file (cursord-test-file "f"))
      (cursord-undo)
      (funcall pending 5 3 "undone")
      (cursord-undo)
      (funcall pending 6 3 "undone")
      (cursord-test-agree ws "f" after 2))))

(ert-deftest cursord-test-undo-of-a-conflict ()
  "Undo brings back a conflict, however it was decided, also after a save.
With OTHER, the buffer has another unsaved line, so it differs from the file."
  (cursord-test-with-world
    (let ((before (cursord-test-numbered 9))
          (after (cursord-test-numbered 9 3 "agent\n" 8 "8\n"))
          (ws (cursord-test-open)))
      (dolist (other '("line 5\n" "mine too\n"))
        (pcase-dolist (`(,command ,lines)
                       '((cursord-accept-hunk "agent\n")
                         (cursord-accept-both "mine\nagent\n")
                         (cursord-reject-hunk "mine\n")))
          (dolist (save '(nil t))
            (ert-info ((format "%s %s %s" command other save))
              (let ((merged (cursord-test-numbered 9 3 "mine\n" 5 other
                                                   8 "8\n"))
                    (decided (cursord-test-numbered 9 3 lines 5 other 8 "8\n")))
                (cursord-talk-with ws nil)
                (cursord-test-put "f" before)
                (find-file (cursord-test-file "f"))
                (buffer-enable-undo)
                (pcase-dolist (`(,line ,text) `((3 "mine\n") (5 ,other)))
                  (cursord-test-go line)
                  (unless (looking-at-p (regexp-quote text))
                    (delete-line)
                    (insert text)
                    (undo-boundary)))
                (cursord-test-plays (cursord-test-edits "f" before after))
                (cursord-test-turn ws "change it")
                (cursord-test-until "the conflict"
                  (and (equal merged (buffer-string))
                       (equal '(3 8) (cursord-test-rows))))
                (cursord-test-go 3)
                (call-interactively command)
                (cursord-test-until "the decision"
                  (and (equal decided (buffer-string))
                       (equal '(1 . 1) (cursord-pending ws))))
                (when save
                  (let ((inhibit-message t)) (save-buffer))
                  (cursord-test-agree ws "f" decided 1))
                (cursord-test-way-back 'buffer)
                (cursord-test-until "the text" (equal merged (buffer-string)))
                (cursord-test-until "the hunk"
                  (and (equal '(2 . 1) (cursord-pending ws))
                       (= 2 (length (cursord-test-rows)))))
                (should (= 2 (cursord-test-pending-in-shell)))
                (should-not (cursord-test-said-p ".*error"))
                (unless save
                  (let ((inhibit-message t)) (save-buffer))
                  (cursord-test-agree ws "f" merged 1))
                (set-buffer-modified-p nil)
                (kill-buffer "f")
                (cursord-decide-all ws :diff/reject)
                (cursord-test-until "the end"
                  (equal '(0 . 0) (cursord-pending ws)))))))))))

(ert-deftest cursord-test-undo-after-a-saved-conflict ()
  "Undo goes back over a save that decided a conflict, to what a person typed."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 3 "agent\n" 8 "8\n"))
           (typed (cursord-test-numbered 9 3 "mine\n"))
           (merged (cursord-test-numbered 9 3 "mine\n" 8 "8\n"))
           (ws (progn (cursord-test-put "f" before) (cursord-test-open)))
           (inhibit-message t))
      (cursord-test-plays (cursord-test-edits "f" before after))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-go 3)
      (delete-line)
      (insert "mine\n")
      (undo-boundary)
      (cursord-test-turn ws "change it")
      (cursord-test-until "the conflict"
        (and (equal merged (buffer-string)) (equal '(3 8) (cursord-test-rows))))
      (cursord-test-go 3)
      (cursord-reject-hunk)
      (cursord-test-until "the decision" (equal '(1 . 1) (cursord-pending ws)))
      (cursord-test-way-back 'buffer)
      (cursord-test-until "the conflict again"
        (and (equal '(2 . 1) (cursord-pending ws))
             (cursord-test-said-p "undone")))
      (save-buffer)
      (should (cursord-test-said-p
               "saved your lines over the agent.s in 1 conflict"))
      (cursord-test-agree ws "f" merged 1)
      ;; The first step takes out what the agent wrote elsewhere.
      (cursord-test-way-back 'buffer)
      (should (equal typed (buffer-string)))
      (let ((last-command 'undo)) (undo))
      (should (equal before (buffer-string)))
      (should-not (string-match-p "decided already" (cursord-test-buffers))))))

(ert-deftest cursord-test-saved-without-the-agents-lines ()
  "A save after the agent's lines were undone rejects them.
So redo brings back lines and hunks, also after the next save."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 9))
           (after (cursord-test-numbered 9 3 "agent\n" 8 "8\n"))
           (merged (cursord-test-numbered 9 3 "agent\n" 5 "mine\n" 8 "8\n"))
           (typed (cursord-test-numbered 9 5 "mine\n"))
           (ws (cursord-test-open))
           (inhibit-message t))
      (pcase-dolist (`(,mine ,with ,without)
                     `((nil ,after ,before) (t ,merged ,typed)))
        (ert-info ((format "%s" mine))
          (cursord-test-put "f" before)
          (cursord-test-plays (cursord-test-edits "f" before after))
          (find-file (cursord-test-file "f"))
          (buffer-enable-undo)
          (when mine
            (cursord-test-go 5)
            (delete-line)
            (insert "mine\n")
            (undo-boundary))
          (cursord-test-turn ws "change it")
          (cursord-test-until "the agent's lines"
            (and (equal with (buffer-string))
                 (equal '(3 8) (cursord-test-rows))))
          (save-buffer)
          (cursord-test-agree ws "f" with 2)
          (cursord-test-way-back 'buffer)
          (should (equal without (buffer-string)))
          (save-buffer)
          (cursord-test-agree ws "f" without 0)
          (cursord-test-way-back 'buffer)
          (should (equal with (buffer-string)))
          (save-buffer)
          (cursord-test-agree ws "f" with 2)
          (cursord-test-way-back 'buffer)
          (save-buffer)
          (cursord-test-agree ws "f" without 0)
          (cursord-undo)
          (cursord-test-until "both hunks"
            (equal '(2 . 1) (cursord-pending ws)))
          (cursord-test-agree ws "f" with 2)
          (cursord-decide-all ws :diff/reject)
          (cursord-test-until "the end" (equal '(0 . 0) (cursord-pending ws)))
          (kill-buffer "f"))))))

(provide 'cursord-undo-tests)
;;; cursord-undo-tests.el ends here
