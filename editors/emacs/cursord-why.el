;;; cursord-why.el --- Which prompts lines come from  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The daemon knows the sources of the lines of a file on the disk.  In a buffer
;; with unsaved changes, lines above the first and below the last change are
;; those of the file; nothing is said of the lines between.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-chat)
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
         " \\<cursord-why-mode-map>\\[cursord-why-go] to the prompt · \\[quit-window] quit")))

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

(defun cursord--why-newlines (text &optional from to)
  "Return how many newlines TEXT has between FROM and TO."
  (with-temp-buffer
    (insert (substring text from to))
    (count-lines (point-min) (if (bolp) (point) (line-beginning-position)))))

(defun cursord--why-shift (mine disk lines)
  "Return what to add to LINES of the text MINE to find them in the text DISK.
Return nil if they may have changed.  LINES are (FROM . TO)."
  (let ((at (compare-strings mine nil nil disk nil nil)))
    (if (eq at t)
        0
      (let* ((same (1- (abs at)))
             (back (compare-strings (reverse mine) nil nil
                                    (reverse disk) nil nil))
             (tail (min (1- (abs back)) (- (length mine) same)
                        (- (length disk) same)))
             (start (- (length mine) tail))
             (newline (string-search "\n" mine start)))
        (cond
         ((<= (cdr lines) (cursord--why-newlines mine 0 same)) 0)
         ((and newline (>= (car lines)
                           (cursord--why-newlines mine 0 (1+ newline))))
          (- (cursord--why-newlines disk) (cursord--why-newlines mine))))))))

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

(defun cursord--why-lines (run shift)
  "Return the name of the lines of RUN, which SHIFT leads to from the buffer's."
  (let ((from (- (1+ (plist-get run :from)) shift))
        (to (- (plist-get run :to) shift)))
    (if (= from to) (format "Line %d" from) (format "Lines %d–%d" from to))))

(defun cursord--why-when (at)
  "Return when AT was, for people."
  (if at
      (let ((age (cursord--age at)))
        (format "%s (%s)" (format-time-string "%F %R" (date-to-time at))
                (if (equal age "now") "just now" (concat age " ago"))))
    "at an unknown time"))

(defun cursord--why-insert (ws run shift)
  "Insert what is known of RUN, lines of a file of WS, SHIFT from the buffer's."
  (let ((source (plist-get run :source)) (from (point)))
    (insert (propertize (cursord--why-lines run shift) 'face 'bold) "  ")
    (if (null source)
        (insert (propertize
                 (if-let* ((commit (plist-get run :commit)))
                     (format "of commit %.10s, which an agent's command brought"
                             commit)
                   "a person's, or older than cursord")
                 'face 'cursord-note)
                "\n")
      (let ((session (cursord--why-session ws (plist-get source :sessionId)))
            (prompt (cursord-one-line (plist-get source :prompt))))
        (insert (cond
                 ((not (string-empty-p prompt))
                  (propertize prompt 'face 'cursord-prompt))
                 ;; The session is still there, so that it has lost only the turn.
                 (session
                  (propertize "(its turn was taken back: a rewind has removed it, with its prompt)"
                              'face 'cursord-note))
                 (t (propertize "(the prompt was deleted)" 'face 'cursord-note)))
                "\n  "
                (propertize (format "%s, %s%s, " (plist-get source :state)
                                    (if (eq (plist-get source :byText) t)
                                        "a guess by the text, " "")
                                    (cursord--why-when (plist-get source :at)))
                            'face 'cursord-note))
        (if session
            (insert-text-button (let ((title (cursord-one-line
                                              (plist-get session :title))))
                                  (if (string-empty-p title) "(no title)" title))
                                'action (lambda (_) (cursord-why-go))
                                'help-echo "Go to the prompt in its session")
          (insert (propertize "a session that was deleted" 'face 'cursord-note)))
        (insert "\n")
        (put-text-property from (point) 'cursord-source source)))))

(defun cursord--why-show (ws path runs shift note)
  "Show RUNS of the file PATH of WS, SHIFT from the buffer's lines, and NOTE."
  (let ((buffer (get-buffer-create "*cursord why*")))
    (with-current-buffer buffer
      (cursord-why-mode)
      (setq cursord-buffer-workspace ws
            default-directory (cursord-workspace-root ws))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (seq-doseq (run runs)
          (cursord--why-insert ws run shift))
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
below, \\<cursord-why-mode-map>\\[cursord-why-go] goes to the prompt in its session."
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
                   (user-error "This buffer does not show the lines of its file"))
                 (cursord--why-disk name)))
         (lines (and (not whole) (cursord--why-region)))
         (shift (if whole 0
                  (or (cursord--why-shift mine disk lines)
                      (user-error "These lines may have changes that are not on the disk: save the buffer, and ask again"))))
         (runs (plist-get
                (cursord-call ws :file/why
                              `(:path ,path
                                      ,@(and lines
                                             `(:lines (:from ,(+ (car lines) shift)
                                                             :to ,(+ (cdr lines) shift))))))
                :lines)))
    (deactivate-mark)
    (cond
     ((seq-empty-p runs)
      (user-error (if whole "%s has no lines, or is binary"
                    "%s has no such line, or is binary")
                  path))
     ((seq-every-p (lambda (run) (not (or (plist-get run :source)
                                          (plist-get run :commit))))
                  runs)
      (cursord-say "%s: no prompt is known; a person wrote %s, or %s older than cursord"
                   (if whole path (cursord--why-lines
                                   (list :from (plist-get (seq-first runs) :from)
                                         :to (plist-get (elt runs (1- (length runs)))
                                                        :to))
                                   shift))
                   (if (or whole (> (cdr lines) (1+ (car lines)))) "them" "it")
                   (if (or whole (> (cdr lines) (1+ (car lines)))) "they are"
                     "it is")))
     (t (cursord--why-show ws path runs shift
                           (and (not (equal mine disk))
                                (if whole
                                    "these are the lines on the disk; the buffer has changes"
                                  "the buffer has changes elsewhere")))))))

(provide 'cursord-why)
;;; cursord-why.el ends here
