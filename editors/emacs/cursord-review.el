;;; cursord-review.el --- All hunks as one diff  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-review' shows the pending changes of a workspace as a unified diff
;; in git's format, in a mode derived from `diff-mode'.  The buffer follows the
;; daemon: hunks come and go, and point stays on its hunk.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'outline)
(require 'cursord-workspace)
(require 'cursord-files)
(require 'cursord-decide)
(require 'cursord-hunks)
(require 'cursord-review-draw)

(autoload 'cursord-ediff-file "cursord-compare" nil t)

(defcustom cursord-review-style 'buffer
  "How `cursord-review' shows hunks.
With `buffer', it shows all hunks as a diff.  With `inline', it goes to the
first hunk in the buffer of its file.  With `ediff', it compares that file with
its former text in Ediff."
  :type '(choice (const buffer) (const inline) (const ediff))
  :group 'cursord)

;;;; Commands

(defun cursord-review-move (count)
  "Go COUNT hunks forward, or back if it is negative."
  (let* ((positions (mapcar #'cdr (cursord--hunk-positions)))
         (here (if (cursord-review-hunk-at (point))
                   (cursord--hunk-beginning (point))
                 (point)))
         (there (if (> count 0)
                    (nth (1- count)
                         (seq-filter (lambda (at) (> at here)) positions))
                  (nth (- -1 count)
                       (reverse (seq-filter (lambda (at) (< at here))
                                            positions))))))
    (unless there
      (user-error (if positions "No more hunks" "There is nothing to review")))
    (goto-char there)
    (cursord-review-refine)))

(defun cursord-review-go-to (buffer ids)
  "Go to the first hunk of BUFFER, a review, whose id is one of IDS, if any."
  (with-current-buffer buffer
    (cursord--review-draw cursord-buffer-workspace)
    (when-let* ((there (seq-find (lambda (one) (member (car one) ids))
                                 (cursord--hunk-positions))))
      (goto-char (cdr there))
      (dolist (window (get-buffer-window-list buffer nil t))
        (set-window-point window (point)))
      (cursord-review-refine))))

(defun cursord-review-next-file (&optional count)
  "Go COUNT files forward in the review."
  (interactive (cursord-count-in 'cursord-review-mode) cursord-review-mode)
  (let ((at (point-min)) (here (line-beginning-position)) starts)
    (dolist (section cursord--sections)
      (push at starts)
      (cl-incf at (length (cursord-section-text section))))
    (let ((there (if (> count 0)
                     (nth (1- count)
                          (seq-filter (lambda (start) (> start here))
                                      (reverse starts)))
                   (nth (- -1 count)
                        (seq-filter (lambda (start) (< start here)) starts)))))
      (unless there
        (user-error (if starts "No more files" "There is nothing to review")))
      (goto-char there))))

(defun cursord-review-previous-file (&optional count)
  "Go COUNT files back in the review."
  (interactive (cursord-count-in 'cursord-review-mode) cursord-review-mode)
  (cursord-review-next-file (- count)))

(defun cursord-review-file-at (position)
  "Return the path and the shown hunks of the file at POSITION."
  (when-let* ((path (get-text-property position 'cursord-path))
              (section (seq-find (lambda (section)
                                   (equal path (cursord-section-path section)))
                                 cursord--sections)))
    (cons path (append (plist-get (cursord-section-diff section) :hunks) nil))))

(defun cursord-review-parts (beg end)
  "Return the parts of hunks in the lines between BEG and END of the review.
The value is a list of (HUNK FROM . TO), counted in the hunk's changed lines."
  (save-excursion
    (goto-char beg)
    (let ((beg (line-beginning-position)) parts)
      (goto-char beg)
      (while (< (point) end)
        (if-let* ((hunk (cursord-review-hunk-at (point))))
            (let ((stop (cursord--hunk-end (point)))
                  (index -1) from to)
              (goto-char (cursord--hunk-beginning (point)))
              (forward-line 1)
              (while (< (point) stop)
                (when (memq (char-after) '(?+ ?-))
                  (cl-incf index)
                  (when (and (<= beg (point)) (< (point) end))
                    (setq from (or from index)
                          to (1+ index))))
                (forward-line 1))
              (when from
                (push (cons hunk (cons from to)) parts))
              (goto-char stop))
          (goto-char (next-single-property-change (point) 'cursord-hunk nil
                                                  (max end (1+ (point)))))))
      (nreverse parts))))

(defun cursord--review-row (position)
  "Return the row, from 0, in its file of the line at POSITION of the review."
  (let ((hunk (or (cursord-review-hunk-at position)
                  (seq-first (cdr (cursord-review-file-at position))))))
    (if (or (null hunk) (seq-empty-p (plist-get hunk :lines)))
        0
      (let* ((isolated (cursord-isolated-p hunk))
             (row (max 0
                       (1- (plist-get hunk (if isolated :oldStart :newStart)))))
             (absent (if isolated ?+ ?-)))
        (if (not (cursord-review-hunk-at position))
            (cursord-hunk-row hunk)
          (save-excursion
            (goto-char position)
            (let ((here (line-beginning-position)))
              (goto-char (cursord--hunk-beginning position))
              (if (eql (point) here)
                  (cursord-hunk-row hunk)
                (forward-line 1)
                (while (< (point) here)
                  (unless (memq (char-after) (list absent ?\\))
                    (cl-incf row))
                  (forward-line 1))
                row))))))))

(defun cursord-review-visit ()
  "Go to the line at point in its file, in another window."
  (interactive (cursord-only-in 'cursord-review-mode) cursord-review-mode)
  (let* ((path (or (get-text-property (point) 'cursord-path)
                   (user-error "There is no file here")))
         (ws cursord-buffer-workspace)
         (row (cursord--review-row (point))))
    (unless (or (cursord-document-at ws path)
                (file-exists-p (cursord-file ws path)))
      (user-error "%s was deleted; its text is here" path))
    (pop-to-buffer (cursord-file-buffer ws path))
    (push-mark nil t)
    (cursord--go-widely (save-restriction
                          (widen)
                          (goto-char (point-min))
                          (forward-line row)
                          (point)))))

(defun cursord-review-keys ()
  "List the keys of the review."
  (interactive (cursord-only-in 'cursord-review-mode) cursord-review-mode)
  (describe-keymap 'cursord-review-mode-map))

(defun cursord--review-header ()
  "Return the header line of a review."
  (let* ((ws cursord-buffer-workspace)
         (pending (cursord-pending ws)))
    (concat
     " "
     (cursord-fitting
      (cons
       (when-let* ((path (get-text-property (point) 'cursord-path))
                   ;; Only if the file's heading is out of sight.
                   ((< (window-start) (point-max)))
                   ((> (window-start) (point-min)))
                   ((equal path
                           (get-text-property (window-start) 'cursord-path)))
                   ((equal path (get-text-property (1- (window-start))
                                                   'cursord-path))))
         (cons 1 (propertize (string-replace "%" "%%" path) 'face 'bold)))
       (cons
        (cond ((not (cursord-workspace-ready ws)) "not connected")
              ((zerop (cdr pending)) "nothing to review")
              (t (format "%s in %s" (cursord-plural (car pending) "hunk")
                         (cursord-plural (cdr pending) "file"))))
        (mapcar
         (lambda (part)
           (cons (car part)
                 (cursord-key-text
                  (concat "\\<cursord-review-mode-map>" (cdr part)))))
         (if (and (cursord-workspace-ready ws) (zerop (cdr pending)))
             '((3 . "\\[cursord-undo] undo") (2 . "\\[quit-window] quit"))
           '((2 . "\\[cursord-accept-hunk] accept")
             (3 . "\\[cursord-reject-hunk] reject")
             (4 . "\\[cursord-undo] undo")
             (5 . "\\[cursord-comment-hunk] comment")
             (nil . "\\[cursord-review-keys] keys"))))))))))

;;;; Isearch

(defun cursord--headings ()
  "Return the headings of files as they are shown: a list of (BEG END . TEXT)."
  (let (headings)
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward "^diff --git .*$" nil t)
        (push (cons (match-beginning 0)
                    (cons (match-end 0)
                          (get-text-property (match-beginning 0)
                                             'cursord-display)))
              headings)))
    (nreverse headings)))

(defun cursord--search-headings (search string bound)
  "Return the next heading in which SEARCH finds STRING, up to BOUND."
  (let* ((from (point))
         (headings (seq-filter
                    (pcase-lambda (`(,beg ,end . ,_))
                      (if isearch-forward
                          (and (<= from beg) (<= end (or bound end)))
                        (and (<= end from) (<= (or bound beg) beg))))
                    (cursord--headings))))
    (with-temp-buffer
      (insert (mapconcat #'cddr headings "\n"))
      (goto-char (if isearch-forward (point-min) (point-max)))
      (when (funcall search string nil t)
        (nth (1- (line-number-at-pos (match-beginning 0))) headings)))))

(defun cursord--review-search-fun ()
  "Return a function by which Isearch finds headings, too, as they are shown.
The match is git's line, which the heading hides."
  (let ((search (isearch-search-fun-default)))
    (lambda (string &optional bound noerror count)
      (let* ((from (point))
             (there (funcall search string bound t count))
             (match (and there (match-data))))
        (goto-char from)
        (pcase (cursord--search-headings search string bound)
          ((and `(,beg ,end . ,_)
                (guard (or (null there)
                           (if isearch-forward (<= beg (car match))
                             (>= end (cadr match))))))
           (set-match-data (list beg end))
           (goto-char (if isearch-forward end beg)))
          ((guard there)
           (set-match-data match)
           (goto-char there))
          ((guard (not noerror)) (signal 'search-failed (list string))))))))

;; Some keys of `diff-mode' would change files or the patch, and which ones
;; depends on Emacs's version.  So this keymap does not inherit from it.
(defvar-keymap cursord-review-mode-map
  :doc "Keys of the review."
  :parent special-mode-map
  "n" #'cursord-next-hunk
  "p" #'cursord-previous-hunk
  "N" #'cursord-review-next-file
  "P" #'cursord-review-previous-file
  "a" #'cursord-accept-hunk
  "r" #'cursord-reject-hunk
  "b" #'cursord-accept-both
  "u" #'cursord-undo
  "U" #'cursord-redo
  "<remap> <undo>" #'cursord-undo
  "<remap> <undo-only>" #'cursord-undo
  "<remap> <undo-redo>" #'cursord-redo
  "A" #'cursord-accept-file
  "R" #'cursord-reject-file
  "k" #'cursord-dismiss
  "C-c C-a" #'cursord-accept-all
  "C-c C-r" #'cursord-reject-all
  "C-c C-c" #'cursord-review-visit
  "e" #'cursord-ediff-file
  "E" #'cursord-edit-proposal
  "s" #'cursord-smerge-file
  "m" #'cursord-comment-hunk
  "RET" #'cursord-review-visit
  "o" #'cursord-review-visit
  "TAB" #'outline-cycle
  "<backtab>" #'outline-cycle-buffer
  "{" #'cursord-review-previous-file
  "}" #'cursord-review-next-file
  "C-c C-b" #'diff-refine-hunk
  "C-c C-f" #'next-error-follow-minor-mode
  "<mouse-2>" #'diff-goto-source
  "h" #'cursord-review-keys)

(define-derived-mode cursord-review-mode diff-mode "Review"
  "The pending changes of a workspace, as a unified diff.
\\<cursord-review-mode-map> Accept the hunk at point with
\\[cursord-accept-hunk], reject it with \\[cursord-reject-hunk].  A region takes
its lines alone.  \\[cursord-undo] takes a decision back.  Undecided hunks
stay when you leave with \\[quit-window], also when Emacs ends.

\\{cursord-review-mode-map}"
  :interactive nil
  :group 'cursord
  (setq buffer-read-only t
        truncate-lines t)
  (buffer-disable-undo)
  (font-lock-add-keywords nil
                          `((,(concat "^@@ .* @@ .*\\("
                                      (regexp-opt
                                       (list cursord-maybe-text
                                             cursord-contested-heading))
                                      "\\)$")
                             1 'cursord-maybe-note prepend)) t)
  ;; A file folds as a whole, and each of its hunks.
  (setq-local outline-regexp "diff --git \\|@@ "
              outline-search-function nil
              outline-level (lambda () (if (eq (char-after) ?d) 1 2)))
  ;; Take away the other keys that `diff-mode' has in read-only buffers.
  (setq-local minor-mode-overriding-map-alist
              (assq-delete-all 'diff-mode-read-only
                               (copy-sequence minor-mode-overriding-map-alist)))
  ;; `diff-mode' removes the property `display' when it adds faces.
  (setq-local char-property-alias-alist
              (cons '(display cursord-display) char-property-alias-alist))
  ;; `diff-mode' would read the whole file for each hunk.
  (when (eq diff-font-lock-syntax t)
    (setq-local diff-font-lock-syntax 'hunk-only))
  ;; And it would run a program for each visible hunk; it shall run one for the
  ;; hunk at point.
  (when (eq diff-refine 'font-lock)
    (setq-local diff-refine 'navigation))
  ;; Major modes send messages while they add faces to lines.
  (let ((fontify font-lock-fontify-region-function))
    (setq-local font-lock-fontify-region-function
                (lambda (&rest args)
                  (cursord-unheard (apply fontify args)))))
  (setq-local isearch-search-fun-function #'cursord--review-search-fun)
  (setq-local header-line-format '(:eval (cursord--review-header)))
  (setq-local revert-buffer-function
              (lambda (&rest _) (cursord-resync cursord-buffer-workspace)))
  (add-hook 'window-buffer-change-functions
            (lambda (window)
              (cursord-protected #'cursord--review-draw-soon
                                 (window-buffer window))) nil t))

;;;###autoload
(defun cursord-review (&optional whole)
  "Review the pending changes of the current buffer's workspace.
With point on a hunk in the buffer of a file, go to that hunk.  With a prefix
argument WHOLE, show the diff, whatever `cursord-review-style' says."
  (interactive "P")
  (let ((ws (cursord-workspace-reviewed))
        (here (and (cursord-document) (cursord-hunk-at))))
    (cond
     ((or whole (eq cursord-review-style 'buffer)
          (null (cursord--text-paths ws))
          ;; Point is on a hunk already.
          (and here (eq cursord-review-style 'inline)))
      (cursord--show-review ws))
     (t
      (unless here
        (cursord-next-hunk))
      (when (eq cursord-review-style 'ediff)
        (cursord-ediff-file))))))

(defun cursord--show-review (ws)
  "Show all pending hunks of WS as a diff."
  (let* ((hunk (and (cursord-document) (cursord-hunk-at)))
         (name (cursord-directory-name ws))
         (buffer (or (car (cursord--reviews ws))
                     (generate-new-buffer (format "*cursord-review: %s*"
                                                  name)))))
    (with-current-buffer buffer
      (setq cursord-buffer-workspace ws
            default-directory (cursord-workspace-root ws))
      (unless (derived-mode-p 'cursord-review-mode)
        (cursord-review-mode))
      (cursord--review-draw ws))
    (pop-to-buffer buffer)
    (when-let* ((at (and hunk
                         (cdr (assoc (plist-get hunk :id)
                                     (cursord--hunk-positions))))))
      (goto-char at))
    (cursord-review-refine)))

(provide 'cursord-review)
;;; cursord-review.el ends here
