;;; cursord-review-draw.el --- How a review looks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A review buffer is a list of sections, one for each file.  Changed sections
;; are drawn again when a window shows the buffer; point stays on its hunk, and
;; folds stay.

;;; Code:

(require 'cl-lib)
(require 'outline)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-patch)

(cl-defstruct (cursord-section (:constructor cursord--section-make)
                               (:copier nil))
  "A file in a review."
  path diff notes text)

(defvar-local cursord--sections nil "The sections of this review, in order.")
(defvar-local cursord--review-stale nil
  "Whether this review is to be drawn again.")
(defvar-local cursord--review-cost 0
  "Seconds that the last drawing of this review took.")
(defvar-local cursord--review-drawn nil
  "The time of the last drawing of this review.")

;;;; Sections

(defun cursord--conflict-paths (ws)
  "Return the paths of WS that have changed both in a buffer and on disk."
  (let (paths)
    (maphash (lambda (_file document)
               (when (and (eq ws (cursord-document-ws document))
                          (cursord-document-conflict document))
                 (push (cursord-document-path document) paths)))
             cursord--documents)
    paths))

(defun cursord--new-sections (ws)
  "Return the sections of WS; unchanged ones are `eq' to the former ones."
  (let ((known (make-hash-table :test #'equal)))
    (dolist (section cursord--sections)
      (puthash (cursord-section-path section) section known))
    (mapcar (lambda (path)
              (let* ((diff (gethash path (cursord-workspace-diffs ws)))
                     (old (gethash path known))
                     (notes (cursord--section-notes ws path diff)))
                (if (and old (equal diff (cursord-section-diff old))
                         (equal notes (cursord-section-notes old)))
                    old
                  (cursord--section-make :path path :diff diff :notes notes
                                         :text (cursord--section-text path diff
                                                                      notes)))))
            (sort (seq-union (hash-table-keys (cursord-workspace-diffs ws))
                             (cursord--conflict-paths ws)) #'string<))))

;;;; Places

(defun cursord-review-hunk-at (position)
  "Return the hunk at POSITION of the review, as it is shown."
  (get-text-property position 'cursord-hunk))

(defun cursord--hunk-beginning (position)
  "Return the beginning of the hunk at POSITION."
  (if (and (> position (point-min))
           (eq (get-text-property position 'cursord-hunk)
               (get-text-property (1- position) 'cursord-hunk)))
      (previous-single-property-change position 'cursord-hunk nil (point-min))
    position))

(defun cursord--hunk-end (position)
  "Return the end of the hunk at POSITION."
  (next-single-property-change position 'cursord-hunk nil (point-max)))

(defun cursord--hunk-positions ()
  "Return the beginnings of all hunks, in order: a list of (ID . POSITION)."
  (let ((at (point-min)) all)
    (while (< at (point-max))
      (when-let* ((hunk (cursord-review-hunk-at at)))
        (push (cons (plist-get hunk :id) at) all))
      (setq at (cursord--hunk-end at)))
    (nreverse all)))

(defun cursord--place-of (position)
  "Return the place of POSITION, to find it again after the next drawing.
The value is a list: the path, the hunk's id, the number of lines from the
beginning of the hunk or file, the column, the ids of the hunks from there on,
and the ids of those before."
  (let* ((hunk (cursord-review-hunk-at position))
         (path (get-text-property position 'cursord-path))
         (beg (cond (hunk (cursord--hunk-beginning position))
                    ((and path (> position (point-min))
                          (equal path
                                 (get-text-property (1- position)
                                                    'cursord-path)))
                     (previous-single-property-change position 'cursord-path nil
                                                      (point-min)))
                    (t position)))
         before after)
    (pcase-dolist (`(,id . ,at) (cursord--hunk-positions))
      (if (< at beg) (push id before) (push id after)))
    (save-excursion
      (goto-char position)
      (list path (and hunk (plist-get hunk :id))
            (count-lines beg (line-beginning-position))
            (- (point) (line-beginning-position))
            (nreverse after) before))))

(defun cursord--find-place (place positions)
  "Return the position of PLACE in the review, whose hunks are at POSITIONS."
  (pcase-let* ((`(,path ,id ,lines ,column ,after ,before) place)
               (table (let ((table (make-hash-table :test #'equal)))
                        (pcase-dolist (`(,id . ,at) positions)
                          (puthash id at table))
                        table))
               (same (if id (gethash id table)
                       (and path
                            (text-property-any (point-min) (point-max)
                                               'cursord-path path)))))
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

(defconst cursord--refine-most 20000
  "The most characters of a hunk whose words are compared.")

(defun cursord-review-refine ()
  "Mark the changed words of the hunk at point, unless `diff-refine' is nil."
  (when (and diff-refine (cursord-review-hunk-at (point)))
    (save-excursion
      (goto-char (cursord--hunk-beginning (point)))
      (when (and (looking-at-p "@@")
                 (< (- (cursord--hunk-end (point)) (point))
                    cursord--refine-most))
        (ignore-errors (diff-refine-hunk))))))

(defun cursord--heading-key (position)
  "Return the key of the heading at POSITION: (ID . PATH), ID nil for a file."
  (let ((hunk (and (not (eq (char-after position) ?d))
                   (cursord-review-hunk-at position))))
    (cons (plist-get hunk :id) (get-text-property position 'cursord-path))))

(defun cursord--folded-headings (beg end)
  "Return the keys of the visible, folded headings between BEG and END."
  (let (keys)
    (save-excursion
      (goto-char beg)
      (while (re-search-forward "^\\(?:diff --git \\|@@ \\)" end t)
        (let ((bol (match-beginning 0)))
          (when (and (outline-invisible-p (line-end-position))
                     (not (outline-invisible-p bol)))
            (push (cursord--heading-key bol) keys)))))
    keys))

(defun cursord--fold-headings (beg end keys)
  "Fold the headings between BEG and END whose keys are in KEYS."
  (when keys
    (save-excursion
      (goto-char beg)
      (while (re-search-forward "^\\(?:diff --git \\|@@ \\)" end t)
        (let ((bol (match-beginning 0)))
          (when (member (cursord--heading-key bol) keys)
            (goto-char bol)
            (outline-hide-subtree)
            (forward-line 1)))))))

(defun cursord--drop-equal (a b)
  "Drop the common beginning of the lists A and B of sections.
Return (CHARACTERS A . B): the length of the dropped text, and the rests."
  (let ((chars 0))
    (while (and a b (eq (car a) (car b)))
      (cl-incf chars (length (cursord-section-text (car a))))
      (setq a (cdr a) b (cdr b)))
    (cons chars (cons a b))))

(defun cursord--review-refine-in (buffer)
  "Mark the changed words of the hunk at point in BUFFER, a review, if live."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when-let* ((window (get-buffer-window buffer t)))
        (save-excursion
          (goto-char (window-point window))
          (cursord-review-refine))))))

(defun cursord--full-start (window)
  "Return the last start at which the text of the buffer fills WINDOW."
  (save-excursion
    (goto-char (point-max))
    (forward-line (- (window-body-height window)))
    (point)))

(defun cursord--review-draw (ws)
  "Bring the current buffer, a review, up to date with WS."
  (let* ((began (current-time))
         (new (cursord--new-sections ws))
         (first (null cursord--sections)))
    (setq cursord--review-stale nil)
    (unless (and (not first) (length= new (length cursord--sections))
                 (cl-every #'eq new cursord--sections))
      (widen)
      (pcase-let* ((`(,head ,old-rest . ,new-rest)
                    (cursord--drop-equal cursord--sections new))
                   (`(,tail ,old-middle . ,new-middle)
                    (cursord--drop-equal (reverse old-rest) (reverse new-rest)))
                   (beg (+ (point-min) head))
                   (end (if first (point-max) (- (point-max) tail)))
                   (windows (get-buffer-window-list nil t t))
                   (in (lambda (position)
                         (and (<= beg position) (<= position end))))
                   (places nil)
                   (folded (cursord--folded-headings beg end))
                   (inhibit-read-only t))
        (ignore old-middle)
        (unless first
          (dolist (window windows)
            (when (funcall in (window-point window))
              (push (list window (cursord--place-of (window-point window))
                          (count-lines (min (window-start window)
                                            (window-point window))
                                       (window-point window)))
                    places)))
          (when (funcall in (point))
            (push (list nil (cursord--place-of (point)) 0) places)))
        (save-excursion
          (remove-overlays beg end)
          (goto-char beg)
          (delete-region beg end)
          (insert (if (or new (not (cursord-workspace-ready ws)))
                      (mapconcat #'cursord-section-text (reverse new-middle) "")
                    "Nothing to review.\n"))
          (cursord--fold-headings beg (point) folded))
        (setq cursord--sections new)
        ;; Point may be on another hunk now.
        (when (get-buffer-window nil t)
          (run-at-time 0 nil #'cursord-protected #'cursord--review-refine-in
                       (current-buffer)))
        (let ((positions (and (or first places) (cursord--hunk-positions))))
          (when first
            (setq places
                  (cons (list nil nil 0)
                        (mapcar (lambda (window) (list window nil 0))
                                windows))))
          (pcase-dolist (`(,window ,place ,lines) places)
            (let ((at (if place
                          (cursord--find-place place positions)
                        (or (cdar positions) (point-min)))))
              (if (not window)
                  (goto-char at)
                (set-window-point window at)
                (save-excursion
                  (goto-char at)
                  (forward-line (- lines))
                  (set-window-start window
                                    (if first (point-min)
                                      (min (point)
                                           (cursord--full-start window)))
                                    t))))))))
    (set-buffer-modified-p nil)
    (setq cursord--review-drawn (current-time)
          cursord--review-cost (float-time (time-since began)))))

(defun cursord--review-draw-soon (buffer)
  "Draw the review in BUFFER again if a window shows it.
A review that takes long to draw is drawn less often."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and cursord--review-stale (get-buffer-window buffer t))
        (let ((rest (- (* 5 cursord--review-cost)
                       (if cursord--review-drawn
                           (float-time (time-since cursord--review-drawn))
                         1e6))))
          (if (> rest 0)
              (run-at-time rest nil #'cursord-protected
                           #'cursord--review-draw-soon buffer)
            (cursord--review-draw cursord-buffer-workspace)))))))

(defun cursord--reviews (ws)
  "Return the review buffers of WS."
  (seq-filter (lambda (buffer)
                (and (eq ws
                         (buffer-local-value 'cursord-buffer-workspace buffer))
                     (eq (buffer-local-value 'major-mode buffer)
                         'cursord-review-mode)))
              (buffer-list)))

(defun cursord--review-event (event ws _object _before)
  "Take EVENT in WS."
  (pcase event
    ((or 'diff 'reset 'ready)
     (dolist (buffer (cursord--reviews ws))
       (with-current-buffer buffer (setq cursord--review-stale t))))
    ('update (mapc #'cursord--review-draw-soon (cursord--reviews ws)))))

(provide 'cursord-review-draw)
;;; cursord-review-draw.el ends here
