;;; cursord-why.el --- Prompts that lines come from  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The daemon knows the sources of the lines of a file on the disk.  In a buffer
;; with unsaved changes, the lines that the file has too are found there.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-author)
(require 'cursord-document)
(require 'cursord-chat)
(require 'cursord-edits)
(require 'cursord-session)

(defvar-keymap cursord-why-mode-map
  :doc "Keys where the sources of lines are shown."
  :parent special-mode-map
  "RET" #'cursord-why-go
  "TAB" #'forward-button
  "<backtab>" #'backward-button)

(define-derived-mode cursord-why-mode special-mode "Cursord-Why"
  "The prompts that lines of a file come from.
\\{cursord-why-mode-map}"
  :interactive nil
  (setq truncate-lines nil
        word-wrap t
        header-line-format
        (cursord-key-text
         (concat " \\<cursord-why-mode-map>\\[cursord-why-go] to the prompt"
                 " · \\[quit-window] quit"))))

;;;; Which lines

(defun cursord--why-region ()
  "Return the lines of the region, else the one at point: (FROM . TO).
They count from 0; TO is outside."
  (save-excursion
    (let* ((region (use-region-p))
           (beg (if region (region-beginning) (point)))
           (end (if region (region-end) (point)))
           (from (1- (line-number-at-pos beg t))))
      (goto-char end)
      (cons from
            (if (and (> end beg) (bolp))
                (1- (line-number-at-pos end t))
              (line-number-at-pos end t))))))

(defun cursord--why-rows (disk mine)
  "Return the rows of the lines of the text MINE in the text DISK, a vector."
  (cl-flet ((lines (text)
              (if (string-match-p "[^\n]\\'" text) (concat text "\n") text)))
    (cursord-edit-rows (lines disk) (lines mine))))

(defun cursord--why-parts (rows lines runs)
  "Return what is known of LINES, (FROM . TO), a list of plists like RUNS.
ROWS are those on the disk, of which the answer RUNS is.  Of lines that are not
there, :unsaved is non-nil."
  (let (parts)
    (cl-loop
     for row from (car lines) below (cdr lines)
     for there = (aref rows row)
     for run = (if there
                   (cl-flet ((has-p (run)
                               (and (plist-member run :from)
                                    (<= (plist-get run :from) there)
                                    (< there (plist-get run :to)))))
                     (if (has-p run) run (seq-find #'has-p runs)))
                 '(:unsaved t))
     do (if (and parts (eq run (caar parts)))
            (setf (cddar parts) (1+ row))
          (push (cons run (cons row (1+ row))) parts)))
    (mapcar (pcase-lambda (`(,run ,from . ,to))
              `(:from ,from :to ,to ,@run))
            (nreverse parts))))

(defun cursord--why-disk (file)
  "Return the text of FILE, decoded as the current buffer is."
  (let ((coding-system-for-read buffer-file-coding-system))
    (condition-case nil
        (with-temp-buffer
          (insert-file-contents file)
          (buffer-string))
      (file-missing
       (user-error "%s is not on the disk; save the buffer first"
                   (abbreviate-file-name file))))))

;;;; What is shown

(defun cursord--why-session (ws id)
  "Return the session of WS with ID, or nil if it was deleted."
  (or (gethash id (cursord-workspace-sessions ws))
      (ignore-error user-error
        (plist-get (cursord-call ws :session/read
                                 (list :sessionId id :limit 1))
                   :session))))

(defun cursord--why-lines (run)
  "Return the name of the lines of RUN."
  (let ((from (1+ (plist-get run :from)))
        (to (plist-get run :to)))
    (if (= from to) (format "Line %d" from) (format "Lines %d–%d" from to))))

(defun cursord--why-when (at)
  "Return when AT was, for people."
  (if at
      (let ((age (cursord--age at)))
        (format "%s (%s)" (format-time-string "%F %R" (date-to-time at))
                (if (equal age "now") "just now" (concat age " ago"))))
    "at an unknown time"))

(defun cursord--why-insert (ws run)
  "Insert what is known of RUN, lines of a file of WS."
  (let ((source (plist-get run :source)) (from (point)))
    (insert (propertize (cursord--why-lines run) 'face 'bold) "  ")
    (if (null source)
        (insert (propertize
                 (cond
                  ((plist-get run :unsaved) "yours, not saved yet")
                  ((plist-get run :commit)
                   (format "of commit %.10s, which an agent's command brought"
                           (plist-get run :commit)))
                  (t "a person's, or older than cursord"))
                 'face 'cursord-note)
                "\n")
      (let ((session (cursord--why-session ws (plist-get source :sessionId)))
            (prompt (cursord-one-line (plist-get source :prompt))))
        (when (eq (plist-get source :maybeYours) t)
          (insert (propertize cursord-maybe-text 'face 'cursord-maybe-note)
                  "\n  "))
        (insert (cond
                 ((not (string-empty-p prompt))
                  (propertize prompt 'face 'cursord-prompt))
                 ;; The session is still there: it has lost only the turn.
                 (session
                  (propertize (concat "(its turn was taken back: a rewind"
                                      " has removed it, with its prompt)")
                              'face 'cursord-note))
                 (t (propertize "(the prompt was deleted)"
                                'face 'cursord-note)))
                "\n  "
                (propertize (format "%s, %s%s, " (plist-get source :state)
                                    (if (eq (plist-get source :byText) t)
                                        "a guess by the text, " "")
                                    (cursord--why-when (plist-get source :at)))
                            'face 'cursord-note))
        (if session
            (insert-text-button (let ((title (cursord-one-line
                                              (plist-get session :title))))
                                  (if (string-empty-p title)
                                      "(no title)"
                                    title))
                                'action (lambda (_) (cursord-why-go))
                                'help-echo "Go to the prompt in its session")
          (insert (propertize "a session that was deleted"
                              'face 'cursord-note)))
        (insert "\n")
        (put-text-property from (point) 'cursord-source source)))))

(defun cursord--why-show (ws path runs note)
  "Show RUNS of the file PATH of WS, and NOTE."
  (let ((buffer (get-buffer-create "*cursord why*")))
    (with-current-buffer buffer
      (cursord-why-mode)
      (setq cursord-buffer-workspace ws
            default-directory (cursord-workspace-root ws))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (seq-doseq (run runs)
          (cursord--why-insert ws run))
        (insert (propertize (concat path (if note (concat ": " note) ""))
                            'face 'cursord-note)
                "\n"))
      (set-buffer-modified-p nil)
      (goto-char (or (text-property-not-all (point-min) (point-max)
                                            'cursord-source nil)
                     (point-min))))
    (pop-to-buffer buffer
                   `((display-buffer-reuse-window
                      display-buffer-below-selected)
                     (window-height . ,(lambda (window)
                                         (fit-window-to-buffer
                                          window (/ (frame-height) 2))))))))

(defun cursord-why-go ()
  "Go to the prompt of the lines at point, in the chat of its session."
  (interactive (cursord-only-in 'cursord-why-mode) cursord-why-mode)
  (let* ((ws cursord-buffer-workspace)
         (source (or (cursord--property-here 'cursord-source)
                     (user-error "No prompt is known for these lines")))
         (session (or (cursord--why-session ws (plist-get source :sessionId))
                      (user-error "The session was deleted"))))
    (quit-window)
    (cursord-chat-go-to ws session
                        (cursord-chat-place (plist-get source :turnId) nil))))

;;;###autoload
(defun cursord-why (&optional whole)
  "Show which prompts the line at point, or those of the region, come from.
With a prefix argument WHOLE, show it for all lines of the file.  In the window
below, \\<cursord-why-mode-map>\\[cursord-why-go] goes to the prompt in its
session."
  (interactive "P")
  (let* ((buffer (or (buffer-base-buffer) (current-buffer)))
         (file (or (buffer-file-name buffer)
                   (user-error "This buffer has no file")))
         (name (file-truename file))
         (ws (cursord-workspace-open))
         (path (or (cursord-path ws name)
                   (user-error "%s is outside of %s" (abbreviate-file-name file)
                               (abbreviate-file-name
                                (cursord-workspace-root ws)))))
         (mine (cursord--whole-text))
         (disk (progn
                 (unless (with-current-buffer buffer (cursord--plain-p))
                   (user-error
                    "This buffer does not show the lines of its file"))
                 (cursord--why-disk name)))
         (rows (cursord--why-rows disk mine))
         (lines (if whole (cons 0 (length rows)) (cursord--why-region)))
         (lines (cons (car lines) (min (cdr lines) (length rows))))
         (there (delq nil (append (seq-subseq rows (min (car lines) (cdr lines))
                                              (cdr lines))
                                  nil)))
         (runs (and there
                    (append (plist-get
                             (cursord-call ws :file/why
                                           `( :path ,path
                                              :lines
                                              ( :from ,(seq-min there)
                                                :to ,(1+ (seq-max there)))))
                             :lines)
                            nil)))
         (parts (cursord--why-parts rows lines runs))
         (all (list :from (car lines) :to (cdr lines)))
         (several (> (cdr lines) (1+ (car lines)))))
    (deactivate-mark)
    (cond
     ((or (null parts) (and there (null runs)))
      (user-error (if whole "%s has no lines, or is binary"
                    "%s has no such line, or is binary")
                  path))
     ((null there)
      (cursord-say "%s: yours, not saved yet" (cursord--why-lines all)))
     ((seq-every-p (lambda (part) (not (or (plist-get part :source)
                                           (plist-get part :commit))))
                   parts)
      (cursord-say (concat "%s: no prompt is known; a person wrote %s,"
                           " or %s older than cursord")
                   (if whole path (cursord--why-lines all))
                   (if several "them" "it")
                   (if several "they are" "it is")))
     (t (cursord--why-show ws path parts
                           (and (not (equal mine disk))
                                "the buffer has unsaved changes"))))))

(provide 'cursord-why)
;;; cursord-why.el ends here
