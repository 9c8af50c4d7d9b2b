;;; cursord-review.el --- All pending hunks as one diff  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-review' shows what there is to review in a workspace as a unified diff in git's format, in a mode derived
;; from `diff-mode'.  It follows what happens: hunks come and go, and point stays on its hunk.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'outline)
(require 'cursord-workspace)
(require 'cursord-files)
(require 'cursord-decide)
(require 'cursord-hunks)
(require 'cursord-patch)

(cl-defstruct (cursord-section (:constructor cursord--section-make) (:copier nil))
  "A file in a review."
  path diff notes text)

(defvar-local cursord--sections nil "The sections of this review, in order.")
(defvar-local cursord--review-stale nil "Whether this review is not what is known.")
(defvar-local cursord--review-cost 0 "Seconds that it took to draw this review the last time.")
(defvar-local cursord--review-drawn nil "When this review was drawn the last time.")

;;;; Sections

(defun cursord--conflict-paths (ws)
  "The paths of WS that were changed both in a buffer and on disk."
  (let (paths)
    (maphash (lambda (_file document)
               (when (and (eq ws (cursord-document-ws document)) (cursord-document-conflict document))
                 (push (cursord-document-path document) paths)))
             cursord--documents)
    paths))

(defun cursord--new-sections (ws)
  "The sections for what is known of WS now; those that are as before are the same."
  (let ((known (make-hash-table :test #'equal)))
    (dolist (section cursord--sections)
      (puthash (cursord-section-path section) section known))
    (mapcar (lambda (path)
              (let* ((diff (gethash path (cursord-workspace-diffs ws)))
                     (old (gethash path known))
                     (notes (cursord--section-notes ws path diff)))
                (if (and old (eq diff (cursord-section-diff old)) (equal notes (cursord-section-notes old)))
                    old
                  (cursord--section-make :path path :diff diff :notes notes
                                         :text (cursord--section-text path diff notes)))))
            (sort (seq-union (hash-table-keys (cursord-workspace-diffs ws)) (cursord--conflict-paths ws)) #'string<))))

;;;; Where one is

(defun cursord-review-hunk-at (position)
  "The hunk at POSITION of the review, as it is shown."
  (get-text-property position 'cursord-hunk))

(defun cursord--hunk-beginning (position)
  "Where the hunk at POSITION begins."
  (if (and (> position (point-min))
           (eq (get-text-property position 'cursord-hunk) (get-text-property (1- position) 'cursord-hunk)))
      (previous-single-property-change position 'cursord-hunk nil (point-min))
    position))

(defun cursord--hunk-end (position)
  "Where the hunk at POSITION ends."
  (next-single-property-change position 'cursord-hunk nil (point-max)))

(defun cursord--hunk-positions ()
  "Where each hunk of the review begins, in order: a list of (ID . POSITION)."
  (let ((at (point-min)) all)
    (while (< at (point-max))
      (when-let* ((hunk (cursord-review-hunk-at at)))
        (push (cons (plist-get hunk :id) at) all))
      (setq at (cursord--hunk-end at)))
    (nreverse all)))

(defun cursord--place-of (position)
  "What POSITION is of the review, to find it again when that was drawn anew.
A list: the path, lines from the hunk's or file's beginning, the column, and the
ids of hunks from the one there on, and of those before."
  (let* ((hunk (cursord-review-hunk-at position))
         (path (get-text-property position 'cursord-path))
         (beg (cond (hunk (cursord--hunk-beginning position))
                    ((and path (> position (point-min)) (equal path (get-text-property (1- position) 'cursord-path)))
                     (previous-single-property-change position 'cursord-path nil (point-min)))
                    (t position)))
         before after)
    (pcase-dolist (`(,id . ,at) (cursord--hunk-positions))
      (if (< at beg) (push id before) (push id after)))
    (save-excursion
      (goto-char position)
      (list path (and hunk (plist-get hunk :id)) (count-lines beg (line-beginning-position)) (- (point) (line-beginning-position))
            (nreverse after) before))))

