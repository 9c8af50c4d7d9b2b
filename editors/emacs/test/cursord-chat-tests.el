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
(require 'cursord-add)
(require 'cursord-sessions)
(require 'compile)
(require 'dired)

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

(ert-deftest cursord-test-hooks-around-a-turn ()
  "Functions change what is sent, and hear of the end; the desktop says it, too."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open)) ended notified
           (focus 'unknown)
           (cursord-before-send-functions
            (list (lambda (prompt _ws) (concat prompt ", please"))
                  (lambda (_prompt _ws) nil)))
           (cursord-after-turn-functions
            (list (lambda (_ws turn) (push (plist-get turn :prompt) ended)))))
      (cl-letf (((symbol-function 'frame-focus-state) (lambda (&rest _) focus))
                ((symbol-function 'cursord--notify-turn-end)
                 (lambda (_ws text) (push text notified))))
        (cursord-test-turn ws "one")
        (should (equal '("one, please") ended))
        (should-not notified)
        (setq focus nil)
        (cursord-test-turn ws "two")
        (should (equal '("done") notified))
        (let ((cursord-notify-turn-end nil))
          (cursord-test-turn ws "three")
          (should (equal '("done") notified))))
      (setq cursord-before-send-functions
            (list (lambda (&rest _) (user-error "Not today"))))
      (should-error (cursord-send ws "four") :type 'user-error)
      (should (length= ended 3)))))

(ert-deftest cursord-test-terminals-are-notified ()
  "A terminal gets the sequences of OSC 777 and 9, and nothing else in them."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)) sent)
      (cl-letf (((symbol-function 'send-string-to-terminal)
                 (lambda (text _) (setq sent text)))
                ((symbol-function 'terminal-name) (lambda (_) "/dev/tty9"))
                ((symbol-function 'terminal-live-p) (lambda (_) t)))
        (cursord--notify-turn-end ws "a;b\e]0;x\a"))
      (should (equal "\e]777;notify;cursord: ws;a b ]0 x \e\\\e]9;cursord: ws: a b ]0 x \e\\"
                     sent)))))

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

(ert-deftest cursord-test-edits-in-the-chat ()
  "An edit counts its lines, unfolds to them, and leads to its hunk."
  (cursord-test-with-world
    (let* ((before (cursord-test-numbered 30))
           (after (cursord-test-numbered 30 5 "five\n" 20 "a\nb\nc\n"))
           (large (cursord-test-numbered 900))
           (ws (progn (cursord-test-put "f" before) (cursord-test-put "g" large)
                      (cursord-test-open))))
      (cursord-test-plays
       (cursord-test-edits "f" before after)
       (cursord-test-edits "new" nil "1\n2\n")
       (cursord-test-edits "g" large (concat large "the end\n"))
       (cursord-test-says "See f:12, and f:x."))
      (switch-to-buffer (cursord--chat-buffer-create ws))
      (cursord-test-turn ws "change")
      (cursord-test-until "the chat"
        (string-match-p "See f:12" (cdr (cursord-test-chat ws))))
      (should (string-match-p "✓ [^\n]*f \\+4 −2\n✓ [^\n]*new \\+2 −0\n✓ [^\n]*g\n"
                              (cdr (cursord-test-chat ws))))
      (goto-char (point-min))
      (search-forward "f +4")
      (cursord-toggle)
      (should (string-search "f +4 −2\n  │ -line 5\n  │ +five\n  │ -line 20\n  │ +a\n  │ +b\n  │ +c\n✓"
                             (cdr (cursord-test-chat ws))))
      (search-forward "+five")
      (should (eq 'diff-added (get-text-property (1- (point)) 'face)))
      (search-forward "-line 20")
      (should (eq 'diff-removed (get-text-property (1- (point)) 'face)))
      ;; What was cut is read when it is wanted.
      (re-search-forward "✓ .*g$")
      (cursord-toggle)
      (cursord-test-until "what was cut"
        (string-match-p "g \\+1 −0\n  │ \\+the end\n" (cdr (cursord-test-chat ws))))
      (goto-char (point-min))
      (re-search-forward "✓ .*g ")
      (save-window-excursion
        (cursord-visit)
        (should (looking-at "the end")))
      (goto-char (point-min))
      (search-forward "f:1")
      (save-window-excursion
        (cursord-visit)
        (should (equal '("f" 12) (list (buffer-name) (line-number-at-pos))))))))

(ert-deftest cursord-test-failed-command-in-the-chat ()
  "The status and the last line of a command that has failed are seen at once."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (cursord-test-plays
       "{\"type\":\"tool_call\",\"subtype\":\"started\",\"call_id\":\"s\",\"tool_call\":{\"shellToolCall\":{\"args\":{\"command\":\"make\"}}}}"
       "{\"type\":\"tool_call\",\"subtype\":\"completed\",\"call_id\":\"s\",\"tool_call\":{\"shellToolCall\":{\"args\":{\"command\":\"make\"},\"result\":{\"failure\":{\"command\":\"make\",\"exitCode\":2,\"stdout\":\"one\\nno rule\\n\",\"stderr\":\"\"}}}}}")
      (cursord--chat-buffer-create ws)
      (cursord-test-turn ws "make")
      (cursord-test-until "the chat"
        (string-match-p "✗ make (exit status 2: no rule)\n" (cdr (cursord-test-chat ws)))))))

(ert-deftest cursord-test-the-latest-list-is-seen ()
  "What is still to be done is seen without unfolding, and only the latest."
  (cursord-test-with-world
    (let ((ws (cursord-test-open))
          (todos (lambda (id first second)
                   (let ((call (format "\"tool_call\":{\"updateTodosToolCall\":{\"args\":{\"todos\":[]}%%s}}"))
                         (list (format "[{\"id\":\"1\",\"content\":\"dig\",\"status\":%S},{\"id\":\"2\",\"content\":\"fill\",\"status\":%S}]"
                                       first second)))
                     (mapcar (lambda (end)
                               (format "{\"type\":\"tool_call\",\"subtype\":%S,\"call_id\":%S,%s}"
                                       (car end) id (format call (cdr end))))
                             `(("started" . "")
                               ("completed" . ,(format ",\"result\":{\"success\":{\"todos\":%s}}"
                                                       list))))))))
      (cursord-test-plays
       (funcall todos "a" "TODO_STATUS_IN_PROGRESS" "TODO_STATUS_PENDING")
       (cursord-test-says "On it.")
       (funcall todos "b" "TODO_STATUS_COMPLETED" "TODO_STATUS_IN_PROGRESS"))
      (cursord--chat-buffer-create ws)
      (cursord-test-turn ws "work")
      (cursord-test-until "the second list"
        (string-search "  │ [x] dig\n  │ [~] fill\n" (cdr (cursord-test-chat ws))))
      (should-not (string-search "[~] dig" (cdr (cursord-test-chat ws))))
      (should (string-search "[~] dig" (car (cursord-test-chat ws)))))))

(ert-deftest cursord-test-adding-what-is-here ()
  "An error, marked files, a region and a file get into the prompt that is written."
  (cursord-test-with-world
    (cursord-test-put "src/a.c" "int x\n")
    (cursord-test-put "src/b.c" "int y;\n")
    (let* ((ws (cursord-test-open))
           (here default-directory)
           (prompt (lambda ()
                     (prog1 (buffer-string)
                       (should (eq major-mode 'cursord-compose-mode))
                       (erase-buffer)
                       (setq cursord-buffer-origin nil)))))
      (ignore ws)
      (find-file (cursord-test-file "src/a.c"))
      (cursord-add)
      (should (equal "@src/a.c " (funcall prompt)))
      (switch-to-buffer "a.c")
      (push-mark (point-max) t t)
      (let ((transient-mark-mode t)) (cursord-add))
      (should (equal "@region " (funcall prompt)))
      (switch-to-buffer "a.c")
      (deactivate-mark)
      (setq-local flymake-mode t)
      (cl-letf (((symbol-function 'flymake-diagnostics) (lambda (&rest _) '(one)))
                ((symbol-function 'flymake-diagnostic-text)
                 (lambda (&rest _) "no semicolon")))
        (cursord-add))
      (should (equal "Fix this error, @src/a.c:1\nno semicolon\n" (funcall prompt)))
      (dired (cursord-test-file "src"))
      (dired-mark-files-regexp "c$")
      (cursord-add)
      (should (equal "@src/a.c @src/b.c " (funcall prompt)))
      (kill-buffer "src")
      (let ((default-directory here))
        (switch-to-buffer (get-buffer-create "*compilation of a test*"))
        (setq default-directory here)
        (insert "make: hello\nsrc/a.c:1:6: error: expected ;\n")
        (compilation-mode)
        (compilation--ensure-parse (point-max))
        (goto-char (point-min))
        (forward-line 1)
        (cursord-add)
        (should (equal "Fix this error, @src/a.c:1\nsrc/a.c:1:6: error: expected ;\n"
                       (funcall prompt)))
        (kill-buffer "*compilation of a test*"))
      (with-temp-buffer
        (setq default-directory here)
        (should-error (cursord-add) :type 'user-error)))))

(ert-deftest cursord-test-sessions-of-all-projects ()
  "They are listed with their hunks, gone on with, renamed and deleted."
  (cursord-test-with-world
    (let* ((other (expand-file-name "other/" cursord-test-dir))
           (ws (progn (cursord-test-put "f" "one\n") (cursord-test-open)))
           (lines (lambda ()
                    (split-string (replace-regexp-in-string
                                   " +" " " (buffer-substring-no-properties
                                             (point-min) (point-max)))
                                  "\n" t))))
      (cursord-test-plays (cursord-test-edits "f" "one\n" "two\n"))
      (cursord-test-turn ws "first")
      (cursord-test-plays)
      (make-directory other)
      (let* ((default-directory other)
             (ws (cursord-test-open)))
        (cursord-test-turn ws "second"))
      (cursord-sessions)
      (should (equal '(" idle now other second" " idle 1 now ws first")
                     (funcall lines)))
      (goto-char (point-min))
      (cursord-sessions-rename "third")
      (should (equal " idle now other third" (car (funcall lines))))
      (goto-char (point-min))
      (search-forward "first")
      (save-window-excursion
        (cursord-sessions-go)
        (should (eq ws cursord-buffer-workspace)))
      (save-window-excursion
        (cursord-sessions-review)
        (should (derived-mode-p 'cursord-review-mode))
        (should (eq ws cursord-buffer-workspace)))
      (goto-char (point-min))
      (setq cursord-test-answers '(t))
      (cursord-sessions-delete)
      (should (equal '(" idle 1 now ws first") (funcall lines)))
      (kill-buffer))))

(provide 'cursord-chat-tests)
;;; cursord-chat-tests.el ends here
