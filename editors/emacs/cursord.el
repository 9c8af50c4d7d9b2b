;;; cursord.el --- Cursor's agent, hunk by hunk  -*- lexical-binding: t; -*-

;; Author: The cursord authors
;; Maintainer: The cursord authors
;; URL: https://github.com/cursord/cursord
;; Version: 0.1.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: tools, convenience
;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Ask Cursor's command line agent from any buffer, read what it says while it
;; says it, and accept or reject its changes hunk by hunk.  A daemon, the
;; program `cursord', does the work: turns go on when Emacs ends, and sessions
;; and pending hunks are there again when Emacs starts.
;;
;; The agent writes files while it works.  A hunk is one of its changes that you
;; have neither accepted nor rejected.  Accepting a hunk writes nothing.
;; Rejecting it puts back the lines that were there before, and no other: what
;; you typed stays, also in the middle of a hunk.
;;
;; The package needs the program `cursord' and no other package.  It binds no
;; key by itself, and loads when you first use it:
;;
;;   (keymap-global-set "C-c a" 'cursord-command-map)
;;   (cursord-mode)  ; marks hunks in buffers, shows the state in mode lines
;;
;; The first commands to try:
;;
;;   M-x cursord-ask     asks in the minibuffer, with the region if active;
;;                       with C-u in a buffer, which completes @src/main.go,
;;                       @region and @diagnostics
;;   M-x cursord         goes to the chat of the project; with C-u, it begins a
;;                       new session
;;   M-x cursord-review  shows all hunks as a diff: a accepts, r rejects
;;   M-x cursord-menu    has all other commands
;;   M-x cursord-doctor  says what is installed, and what is wrong
;;
;; The manual, C-h R cursord, describes all of it.

;;; Code:

;; This file loads no other: the first command loads the rest.
(declare-function cursord-workspace-find "cursord-workspace" (&optional buffer))
(declare-function cursord-state "cursord-workspace" (ws))
(declare-function cursord-pending "cursord-workspace" (ws))
(declare-function cursord--dress-all "cursord-marks")
(declare-function cursord-work "cursord-workspace" (ws))
(defvar cursord-event-functions)
(defvar Info-directory-list)

(autoload 'cursord-doctor "cursord-doctor" nil t)
(autoload 'cursord "cursord-chat" nil t)
(autoload 'cursord-menu "cursord-menu" nil t)
(autoload 'cursord-ask "cursord-ask" nil t)
(autoload 'cursord-compose "cursord-ask" nil t)
(autoload 'cursord-add "cursord-add" nil t)
(autoload 'cursord-cancel "cursord-session" nil t)
(autoload 'cursord-steer "cursord-session" nil t)
(autoload 'cursord-resume "cursord-session" nil t)
(autoload 'cursord-sessions "cursord-sessions" nil t)
(autoload 'cursord-search "cursord-search" nil t)
(autoload 'cursord-attempts "cursord-attempts" nil t)
(autoload 'cursord-fork-session "cursord-sessions" nil t)
(autoload 'cursord-projects "cursord-projects" nil t)
(autoload 'cursord-retry "cursord-again" nil t)
(autoload 'cursord-edit-prompt "cursord-again" nil t)
(autoload 'cursord-rewind "cursord-rewind" nil t)
(autoload 'cursord-why "cursord-why" nil t)
(autoload 'cursord-export "cursord-again" nil t)
(autoload 'cursord-keep-options "cursord-options" nil t)
(autoload 'cursord-bookmark-jump "cursord-restore")
(autoload 'cursord-restore-desktop "cursord-restore")
(autoload 'cursord-trust "cursord-options" nil t)
(autoload 'cursord-next-attention "cursord-session" nil t)
(autoload 'cursord-approvals "cursord-approvals" nil t)
(autoload 'cursord-set-model "cursord-options" nil t)
(autoload 'cursord-set-mode "cursord-options" nil t)
(autoload 'cursord-set-isolation "cursord-options" nil t)
(autoload 'cursord-set-sandbox "cursord-options" nil t)
(autoload 'cursord-set-auto-review "cursord-options" nil t)
(autoload 'cursord-add-directory "cursord-options" nil t)
(autoload 'cursord-add-image "cursord-options" nil t)
(autoload 'cursord-rename-session "cursord-session" nil t)
(autoload 'cursord-delete-session "cursord-session" nil t)
(autoload 'cursord-review "cursord-review" nil t)
(autoload 'cursord-accept-hunk "cursord-hunks" nil t)
(autoload 'cursord-reject-hunk "cursord-hunks" nil t)
(autoload 'cursord-accept-file "cursord-hunks" nil t)
(autoload 'cursord-reject-file "cursord-hunks" nil t)
(autoload 'cursord-accept-all "cursord-hunks" nil t)
(autoload 'cursord-reject-all "cursord-hunks" nil t)
(autoload 'cursord-dismiss "cursord-hunks" nil t)
(autoload 'cursord-comment-hunk "cursord-hunks" nil t)
(autoload 'cursord-next-hunk "cursord-hunks" nil t)
(autoload 'cursord-previous-hunk "cursord-hunks" nil t)
(autoload 'cursord-undo "cursord-decide" nil t)
(autoload 'cursord-redo "cursord-decide" nil t)
(autoload 'cursord-ediff-file "cursord-compare" nil t)
(autoload 'cursord-smerge-file "cursord-merge" nil t)
(autoload 'cursord-edit-proposal "cursord-compare" nil t)

;;;###autoload (autoload 'cursord-command-map "cursord" nil nil 'keymap)
(defvar-keymap cursord-command-map
  :doc "Commands for a project, its sessions and its turns, for you to bind.
For example by (keymap-global-set \"C-c a\" cursord-command-map).  Those for
one hunk are in `cursord-hunk-command-map' as well, after `cursord-hunk-prefix',
where some keys are different commands: they are those of the review."
  "c" '("chat" . cursord)
  "SPC" '("ask" . cursord-ask)
  "w" '("write in a buffer" . cursord-compose)
  "+" '("add what is here" . cursord-add)
  "i" '("add to the turn" . cursord-steer)
  "k" '("cancel" . cursord-cancel)
  "s" '("another session" . cursord-resume)
  "S" '("all sessions" . cursord-sessions)
  "P" '("projects" . cursord-projects)
  "y" '("ask again" . cursord-retry)
  "e" '("edit the prompt" . cursord-edit-prompt)
  "R" '("back to a turn" . cursord-rewind)
  "f" '("fork the session" . cursord-fork-session)
  "/" '("search sessions" . cursord-search)
  "A" '("attempts" . cursord-attempts)
  "?" '("why this line" . cursord-why)
  "o" '("what waits" . cursord-next-attention)
  "m" '("menu" . cursord-menu)
  "t" '("trust here" . cursord-trust)
  "q" '("what agents ask" . cursord-approvals)
  "x" '("export the session" . cursord-export)
  "N" '("rename the session" . cursord-rename-session)
  "X" '("delete a session" . cursord-delete-session)
  "d" '("add a folder" . cursord-add-directory)
  "I" '("add an image" . cursord-add-image)
  "v" '("all hunks" . cursord-review)
  "n" '("next hunk" . cursord-next-hunk)
  "p" '("previous hunk" . cursord-previous-hunk)
  "a" '("accept hunk" . cursord-accept-hunk)
  "r" '("reject hunk" . cursord-reject-hunk)
  "u" '("undo decision" . cursord-undo)
  "U" '("redo decision" . cursord-redo)
  "D" '("doctor" . cursord-doctor))
(defalias 'cursord-command-map cursord-command-map)

;;;; Keys in files

(defvar cursord-hunk-command-map)       ; cursord-hunks.el
(defvar cursord--keys-here)             ; cursord-signs.el

(defvar cursord-file-map (make-sparse-keymap)
  "Keymap of `cursord-mode'; it has `cursord-hunk-prefix'.
If that were bound in files with hunks alone, or on hunks, its second key would
be typed into the text elsewhere.")

(defun cursord--hunk-keys (_map)
  "Return `cursord-hunk-command-map' in buffers of files.
Return nil where the prefix is a key of the major mode, as in Org tables, unless
the buffer has had hunks."
  (and buffer-file-name cursord-hunk-prefix
       (or (bound-and-true-p cursord--keys-here)
           (let ((own (local-key-binding (key-parse cursord-hunk-prefix))))
             ;; A number says that a part of the prefix is no prefix there.
             (or (null own) (numberp own))))
       ;; Emacs loads no keymap behind a filter.
       (require 'cursord-hunks)
       cursord-hunk-command-map))

(defun cursord--bind-hunk-prefix (symbol value)
  "Set SYMBOL, `cursord-hunk-prefix', to VALUE, and bind that key."
  (when (bound-and-true-p cursord-hunk-prefix)
    (keymap-unset cursord-file-map cursord-hunk-prefix t))
  (set-default symbol value)
  (when value
    (keymap-set cursord-file-map value
                '(menu-item "hunk of the agent" nil
                            :filter cursord--hunk-keys))))

(defcustom cursord-hunk-prefix "C-c ="
  "Prefix of `cursord-hunk-command-map' in files; nil for none.
A key of the major mode goes before it in files that have no hunks."
  :type '(choice (const :tag "None" nil) key)
  :set #'cursord--bind-hunk-prefix
  :group 'cursord)

;;;; The manual

;; A package in a folder of a larger checkout has its manual there, where Info
;; does not look by itself.
;;;###autoload
(when load-file-name
  (add-to-list 'Info-default-directory-list
               (file-name-directory load-file-name))
  (when (bound-and-true-p Info-directory-list)
    (add-to-list 'Info-directory-list (file-name-directory load-file-name))))

;;;; Chats of a saved desktop

;;;###autoload
(add-to-list 'desktop-buffer-mode-handlers
             '(cursord-chat-mode . cursord-restore-desktop))

;;;; The mode line

(defvar-keymap cursord-lighter-map
  :doc "Keys of `cursord-lighter' in the mode line."
  "<mode-line> <mouse-1>" #'cursord-menu)

(defun cursord-lighter ()
  "Return the text of `cursord-mode' in the mode line: \" cu[STATE HUNKS]\"."
  (if-let* ((ws (and (featurep 'cursord-workspace) (cursord-workspace-find))))
      (let* ((state (cursord-state ws))
             (hunks (car (cursord-pending ws)))
             (word (if (eq state 'working) (cursord-work ws) state))
             (asks (equal word "asks you"))
             (word (if asks
                       (cursord-asks-word
                        (hash-table-values (cursord-workspace-approvals ws)))
                     word))
             (hunks-word (if (= hunks 1) "1 hunk" (format "%d hunks" hunks))))
        (propertize
         (pcase state
           ('off " cu[off]")
           ('idle " cu")
           ('review (format " cu[%d]" hunks))
           (_ (cond ((or (zerop hunks) (and asks (< (window-width) 80)))
                     (format " cu[%s]" word))
                    ;; A bare number would be that of the questions.
                    (asks (format " cu[%s, %s]" word hunks-word))
                    (t (format " cu[%s %d]" word hunks)))))
         'help-echo (format "Cursor's agent: %s%s\nmouse-1: menu"
                            (pcase state
                              ('off "not connected")
                              ('review "")
                              (_ (format "%s, " word)))
                            (cond ((eq state 'off) "")
                                  ((zerop hunks) "nothing to review")
                                  (t (concat hunks-word " to review"))))
         'mouse-face 'mode-line-highlight
         'local-map cursord-lighter-map))
    ""))

(defun cursord--lighter-at (place)
  "Return the text of `cursord-mode' at PLACE in the mode line.
That is among the `modes'; but a narrow window shows only the begin of these, so
there it is before the `position'."
  (let ((place-now (if (and (< (window-width) 80) (listp mode-line-format)
                            (memq 'mode-line-position mode-line-format))
                       'position
                     'modes))
        (text (cursord-lighter)))
    (cond ((not (eq place place-now)) "")
          ((or (eq place 'modes) (string-empty-p text)) text)
          (t (concat text "  ")))))

(defconst cursord--position
  '(cursord-mode (:eval (cursord--lighter-at 'position)))
  "What `cursord-mode' adds to `mode-line-position'.")

(autoload 'cursord-first-look "cursord-first")
(autoload 'cursord-look-often "cursord-first")

(defun cursord--update-mode-lines (event _ws _object _before)
  "Draw the mode lines again at the EVENT `update'."
  (when (eq event 'update)
    (force-mode-line-update t)))

;;;###autoload
(define-minor-mode cursord-mode
  "Show the state of a buffer's project in the mode line.
Mark pending hunks in the buffers of files."
  :global t
  :group 'cursord
  :lighter (:eval (cursord--lighter-at 'modes))
  :keymap cursord-file-map
  (if (not cursord-mode)
      (progn
        (remove-hook 'find-file-hook #'cursord-first-look)
        (remove-hook 'cursord-event-functions #'cursord--update-mode-lines))
    (add-hook 'cursord-event-functions #'cursord--update-mode-lines)
    (add-hook 'find-file-hook #'cursord-first-look)
    (when (seq-some (lambda (buffer)
                      (buffer-local-value 'buffer-file-name buffer))
                    (buffer-list))
      (cursord-first-look)))
  (let ((others (remove cursord--position
                        (ensure-list (default-value 'mode-line-position)))))
    (setq-default mode-line-position
                  (if cursord-mode (cons cursord--position others) others)))
  (when (or cursord-mode (featurep 'cursord-first))
    (cursord-look-often cursord-mode))
  (when (fboundp 'cursord--dress-all)
    (cursord--dress-all))
  (force-mode-line-update t))

(provide 'cursord)
;;; cursord.el ends here
