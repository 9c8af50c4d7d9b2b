;;; cursord-chat-tests.el --- The chat, in batch  -*- lexical-binding: t; -*-

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

(ert-deftest cursord-test-chat-is-read-only ()
  "History cannot be edited, is told once, and point above the end stays."
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

(ert-deftest cursord-test-asking-shows-the-answer ()
  "Asking from a file has the chat show what comes, wherever its point was."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" "one\n") (cursord-test-open))))
      (cursord-test-plays (cursord-test-says (cursord-test-numbered 200)))
      (delete-other-windows)
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "first")
      (cursord-test-until "the answer"
        (save-excursion (goto-char (point-min))
                        (search-forward "line 200" nil t)))
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

(defun cursord-test-chat (ws)
  "The text of the chat of WS, and what of it is seen: (TEXT . SEEN)."
  (with-current-buffer (cursord-chat-buffer ws)
    (cons (buffer-substring-no-properties (point-min) (point-max))
          (let ((at (point-min)) seen)
            (while (< at (point-max))
              (unless (invisible-p at)
                (push (char-after at) seen))
              (setq at (1+ at)))
            (concat (nreverse seen))))))

(ert-deftest cursord-test-places-in-bold ()
  "A place that the agent has written in bold or italics leads to its file."
  (cursord-test-with-world
    (cursord-test-put "main.go" (cursord-test-numbered 9))
    (cursord-test-put "_new.go" (cursord-test-numbered 9))
    (let ((ws (cursord-test-open)))
      (cursord-test-plays
       (cursord-test-says
        (concat "See **main.go:7**, *main.go:8* and __main.go:3__ with "
                "_main.go:4_ or __new.go:2_, **`main.go:5`**, _new.go:6"
                " and **main.go**.")))
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "look")
      (cursord-test-until "the chat"
        (string-search "**main.go**" (cdr (cursord-test-chat ws))))
      (goto-char (point-min))
      (pcase-dolist (`(,text ,file ,line)
                     '(("**main.go:7" "main.go" 7) ("*main.go:8" "main.go" 8)
                       ("__main.go:3" "main.go" 3) ("_main.go:4" "main.go" 4)
                       ("__new.go:2" "_new.go" 2) ("`main.go:5" "main.go" 5)
                       ("_new.go:6" "_new.go" 6) ("**main.go" "main.go" 1)))
        (search-forward text)
        (backward-char 4)
        (save-window-excursion
          (cursord-visit)
          (goto-char (if (equal text "**main.go") (point-min) (point)))
          (should (equal (list text file line)
                         (list text (buffer-name) (line-number-at-pos)))))))))

