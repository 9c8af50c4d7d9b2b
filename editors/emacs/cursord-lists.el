;;; cursord-lists.el --- The base of lists  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Both lists can be limited by words, follow the daemon while a window shows
;; them, and have fewer columns in narrow windows.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'tabulated-list)
(require 'cursord-workspace)
(require 'cursord-chat)
(require 'cursord-session)
(require 'cursord-review)

(defvar-local cursord--list-entries nil
  "The function that returns all entries of a list.")
(defvar-local cursord--list-columns nil
  "The function that returns the columns, given whether the window is narrow.")
(defvar-local cursord--list-empty "Nothing yet: M-x cursord-ask asks the agent."
  "What an empty list says.")
(defvar-local cursord--list-words ""
  "Words that rows must have; \"\" for all rows.")
(defvar-local cursord--list-narrow 'unknown
  "Whether the columns are those of a narrow window.")

(defconst cursord--list-width 64
  "In narrower windows a list has fewer columns.")

(defvar-keymap cursord-list-mode-map
  :doc "Keys in lists of sessions and projects."
  :parent tabulated-list-mode-map
  "/" #'cursord-list-limit
  "v" #'cursord-list-review)

(define-derived-mode cursord-list-mode tabulated-list-mode "Cursord-List"
  "Parent of lists of sessions and projects."
  :interactive nil
  :abstract t
  (setq tabulated-list-padding 1
        mode-line-process
        '(:eval (if (string-empty-p cursord--list-words) ""
                  (format " /%s" cursord--list-words))))
  (add-hook 'tabulated-list-revert-hook #'cursord--list-read nil t)
  (add-hook 'window-configuration-change-hook #'cursord--list-fit nil t))

(defun cursord-face-of-state (state)
  "Return STATE, a word, with its face."
  (propertize state 'face (pcase state
                            ((or "running" "working") 'cursord-tool)
                            ((or "failed" "gone") 'cursord-failed)
                            ("queued" 'warning)
                            (_ 'cursord-note))))

(defun cursord--list-count (n)
  "Return N as the text of a column, empty for 0."
  (if (zerop n) "" (propertize (number-to-string n) 'face 'warning)))

(defun cursord--list-hunks< (column)
  "Return a predicate that sorts entries by the number in COLUMN."
  (lambda (a b)
    (< (string-to-number (aref (cadr a) column))
       (string-to-number (aref (cadr b) column)))))

(defun cursord--list-fits-p (entry words)
  "Return non-nil if the columns of ENTRY contain all WORDS."
  (let ((text (downcase (mapconcat #'identity (cadr entry) " "))))
    (seq-every-p (lambda (word) (string-search (downcase word) text)) words)))

(defun cursord--list-room ()
  "Return how many columns the window of the current list has."
  (window-width (or (get-buffer-window nil t) (selected-window))))

(defun cursord--list-read ()
  "Bring the entries of the current buffer, a list, up to date."
  (let ((words (split-string cursord--list-words))
        (narrow (< (cursord--list-room) cursord--list-width)))
    (unless (eq narrow cursord--list-narrow)
      (setq cursord--list-narrow narrow
            tabulated-list-format (funcall cursord--list-columns narrow))
      (tabulated-list-init-header))
    (setq tabulated-list-entries
          (seq-filter (lambda (entry) (cursord--list-fits-p entry words))
                      (funcall cursord--list-entries narrow)))))

(defun cursord--list-fit ()
  "Fit the columns of the current list to its window."
  (let ((window (get-buffer-window)))
    (when (and window (derived-mode-p 'cursord-list-mode)
               (not (eq cursord--list-narrow
                        (< (window-width window) cursord--list-width))))
      (cursord-protected #'cursord--list-show))))

(defun cursord--list-show ()
  "Read the current list again and print it."
  (cursord--list-read)
  (tabulated-list-print t)
  (when (null tabulated-list-entries)
    (let ((inhibit-read-only t)
          (text (if (string-empty-p cursord--list-words)
                    (cursord--with-keys cursord--list-empty)
                  "No row has these words.")))
      (insert (propertize (concat (replace-regexp-in-string
                                   "^" " "
                                   (string-fill text
                                                (- (cursord--list-room) 2)))
                                  "\n")
                          'face 'cursord-note))))
  (set-buffer-modified-p nil))

(defun cursord--list-open (name mode)
  "Show the list in the buffer called NAME, whose mode is MODE."
  (pop-to-buffer (get-buffer-create name))
  (unless (eq major-mode mode)
    (funcall mode))
  (cursord--list-show))

(defvar cursord--list-timer nil "The timer that brings lists up to date.")

(defun cursord--list-event (event _ws _object _before)
  "Bring shown lists up to date soon after EVENT."
  (when (and (memq event '(session turn)) (not cursord--list-timer)
             (cursord--lists-seen))
    (setq cursord--list-timer (run-at-time 0.3 nil #'cursord--list-follow))))

(defun cursord--lists-seen ()
  "Return the lists that windows show."
  (seq-filter (lambda (buffer)
                (and (provided-mode-derived-p
                      (buffer-local-value 'major-mode buffer)
                      'cursord-list-mode)
                     (get-buffer-window buffer t)))
              (buffer-list)))

(defun cursord--list-follow ()
  "Bring the shown lists up to date."
  (setq cursord--list-timer nil)
  (dolist (buffer (cursord--lists-seen))
    (with-current-buffer buffer
      (ignore-error user-error
        (cursord-protected #'cursord--list-show)))))

(defun cursord-list-limit (words)
  "Show only rows that have all WORDS; all rows if there are none."
  (interactive (progn
                 (cursord-only-in 'cursord-list-mode)
                 (list (read-string "Only rows with: " cursord--list-words)))
               cursord-list-mode)
  (setq cursord--list-words (string-trim words))
  (cursord--list-show))

(defun cursord--list-here ()
  "Return the session or project of the row at point."
  (or (tabulated-list-get-id) (user-error "There is nothing in this line")))

(defun cursord--list-workspace ()
  "Return the workspace of the row at point."
  (let ((root (plist-get (cursord--list-here) :workspace)))
    (unless (file-directory-p root)
      (user-error "%s is not there any more" (abbreviate-file-name root)))
    (cursord-workspace-open root)))

(defun cursord-list-review ()
  "Review the pending changes in the project of the row at point."
  (interactive (cursord-only-in 'cursord-list-mode) cursord-list-mode)
  (let ((ws (cursord--list-workspace)))
    (with-current-buffer (cursord--chat-buffer-create ws)
      (cursord-workspace-reviewed))
    (cursord--show-review ws)))

(defun cursord--all-sessions ()
  "Return the sessions of all projects of this machine, the latest first."
  (let (all cursor (more t))
    (while more
      (let ((page (cursord-call-host nil :session/list
                                     `( :limit 500
                                        ,@(and cursor
                                               (list :cursor cursor))))))
        (setq all (nconc all (append (plist-get page :sessions) nil))
              cursor (plist-get page :nextCursor)
              more (and cursor (length< all 5000)))))
    all))

(defun cursord--all-projects ()
  "Return the projects that the daemon of this machine knows."
  (append (plist-get (cursord-call-host nil :workspace/list nil) :workspaces)
          nil))

(provide 'cursord-lists)
;;; cursord-lists.el ends here
