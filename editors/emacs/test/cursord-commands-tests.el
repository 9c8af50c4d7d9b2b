;;; cursord-commands-tests.el --- Refused commands  -*- lexical-binding: t; -*-

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
(dolist (file (directory-files (file-name-directory (locate-library "cursord"))
                               nil "\\`cursord.*\\.el\\'"))
  (unless (string-suffix-p "-tests.el" file)
    (require (intern (file-name-sans-extension file)))))

(defun cursord-test-commands ()
  "All commands of the package, sorted."
  (let (all)
    (mapatoms (lambda (symbol)
                (and (commandp symbol)
                     (string-prefix-p "cursord" (symbol-name symbol))
                     (not (string-prefix-p "cursord-test" (symbol-name symbol)))
                     ;; Parts of the menu.
                     (not (get symbol 'transient--suffix))
                     ;; The world's end calls it.
                     (not (eq symbol 'cursord-disconnect))
                     (push symbol all))))
    (sort all #'string<)))

(defun cursord-test-call (command answer)
  "Call COMMAND as a key does; ANSWER answers each question.
Return nil, or the error that it signals."
  (cl-letf (((symbol-function 'read-from-minibuffer)
             (lambda (&rest _) (signal 'quit nil)))
            ((symbol-function 'completing-read)
             (lambda (&rest _) (signal 'quit nil)))
            ((symbol-function 'read-file-name)
             (lambda (&rest _) (signal 'quit nil)))
            ((symbol-function 'transient-setup) #'ignore)
            ((symbol-function 'yes-or-no-p) (lambda (_) answer))
            ((symbol-function 'y-or-n-p) (lambda (_) answer)))
    (let ((inhibit-message t) (last-nonmenu-event ?\r) (last-command-event ?1)
          (current-prefix-arg nil))
      (condition-case err
          (progn (call-interactively command) nil)
        ((quit end-of-file) nil)        ; the person has answered nothing
        (error err)))))

(ert-deftest cursord-test-commands-in-a-file ()
  "No command changes a file's buffer or signals an error of Lisp there."
  (cursord-test-with-world
    (let* ((text "one\ntwo\n")
           (file (cursord-test-file "f"))
           (buffer (progn (cursord-test-put "f" text)
                          (find-file-noselect file))))
      (cursord-test-open)
      (dolist (command (cursord-test-commands))
        (dolist (answer '(nil t))
          (with-current-buffer buffer
            (erase-buffer)
            (insert text "unsaved"))
          (delete-other-windows)
          (switch-to-buffer buffer)
          (ert-info ((format "%s %s" command answer))
            (let ((mode major-mode)
                  (err (cursord-test-call command answer)))
              (unless (memq (car err) '(nil user-error))
                (ert-fail err))
              (should (buffer-live-p buffer))
              (with-current-buffer buffer
                (should (equal (concat text "unsaved") (buffer-string)))
                (should (buffer-modified-p))
                (should (eq mode major-mode))
                (should-not header-line-format))))))
      (cursord-test-until "the last commands" (null cursord--deciding))
      ;; A list that is shown would connect again.
      (delete-other-windows)
      (switch-to-buffer buffer)
      (dolist (other (buffer-list))
        (when (with-current-buffer other (derived-mode-p 'cursord-list-mode))
          (kill-buffer other))))))

(ert-deftest cursord-test-commands-of-a-mode ()
  "A command of a mode is not offered elsewhere, and says where it belongs."
  (cursord-test-with-world
    (dolist (command (cursord-test-commands))
      (when (command-modes command)
        (ert-info ((symbol-name command))
          (should-not (command-completion-default-include-p command
                                                            (current-buffer)))
          (save-window-excursion
            (let ((err (cursord-test-call command t)))
              (should (eq 'user-error (car err)))
              (should (string-match-p
                       ": M-x cursord.* leads there\\'\\|answer it here\\'"
                       (cadr err))))))))))

(ert-deftest cursord-test-wrapping-counts-what-no-buffer-shows ()
  "Going on behind the last hunk says how many hunks no buffer shows."
  (cursord-test-with-world
    (let ((ws (progn (dolist (name '("f" "m" "r"))
                       (cursord-test-put name (concat name "\n1\n2\n3\n")))
                     (cursord-test-open)))
          said)
      (cursord-test-plays
       (cursord-test-runs (concat "ln -s f link; printf '\\0' >bin; mv r s;"
                                  " chmod +x m; echo 4 >>f; : >empty")))
      (find-file (cursord-test-file "f"))
      (cursord-test-turn ws "change all")
      (cursord-test-until "the hunks" (equal '(6 . 6) (cursord-pending ws)))
      (goto-char (point-min))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (push (apply #'format format args) said))))
        (dotimes (_ 6)
          (unless said
            (cursord-next-hunk))))
      (should (equal (concat "cursord: from the last hunk to the first;"
                             " 4 more only in M-x cursord-review")
                     (car said))))))

;;; cursord-commands-tests.el ends here