(ert-deftest cursord-test-edits-in-the-chat ()
  "An edit counts its lines, unfolds to them, and leads to its hunk."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 20 "a\nb\nc\n"))
           (large (cursord-test-numbered 900))
           (ws (progn (cursord-test-put "f" before) (cursord-test-put "g" large)
                      (cursord-test-put "a/README.md" "Read me.\n")
                      (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "f" before after)
       (cursord-test-edits "new" nil "1\n2\n")
       (cursord-test-edits "g" large (concat large "the end\n"))
       (cursord-test-says "See f:12, and f:x. Read a/README.md."))
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "change")
      (cursord-test-until "the chat"
        (string-match-p "See f:12" (cdr (cursord-test-chat ws))))
      (cursord-test-until "the counts, which come soon after an edit's end"
        (string-match-p (concat "✓ [^\n]*f \\+4 −2\n✓ [^\n]*new \\+2 −0\n"
                                "✓ [^\n]*g \\+1 −0\n")
                        (cdr (cursord-test-chat ws))))
      (goto-char (point-min))
      (search-forward "f +4")
      (cursord-toggle)
      (should (string-search (concat "f +4 −2\n  │ -line 5\n  │ +five\n"
                                     "  │ -line 20\n  │ +a\n  │ +b\n  │ +c\n✓")
                             (cdr (cursord-test-chat ws))))
      (search-forward "+five")
      (should (eq 'diff-added (get-text-property (1- (point)) 'face)))
      (search-forward "-line 20")
      (should (eq 'diff-removed (get-text-property (1- (point)) 'face)))
      ;; A long line goes on behind the bar.
      (should (equal "  │ " (get-text-property (1- (point)) 'wrap-prefix)))
      ;; Each line of an edit leads to its place.
      (pcase-dolist (`(,line ,row) '(("+five" 5) ("-line 20" 20) ("+c" 22)
                                     ("f +4" 5)))
        (goto-char (point-min))
        (re-search-forward (concat "\\(?:│ \\|✓ .*\\)" (regexp-quote line)))
        (save-window-excursion
          (cursord-visit)
          (should (equal (list "f" row)
                         (list (buffer-name) (line-number-at-pos))))))
      ;; The arguments of this one were cut, but what it has changed is known.
      (re-search-forward "✓ .*g \\+1 −0$")
      (cursord-toggle)
      (cursord-test-until "its change"
        (string-match-p "g \\+1 −0\n  │ \\+the end\n"
                        (cdr (cursord-test-chat ws))))
      (goto-char (point-min))
      (re-search-forward "✓ .*g ")
      (save-window-excursion
        (cursord-visit)
        (should (looking-at "the end")))
      (goto-char (point-min))
      (search-forward "See f:1")
      (should (eq 'link (get-text-property (1- (point)) 'face)))
      (should-not (eq 'link (progn (search-forward "f:x")
                                   (get-text-property (1- (point)) 'face))))
      (search-backward "f:1")
      (save-window-excursion
        (cursord-visit)
        (should (equal '("f" 12) (list (buffer-name) (line-number-at-pos)))))
      (search-forward "README.md")
      (should (eq 'link (get-text-property (1- (point)) 'face)))
      (should-not (get-text-property (point) 'face))
      (dolist (at (list (1- (point)) (point)))
        (goto-char at)
        (save-window-excursion
          (cursord-visit)
          (should (equal "README.md" (buffer-name)))))))
  ;; Some agents report all lines of a file as changed.
  (let* ((tool '( :name "edit"
                  :result (:success ( :diffString "-a\n-b\n+a\n+c\n"
                                      :linesAdded 2 :linesRemoved 2
                                      :beforeFullFileContent "a\nb\n"
                                      :afterFullFileContent "a\nc\n"))))
         (lines (cursord-edit-lines tool)))
    (should (equal '("-b" "+c") lines))
    (should (equal " +1 −1" (cursord-edit-counts tool lines)))
    (should (equal " +2 −2" (cursord-edit-counts tool nil)))
    (should (equal "" (cursord-edit-counts tool '("mode 100644 → 100755")))))
  (let ((tool '( :name "edit"
                 :result (:success ( :linesAdded 2 :linesRemoved 2
                                     :beforeFullFileContent "a\nb\n"
                                     :afterFullFileContent "a\nb\n")))))
    (should-not (cursord-edit-lines tool))
    (should (equal " (no change)" (cursord-edit-counts tool nil))))
  ;; What a command has changed comes from the daemon.
  (let ((item '( :tool (:name "shell")
                 :changes [(:path "f" :patch "@@ -1 +1,2 @@\n a\n+b\n")
                           (:path "g" :patch "@@ -1 +0,0 @@\n-c\n" :cut t)])))
    (should (equal '("# f" "+b" "# g" "-c" "… and more")
                   (cursord-change-lines item)))
    (should (equal " +1 −1"
                   (cursord-edit-counts (plist-get item :tool)
                                        (cursord-change-lines item))))))

(ert-deftest cursord-test-place-of-an-edited-line ()
  "Of equal lines, each leads to its own place; what is decided, to a hunk."
  (let* ((hunk '(:id "1" :newStart 1 :newLines 5 :oldStart 1 :oldLines 3
                     :sources [(:itemId "i")]
                     :lines [" a" "+x" " b" "-y" "+x" "+z"]))
         (ws (cursord--workspace-make)))
    (setf (cursord-workspace-diffs ws) (make-hash-table :test #'equal))
    (puthash "f" (list :path "f" :hunks (vector hunk))
             (cursord-workspace-diffs ws))
    (with-temp-buffer
      (insert "✓ Edit f\n  │ +x\n  │ -y\n  │ +x\n  │ +z\n  │ +gone\nend")
      (should (equal '(1 1 3 3 4 1 1)
                     (mapcar (lambda (row)
                               (goto-char (point-min))
                               (forward-line row)
                               (cursord-edit-row ws "f" "i"
                                                 (cursord-edit-line)))
                             (number-sequence 0 6))))
      (should-not (cursord-edit-row ws "f" "other" (cursord-edit-line))))))

(ert-deftest cursord-test-cancelled-turns ()
  "A cancelled turn says so at its end, and so do prompts that waited for it."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-says "I hang.") "{\"fake\":\"hang\"}")
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-send ws "stay")
      (cursord-test-until "the turn" (string-search "I hang." (buffer-string)))
      (cursord-send ws "and then")
      (cursord-test-hears "the prompt waits until the turn before it has ended")
      (cursord-test-until "both turns" (length= (cursord-busy-turns ws) 2))
      (cursord-cancel)
      (cursord-test-until "the end" (null (cursord-busy-turns ws)))
      (cursord-test-until "the chat"
        (string-match-p
         (concat "\n> The turn was cancelled; its changes stay\\.\n"
                 "\\(?:.*\n\\)*"
                 "> The prompt was cancelled while it waited\\.\n")
         (buffer-string)))
      (cursord-test-hears "cancelled the turn and the prompt that waited")
      (should (string-suffix-p "Y ask again · c write"
                               (cursord--chat-header))))))

(ert-deftest cursord-test-failed-command-in-the-chat ()
  "The status and the last lines of a command that has failed are seen at once."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (make (lambda (id out)
                  (cl-flet ((call (subtype result)
                              (format (concat "{\"type\":\"tool_call\","
                                              "\"subtype\":%S,\"call_id\":%S,"
                                              "\"tool_call\":{"
                                              "\"shellToolCall\":{\"args\":"
                                              "{\"command\":\"make\"}%s}}}")
                                      subtype id result)))
                    (list (call "started" "")
                          (call "completed"
                                (format (concat ",\"result\":{\"failure\":"
                                                "{\"command\":\"make\","
                                                "\"exitCode\":2,\"stdout\":%s,"
                                                "\"stderr\":\"\"}}")
                                        (json-encode out))))))))
      (cursord-test-plays (funcall make "a" "")
                          (funcall make "b" "one\nno rule\n")
                          (funcall make "c" "1\n2\n3\n4\n5\n"))
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "make")
      (cl-flet ((seen (text)
                  (cursord-test-until text
                    (string-search text (cdr (cursord-test-chat ws))))))
        (seen "✗ make (exit status 2)\n")
        (seen "✗ make (exit status 2)\n  │ one\n  │ no rule\n")
        (seen "✗ make (exit status 2)\n  │ 3\n  │ 4\n  │ 5\n")
        (goto-char (point-max))
        (search-backward "✗")
        (cursord-toggle)
        (seen "✗ make (exit status 2)\n  │ 1\n  │ 2\n  │ 3\n  │ 4\n  │ 5\n")
        (cursord-toggle)
        (seen "✗ make (exit status 2)\n  │ 3\n  │ 4\n  │ 5\n")))))

(ert-deftest cursord-test-the-latest-list-is-seen ()
  "What is still to be done is seen without unfolding, and only the latest."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (todos (lambda (id first second)
                   (let ((call (concat "\"tool_call\":{\"updateTodosToolCall\":"
                                       "{\"args\":{\"todos\":[]}%s}}"))
                         (result (format
                                  (concat
                                   ",\"result\":{\"success\":{\"todos\":["
                                   "{\"id\":\"1\",\"content\":\"dig\","
                                   "\"status\":%S},"
                                   "{\"id\":\"2\",\"content\":\"fill\","
                                   "\"status\":%S}]}}")
                                  first second)))
                     (mapcar (lambda (end)
                               (format (concat "{\"type\":\"tool_call\","
                                               "\"subtype\":%S,\"call_id\":%S,"
                                               "%s}")
                                       (car end) id (format call (cdr end))))
                             `(("started" . "")
                               ("completed" . ,result)))))))
      (cursord-test-plays
       (funcall todos "a" "TODO_STATUS_IN_PROGRESS" "TODO_STATUS_PENDING")
       (cursord-test-says "On it.")
       (funcall todos "b" "TODO_STATUS_COMPLETED" "TODO_STATUS_IN_PROGRESS"))
      (cursord--chat-buffer-create ws)
      (cursord-test-turn ws "work")
      (cursord-test-until "the second list"
        (string-search "  │ [x] dig\n  │ [~] fill\n"
                       (cdr (cursord-test-chat ws))))
      (should-not (string-search "[~] dig" (cdr (cursord-test-chat ws))))
      (should (string-search "[~] dig" (car (cursord-test-chat ws))))
      (with-current-buffer (cursord-chat-buffer ws)
        (should (equal "1/2 fill" (cursord--todos-word))))
      ;; The agent takes its list away.
      (cursord-test-plays
       (list (concat "{\"type\":\"tool_call\",\"subtype\":\"completed\","
                     "\"call_id\":\"c\",\"tool_call\":"
                     "{\"updateTodosToolCall\":{\"args\":{},\"result\":"
                     "{\"success\":{\"todos\":[]}}}}}"))
       (cursord-test-says "Gone."))
      (cursord-test-turn ws "no list")
      (cursord-test-until "the words behind the list"
        (string-search "Gone." (cdr (cursord-test-chat ws))))
      (should-not (string-search "[~] fill" (cdr (cursord-test-chat ws))))
      (with-current-buffer (cursord-chat-buffer ws)
        (should-not (cursord--todos-word))))))

(provide 'cursord-chat-tests)
;;; cursord-chat-tests.el ends here
