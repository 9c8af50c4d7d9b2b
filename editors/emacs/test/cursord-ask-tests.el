;;; cursord-ask-tests.el --- Asking, in batch  -*- lexical-binding: t; -*-

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
(require 'cursord-add)
(require 'compile)
(require 'flymake)
(require 'dired)

(ert-deftest cursord-test-isolation ()
  "A new session works where it was chosen; what it did comes by accepting it."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\nthree\n")
                      (cursord-workspace-open)))
           (sessions (lambda ()
                       (append (plist-get (cursord-call ws :session/list nil)
                                          :sessions) nil))))
      (cursord-test-plays (cursord-test-edits "f" "one\ntwo\nthree\n"
                                              "one\n2\nthree\n"))
      (let ((cursord-session-options '(:isolation "copy")))
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
  "What the agent may do is chosen for the next session, and for one there is.
Images go along once."
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

(ert-deftest cursord-test-a-new-session-is-named ()
  "The question says when it begins a new session.
The header says which model answers."
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
  "Functions change what is sent, and hear of the end.
The desktop says it, too."
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
      (should (equal (concat "\e]777;notify;cursord: ws;a b ]0 x \e\\"
                             "\e]9;cursord: ws: a b ]0 x \e\\")
                     sent)))))

(ert-deftest cursord-test-adding-what-is-here ()
  "An error, marked files, a region and a file get into the written prompt."
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
      (cl-letf (((symbol-function 'flymake-diagnostics)
                 (lambda (&rest _) '(one)))
                ((symbol-function 'flymake-diagnostic-text)
                 (lambda (&rest _) "no semicolon")))
        (cursord-add))
      (should (equal "Fix this error, @src/a.c:1\nno semicolon\n"
                     (funcall prompt)))
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
        (should (equal (concat "Fix this error, @src/a.c:1\n"
                               "src/a.c:1:6: error: expected ;\n")
                       (funcall prompt)))
        (kill-buffer "*compilation of a test*"))
      ;; A buffer without a file goes as its text, whole or in part.
      (with-current-buffer (get-buffer-create "*notes of a test*")
        (setq default-directory here)
        (insert "all of it\n")
        (switch-to-buffer (current-buffer))
        (cursord-add)
        (should (equal '( :kind "text" :title "*notes of a test*"
                          :text "all of it\n")
                       (car (cursord-context ws "@buffer"
                                             cursord-buffer-origin))))
        (should (equal "@buffer " (funcall prompt)))
        (switch-to-buffer "*notes of a test*")
        (goto-char (point-min))
        (push-mark 4 t t)
        (let ((transient-mark-mode t)) (cursord-add))
        (should (equal '( :kind "text" :title "part of *notes of a test*"
                          :text "all")
                       (car (cursord-context ws "@region"
                                             cursord-buffer-origin))))
        (should (equal "@region " (funcall prompt)))
        (kill-buffer "*notes of a test*"))
      ;; A line of Flymake's list is about its file.
      (find-file (cursord-test-file "src/b.c"))
      (flymake-mode -1)
      (let* ((flymake-diagnostic-functions
              (list (lambda (report &rest _)
                      (funcall report
                               (list (flymake-make-diagnostic
                                      (current-buffer) 5 6 :error "why y?"))))))
             (flymake-no-changes-timeout nil)
             (source (current-buffer)))
        (setq-local flymake-diagnostic-functions flymake-diagnostic-functions)
        (flymake-mode 1)
        (flymake-start)
        (cursord-test-until "the error" (flymake-diagnostics))
        (flymake-show-buffer-diagnostics)
        (switch-to-buffer (flymake--diagnostics-buffer-name))
        (goto-char (point-min))
        (cursord-add)
        (should (equal "Fix this error, @src/b.c:1\nwhy y?\n" (funcall prompt)))
        (with-current-buffer source (flymake-mode -1))
        (kill-buffer (with-current-buffer source
                       (flymake--diagnostics-buffer-name)))))))

(ert-deftest cursord-test-adding-two-places ()
  "Each region and each text of a buffer goes along, in the order of adding."
  (cursord-test-with-world
    (cursord-test-put "a" "one\n")
    (cursord-test-put "b" "two\n")
    (let ((ws (cursord-test-open))
          (transient-mark-mode t)
          (notes (get-buffer-create "*notes of a test*")))
      (dolist (name '("a" "b"))
        (find-file (cursord-test-file name))
        (push-mark (point-max) t t)
        (cursord-add)
        (insert "and ")
        (switch-to-buffer name))
      (switch-to-buffer notes)
      (setq default-directory (cursord-test-file ""))
      (insert "noted\n")
      (cursord-add)
      (switch-to-buffer "a")
      (goto-char (point-min))
      (push-mark (point-max) t t)
      (cursord-add)
      (should (equal "@region and @region2 and @buffer3 " (buffer-string)))
      (let ((all (cursord-context ws (buffer-string) cursord-buffer-origin)))
        (should (equal '("one\n" "two\n" "noted\n")
                       (mapcar (lambda (one) (plist-get one :text))
                               (sort all (lambda (a _)
                                           (equal "one\n"
                                                  (plist-get a :text)))))))
        (should (member "*notes of a test*"
                        (mapcar (lambda (one) (plist-get one :title)) all))))
      ;; Without these tokens, the draft is about the next place.
      (erase-buffer)
      (switch-to-buffer notes)
      (cursord-add)
      (should (equal "@buffer " (buffer-string)))
      (erase-buffer)
      (kill-buffer notes))))

(provide 'cursord-ask-tests)
;;; cursord-ask-tests.el ends here