(defun cursord--find-place (place positions)
  "Where PLACE is in the review now, whose hunks are at POSITIONS."
  (pcase-let* ((`(,path ,id ,lines ,column ,after ,before) place)
               (table (let ((table (make-hash-table :test #'equal)))
                        (pcase-dolist (`(,id . ,at) positions) (puthash id at table))
                        table))
               (same (if id (gethash id table)
                       (and path (text-property-any (point-min) (point-max) 'cursord-path path)))))
    (save-excursion
      (if same
          (let ((end (if id (cursord--hunk-end same) (point-max))))
            (goto-char same)
            (forward-line lines)
            (when (>= (point) end)
              (goto-char same))
            (min (+ (point) column) (line-end-position)))
        (or (seq-some (lambda (other) (gethash other table)) after)
            (seq-some (lambda (other) (gethash other table)) before)
            (point-min))))))

;;;; Drawing

(defun cursord--drop-equal (a b)
  "Drop what the lists A and B have in common at the beginning.
The value is (CHARACTERS A . B): how much that was, and what is left."
  (let ((chars 0))
    (while (and a b (eq (car a) (car b)))
      (cl-incf chars (length (cursord-section-text (car a))))
      (setq a (cdr a) b (cdr b)))
    (cons chars (cons a b))))

(defun cursord--review-draw (ws)
  "Have the current buffer, a review, show what is known of WS."
  (let* ((began (current-time))
         (new (cursord--new-sections ws))
         (first (null cursord--sections)))
    (setq cursord--review-stale nil)
    (unless (and (not first) (length= new (length cursord--sections)) (cl-every #'eq new cursord--sections))
      (widen)
      (pcase-let* ((`(,head ,old-rest . ,new-rest) (cursord--drop-equal cursord--sections new))
                   (`(,tail ,old-middle . ,new-middle) (cursord--drop-equal (reverse old-rest) (reverse new-rest)))
                   (beg (+ (point-min) head))
                   (end (if first (point-max) (- (point-max) tail)))
                   (windows (get-buffer-window-list nil t t))
                   (in (lambda (position) (and (<= beg position) (<= position end))))
                   (places nil)
                   (inhibit-read-only t))
        (ignore old-middle)
        (unless first
          (dolist (window windows)
            (when (funcall in (window-point window))
              (push (list window (cursord--place-of (window-point window))
                          (count-lines (min (window-start window) (window-point window)) (window-point window)))
                    places)))
          (when (funcall in (point))
            (push (list nil (cursord--place-of (point)) 0) places)))
        (save-excursion
          (remove-overlays beg end)
          (goto-char beg)
          (delete-region beg end)
          (insert (if (or new (not (cursord-workspace-ready ws)))
                      (mapconcat #'cursord-section-text (reverse new-middle) "")
                    "Nothing to review.\n")))
        (setq cursord--sections new)
        (let ((positions (and (or first places) (cursord--hunk-positions))))
          (when first
            (setq places (cons (list nil nil 0) (mapcar (lambda (window) (list window nil 0)) windows))))
          (pcase-dolist (`(,window ,place ,lines) places)
            (let ((at (if place (cursord--find-place place positions) (or (cdar positions) (point-min)))))
              (if (not window)
                  (goto-char at)
                (set-window-point window at)
                (save-excursion
                  (goto-char at)
                  (forward-line (- lines))
                  (set-window-start window (if first (point-min) (point)) t))))))))
    (setq cursord--review-drawn (current-time)
          cursord--review-cost (float-time (time-since began)))))

(defun cursord--review-draw-soon (buffer)
  "Draw the review in BUFFER if somebody sees it, but not all the time."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and cursord--review-stale (get-buffer-window buffer t))
        (let ((rest (- (* 5 cursord--review-cost)
                       (if cursord--review-drawn (float-time (time-since cursord--review-drawn)) 1e6))))
          (if (> rest 0)
              (run-at-time rest nil #'cursord-protected #'cursord--review-draw-soon buffer)
            (cursord--review-draw cursord-buffer-workspace)))))))

(defun cursord--reviews (ws)
  "The review buffers of WS."
  (seq-filter (lambda (buffer)
                (and (eq ws (buffer-local-value 'cursord-buffer-workspace buffer))
                     (eq (buffer-local-value 'major-mode buffer) 'cursord-review-mode)))
              (buffer-list)))

(defun cursord--review-event (event ws _object _before)
  "Hear of EVENT in WS."
  (pcase event
    ((or 'diff 'reset 'ready)
     (dolist (buffer (cursord--reviews ws))
       (with-current-buffer buffer (setq cursord--review-stale t))))
    ('update (mapc #'cursord--review-draw-soon (cursord--reviews ws)))))

(add-hook 'cursord-event-functions #'cursord--review-event 50)

;;;; Commands

(defun cursord-review-move (count)
  "Go COUNT hunks forward, or back if it is negative."
  (let* ((positions (mapcar #'cdr (cursord--hunk-positions)))
         (here (if (cursord-review-hunk-at (point)) (cursord--hunk-beginning (point)) (point)))
         (there (if (> count 0)
                    (nth (1- count) (seq-filter (lambda (at) (> at here)) positions))
                  (nth (- -1 count) (reverse (seq-filter (lambda (at) (< at here)) positions))))))
    (unless there
      (user-error (if positions "No more hunks" "There is nothing to review")))
    (goto-char there)
    (when diff-refine
      (ignore-errors (diff-refine-hunk)))))

(defun cursord-review-next-file (&optional count)
  "Go to the next file of the review, COUNT files forward."
  (interactive "p" cursord-review-mode)
  (let ((at (point-min)) (here (line-beginning-position)) starts)
    (dolist (section cursord--sections)
      (push at starts)
      (cl-incf at (length (cursord-section-text section))))
    (let ((there (if (> count 0)
                     (nth (1- count) (seq-filter (lambda (start) (> start here)) (reverse starts)))
                   (nth (- -1 count) (seq-filter (lambda (start) (< start here)) starts)))))
      (unless there
        (user-error (if starts "No more files" "There is nothing to review")))
      (goto-char there))))

(defun cursord-review-previous-file (&optional count)
  "Go to the previous file of the review, COUNT files back."
  (interactive "p" cursord-review-mode)
  (cursord-review-next-file (- count)))

(defun cursord-review-file-at (position)
  "The path and the hunks of the file at POSITION, as it is shown."
  (when-let* ((path (get-text-property position 'cursord-path))
              (section (seq-find (lambda (section) (equal path (cursord-section-path section))) cursord--sections)))
    (cons path (append (plist-get (cursord-section-diff section) :hunks) nil))))

(defun cursord-review-parts (beg end)
  "What the lines between BEG and END of the review have of hunks.
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
          (goto-char (next-single-property-change (point) 'cursord-hunk nil (max end (1+ (point)))))))
      (nreverse parts))))

(defun cursord--review-row (position)
  "The row, from 0, in its file of the line at POSITION of the review."
  (let ((hunk (or (cursord-review-hunk-at position)
                  (seq-first (cdr (cursord-review-file-at position))))))
    (if (or (null hunk) (seq-empty-p (plist-get hunk :lines)))
        0
      (let* ((isolated (cursord-isolated-p hunk))
             (row (max 0 (1- (plist-get hunk (if isolated :oldStart :newStart)))))
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
  (interactive nil cursord-review-mode)
  (let* ((path (or (get-text-property (point) 'cursord-path) (user-error "There is no file here")))
         (ws cursord-buffer-workspace)
         (row (cursord--review-row (point))))
    (unless (or (cursord-document-at ws path) (file-exists-p (cursord-file ws path)))
      (user-error "%s was deleted; what it had is here" path))
    (pop-to-buffer (cursord-file-buffer ws path))
    (widen)
    (push-mark nil t)
    (goto-char (point-min))
    (forward-line row)))

(defun cursord--review-header ()
  "The header line of a review."
  (let* ((ws cursord-buffer-workspace)
         (pending (cursord-pending ws)))
    (concat
     " "
     (cond ((not (cursord-workspace-ready ws)) "not connected")
           ((zerop (cdr pending)) "nothing to review")
           (t (format "%s in %s" (cursord-plural (car pending) "hunk") (cursord-plural (cdr pending) "file"))))
     (substitute-command-keys
      " · \\<cursord-review-mode-map>\\[cursord-accept-hunk] accept \\[cursord-reject-hunk] reject \\[cursord-undo] undo \\[cursord-comment-hunk] comment \\[describe-mode] all keys"))))

;; Some keys of `diff-mode' change files or the patch, in other versions of Emacs other ones.
(defvar-keymap cursord-review-mode-map
  :doc "Keys of the review."
  :parent special-mode-map
  "n" #'cursord-next-hunk
  "p" #'cursord-previous-hunk
  "N" #'cursord-review-next-file
  "P" #'cursord-review-previous-file
  "a" #'cursord-accept-hunk
  "r" #'cursord-reject-hunk
  "u" #'cursord-undo
  "U" #'cursord-redo
  "A" #'cursord-accept-file
  "R" #'cursord-reject-file
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
  "{" #'cursord-review-previous-file
  "}" #'cursord-review-next-file
  "C-c C-b" #'diff-refine-hunk
  "C-c C-f" #'next-error-follow-minor-mode
  "<mouse-2>" #'diff-goto-source)

(define-derived-mode cursord-review-mode diff-mode "Review"
  "What there is to review in a workspace, as a unified diff.
\\<cursord-review-mode-map>
Accept the hunk at point with \\[cursord-accept-hunk], reject it with \\[cursord-reject-hunk].
A region takes its lines alone.  \\[cursord-undo] takes a decision back.
What is not decided stays when you leave with \\[quit-window], also when Emacs ends.

\\{cursord-review-mode-map}"
  :group 'cursord
  (setq buffer-read-only t
        truncate-lines t)
  (buffer-disable-undo)
  ;; The keys that `diff-mode' has where it is read-only are other ones.
  (setq-local minor-mode-overriding-map-alist
              (assq-delete-all 'diff-mode-read-only (copy-sequence minor-mode-overriding-map-alist)))
  ;; It would read the whole file for each hunk.
  (when (eq diff-font-lock-syntax t)
    (setq-local diff-font-lock-syntax 'hunk-only))
  ;; And it would run a program for each hunk in sight; it is run for the one that one goes to.
  (when (eq diff-refine 'font-lock)
    (setq-local diff-refine 'navigation))
  (setq-local header-line-format '(:eval (cursord--review-header)))
  (setq-local revert-buffer-function (lambda (&rest _) (cursord-resync cursord-buffer-workspace)))
  (add-hook 'window-buffer-change-functions
            (lambda (window) (cursord-protected #'cursord--review-draw-soon (window-buffer window))) nil t))

;;;###autoload
(defun cursord-review ()
  "Show what there is to review in the workspace of the current buffer.
With point on a hunk in the buffer of a file, it is shown there."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (hunk (and (cursord-document) (cursord-hunk-at)))
         (name (file-name-nondirectory (directory-file-name (cursord-workspace-root ws))))
         (buffer (or (car (cursord--reviews ws))
                     (generate-new-buffer (format "*cursord-review: %s*" name)))))
    (with-current-buffer buffer
      (setq cursord-buffer-workspace ws
            default-directory (cursord-workspace-root ws))
      (unless (derived-mode-p 'cursord-review-mode)
        (cursord-review-mode))
      (cursord--review-draw ws))
    (pop-to-buffer buffer)
    (when-let* ((at (and hunk (cdr (assoc (plist-get hunk :id) (cursord--hunk-positions))))))
      (goto-char at))))

(provide 'cursord-review)
;;; cursord-review.el ends here
