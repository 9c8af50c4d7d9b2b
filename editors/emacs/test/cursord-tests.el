;;; cursord-tests.el --- The package with a daemon  -*- lexical-binding: t; -*-

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
               (file-name-directory
                (or (bound-and-true-p byte-compile-current-file)
                    load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-review)
(require 'cursord-first)
(require 'cursord-options)
(require 'cursord-doctor)

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
          (string-match-p (concat "\\`\n## You\n\nchange f\n\n## Cursor\n\n"
                                  "I change f\\. ?\n\n✓ .*f \\+3 −3\n"
                                  "\\(?:  │ [-+].*\n\\)+\nDone\\.\n\\'")
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
      (should (string-prefix-p "no such turn none\n"
                               (condition-case err
                                   (cursord-call ws :turn/wait
                                                 '(:turnId "none"))
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

(ert-deftest cursord-test-refused-call ()
  "Why a call was refused is seen without unfolding."
  (cursord-test-with-world
    (let* ((cursord-show-chat-on-ask nil)
           (ws (cursord-workspace-open)))
      (should (equal (concat "✗ npm test (rejected: refused by policy)\n"
                             "  │ refused by policy")
                     (cursord--tool-text
                      ws '( :status "rejected"
                            :tool ( :title "npm test"
                                    :error "refused by policy"))))))))

(ert-deftest cursord-test-keys ()
  "Nothing is bound that the user has not bound; \\`C-c C-c' destroys nothing."
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

(ert-deftest cursord-test-keys-are-described ()
  "Each key after a prefix says what it does, in a command's own words."
  (let (known)
    (dolist (map (list cursord-command-map cursord-hunk-command-map))
      (map-keymap
       (lambda (key described)
         (pcase-let ((`(,words . ,command) described))
           (should (commandp command))
           (should (eq command
                       (keymap-lookup map (key-description (vector key)))))
           (should (stringp words))
           (pcase-dolist (`(,other . ,its) known)
             (should (eq (equal words other) (eq command its))))
           (push described known)))
       map)))
  (should (equal "show as conflicts"
                 (car (alist-get ?s (cdr cursord-hunk-command-map)))))
  (should (equal "another session"
                 (car (alist-get ?s (cdr cursord-command-map))))))

(ert-deftest cursord-test-positions ()
  "Positions count UTF-16 units."
  (with-temp-buffer
    (insert "a\nä😀b\n")
    (should (equal '(:line 1 :character 3) (cursord--position 5)))
    (should (equal '(:line 0 :character 0) (cursord--position 1)))))

(ert-deftest cursord-test-the-root-is-nobodys-workspace ()
  "The root and the home folder, though known, are around no other directory."
  (let* ((top (directory-file-name
               (file-truename (make-temp-file "cursord" t))))
         (home (concat top "/home"))
         (process-environment (cons (concat "HOME=" home) process-environment))
         (abbreviated-home-dir nil))
    (cl-letf (((symbol-function 'cursord-call-host)
               (lambda (&rest _)
                 (list :workspaces
                       (vconcat (mapcar (lambda (dir) (list :workspace dir))
                                        (list "/" home
                                              (concat home "/app"))))))))
      (make-directory (concat home "/app/sub") t)
      (should-not (cursord--known-root top))
      (should-not (cursord--known-root (concat home "/new")))
      (should (equal (cursord--known-root "/") "/"))
      (should (equal (cursord--known-root home) (concat home "/")))
      (should (equal (cursord--known-root (concat home "/app/sub"))
                     (concat home "/app/"))))
    (delete-directory top t)))

(ert-deftest cursord-test-names ()
  "What is shown of numbers, times and names."
  (should (equal "1 hunk" (cursord-plural 1 "hunk")))
  (should (equal "0:42" (cursord--elapsed 42.9)))
  (should (equal "1:01:01" (cursord--elapsed 3661)))
  (should (equal "a/b c" (cursord--patch-name "a" "b c")))
  (should (equal "\"a/q\\\"\\n\"" (cursord--patch-name "a" "q\"\n")))
  (let ((absent (lambda (n)
                  (substring-no-properties
                   (cursord--absent-text (make-list n "x") "-" 'default))))
        (cursord-shown-lines 3))
    (should (equal "-x\n-x\n-x\n-x\n-x\n" (funcall absent 5)))
    (should (equal "-x\n-x\n-x\n-… and 3 lines\n" (funcall absent 6)))
    (setq cursord-shown-lines 0)
    (should (equal "-… 1 line\n" (funcall absent 1))))
  (let ((note (cursord--filled (string-join (make-list 40 "word") " "))))
    (dolist (line (split-string note "\n"))
      (should (< (length line) 80)))))

(ert-deftest cursord-test-lighter ()
  "The mode line explains itself when the mouse is over it."
  (cursord-test-with-world
    (cursord-test-open)
    (let ((help (lambda () (get-text-property 1 'help-echo (cursord-lighter)))))
      (should (equal "Cursor's agent: idle, nothing to review\nmouse-1: menu"
                     (funcall help)))
      (cl-letf (((symbol-function 'cursord-pending) (lambda (_) '(2 . 1)))
                ((symbol-function 'cursord-state) (lambda (_) 'review)))
        (should (equal "Cursor's agent: 2 hunks to review\nmouse-1: menu"
                       (funcall help)))))))

(ert-deftest cursord-test-questions ()
  "Trust is asked for, and an empty answer chooses nothing."
  (cursord-test-with-world
    (let ((ws (cursord-workspace-open)))
      (cursord-test-until "the subscription" (cursord-workspace-ready ws))
      (setq cursord-test-answers '(nil t))
      (cursord-trust)
      (should-not (cursord-trusted-p ws))
      (cursord-trust)
      (should (cursord-trusted-p ws))
      (cursord-trust t)
      (should-not (cursord-trusted-p ws))
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "")))
        (dolist (command '( cursord-set-model cursord-set-mode
                            cursord-set-sandbox cursord-set-isolation))
          (should (equal "Nothing was chosen"
                         (cadr (should-error (call-interactively command)))))))
      (should-not (cursord-next-options ws)))))

(ert-deftest cursord-test-docstrings-fit-the-manual ()
  "Each command, option and face that the manual names is there."
  (with-temp-buffer
    (insert-file-contents
     (expand-file-name "cursord.texi"
                       (file-name-directory
                        (locate-library "cursord-doctor"))))
    (let ((n 0))
      (while (re-search-forward (concat "@\\(?:code{\\|item[x]? M-x \\|kbd{M-x"
                                        " \\)\\(cursord[a-z-]*\\)")
                                nil t)
        (let ((symbol (intern (match-string 1))))
          (setq n (1+ n))
          (unless (memq symbol '(cursord-event-functions))
            (should (or (fboundp symbol) (boundp symbol) (facep symbol))))))
      (should (> n 20)))))

(ert-deftest cursord-test-quit-waits ()
  "A key that quits costs no message, and leaves no buffer changed by half."
  (let (cursord--queue cursord--taken cursord--timer done)
    (let ((inhibit-quit t))             ; so that the test goes on
      (cursord--enqueue (lambda () (setq quit-flag t) (push 'one done)) 0)
      (cursord--enqueue (lambda () (push 'two done)) 0)
      (cursord-test-until "the messages" (memq 'two done))
      (should quit-flag)
      (setq quit-flag nil))
    (should (equal '(two one) done)))
  (with-temp-buffer
    (should (equal 'quit
                   (condition-case nil
                       (progn
                         (cursord-as-one-step
                           (insert "one\n")
                           (setq quit-flag t)
                           (insert "two\n"))
                         ;; Here it quits.
                         (dotimes (i 1000) (ignore i)))
                     (quit 'quit))))
    (should (equal "one\ntwo\n" (buffer-string)))))

(ert-deftest cursord-test-doctor-says-it-once ()
  (with-temp-buffer
    (cursord--doctor-daemon
     '(:agent ( :state "notInstalled"
                :message "cursor-agent is not installed")))
    (should (string-match-p "^✗ agent +cursor-agent is not installed$"
                            (buffer-string)))))

(provide 'cursord-tests)
;;; cursord-tests.el ends here
