;;; cursord-replace.el --- Change buffers as if nobody had  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer gets the text of another one and keeps point, markers, windows and
;; overlays at the text where they were; what changes is one step for undo.
;; `replace-buffer-contents' does that as well, and takes a third of a second
;; for a file of 100,000 lines: here lines are compared first, a slice at a time
;; if need be, and it is only used for those that differ.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst cursord--replace-careful 20000
  "So many characters are replaced with care for what stays among them.")

(defconst cursord--replace-careful-time 0.008
  "Seconds for which regions are replaced with such care.")

(defconst cursord--replace-one-by-one 3000
  "More differences than these are one, from the first to the last.")

;;;; Comparing

(cl-defstruct (cursord-comparison (:constructor cursord--comparison-make)
                                  (:copier nil))
  "How far the texts of two buffers are compared."
  old
  new
  (at 1 :documentation "As far as this OLD is compared.")
  (new-at 1 :documentation "The same in NEW.")
  (blocks nil
          :documentation "Where they differ, the last first: (FROM TO NEW-FROM . NEW-TO).")
  (done nil))

(defconst cursord--compare-at-once 200000
  "So many characters are compared before one looks at the clock.")

(defconst cursord--compare-windows '(6 60 4000)
  "In so many lines it is looked for where two texts are equal again.")

(defun cursord-compare-buffers (old new)
  "A comparison of the buffers OLD and NEW that has not begun."
  (cursord--comparison-make :old old :new new))

(defun cursord--pair (from)
  "The line at FROM of the current buffer and the next one; where that begins.
The value is (TEXT . NEXT)."
  (goto-char from)
  (forward-line 1)
  (let ((next (point)))
    (forward-line 1)
    (cons (buffer-substring-no-properties from (point)) next)))

(defun cursord--pairs (from lines)
  "Where pairs of lines from FROM on begin in the current buffer, LINES of them.
The value is a table from text to (LINE . POSITION)."
  (let ((table (make-hash-table :test #'equal)) (i 0))
    (while (and (< i lines) (< from (point-max)))
      (pcase-let ((`(,text . ,next) (cursord--pair from)))
        (unless (gethash text table)
          (puthash text (cons i from) table))
        (setq from next))
      (cl-incf i))
    (when (< i lines)
      (puthash 'end (cons i (point-max)) table))
    table))

(defun cursord--resync-within (old from new new-from lines)
  "Where OLD after FROM and NEW after NEW-FROM are equal again, within LINES.
The value is (POSITION . NEW-POSITION), the nearest, or nil."
  (let ((pairs (with-current-buffer old (cursord--pairs from lines)))
        (j 0) least found)
    (with-current-buffer new
      (while (and (< j lines) (< new-from (point-max))
                  (or (null least) (< j least)))
        (pcase-let* ((`(,text . ,next) (cursord--pair new-from))
                     (there (gethash text pairs)))
          (when (and there (or (null least) (< (+ j (car there)) least)))
            (setq least (+ j (car there))
                  found (cons (cdr there) new-from)))
          (setq new-from next))
        (cl-incf j))
      (or found
          (and (< j lines)
               (when-let* ((end (gethash 'end pairs)))
                 (cons (cdr end) (point-max))))))))

(defun cursord--equal-tail (old from new new-from)
  "How many characters OLD after FROM and NEW after NEW-FROM share at their ends."
  (let* ((end (with-current-buffer old (point-max)))
         (new-end (with-current-buffer new (point-max)))
         (low 0)
         (high (min (- end from) (- new-end new-from))))
    ;; What is equal at the end is so with less of it too.
    (while (< low high)
      (let ((n (/ (+ low high 1) 2)))
        (if (eql 0
                 (compare-buffer-substrings old (- end n) (- end low) new
                                            (- new-end n) (- new-end low)))
            (setq low n)
          (setq high (1- n)))))
    low))

(defun cursord--resync (old from new new-from)
  "Where OLD after FROM and NEW after NEW-FROM are equal again.
The value is (POSITION . NEW-POSITION)."
  (or (seq-some (lambda (lines)
                  (cursord--resync-within old from new new-from lines))
                cursord--compare-windows)
      (let ((tail (cursord--equal-tail old from new new-from)))
        (cons (- (with-current-buffer old (point-max)) tail)
              (- (with-current-buffer new (point-max)) tail)))))

(defun cursord--compare-step (comparison)
  "Go on with COMPARISON for a bit, whose buffers are widened."
  (let* ((old (cursord-comparison-old comparison))
         (new (cursord-comparison-new comparison))
         (at (cursord-comparison-at comparison))
         (new-at (cursord-comparison-new-at comparison))
         (end (with-current-buffer old (point-max)))
         (new-end (with-current-buffer new (point-max)))
         (n (min cursord--compare-at-once (- end at) (- new-end new-at)))
         (differs (if (eql n 0)
                      0
                    (compare-buffer-substrings old at (+ at n) new new-at
                                               (+ new-at n)))))
    (cond
     ((and (eql n 0) (eql at end) (eql new-at new-end))
      (setf (cursord-comparison-done comparison) t))
     ((and (eql differs 0) (> n 0))
      (cl-incf (cursord-comparison-at comparison) n)
      (cl-incf (cursord-comparison-new-at comparison) n))
     (t
      (let* ((equal (if (eql n 0) 0 (1- (abs differs))))
             ;; From the beginning of that line on; up to there both are equal.
             (back (with-current-buffer old
                     (goto-char (+ at equal))
                     (- (point) (line-beginning-position))))
             (back (min back
                        (- (+ at equal)
                           (if-let* ((last (car (cursord-comparison-blocks comparison)))) (cadr last) 1))))
             (from (- (+ at equal) back))
             (new-from (- (+ new-at equal) back)))
        (pcase-let ((`(,to . ,new-to) (cursord--resync old from new new-from)))
          (push (cons from (cons to (cons new-from new-to)))
                (cursord-comparison-blocks comparison))
          (setf (cursord-comparison-at comparison) to
                (cursord-comparison-new-at comparison) new-to)))))))

(defun cursord-compare-on (comparison &optional limit)
  "Go on with COMPARISON until the time LIMIT; return whether it is done."
  (with-current-buffer (cursord-comparison-old comparison)
    (save-excursion
      (save-restriction
        (widen)
        (let ((case-fold-search nil)
              (inhibit-field-text-motion t))
          (while (and (not (cursord-comparison-done comparison))
                      (progn (cursord--compare-step comparison)
                             (or (null limit) (time-less-p nil limit))))))))
    (cursord-comparison-done comparison)))

;;;; Replacing

(defun cursord--replace-region (beg end text &optional careless)
  "Replace what is between BEG and END by TEXT.
Unless CARELESS, what stays in there keeps what is at it."
  (save-excursion
    (if (or careless (eql beg end) (string-empty-p text)
            (> (+ (- end beg) (length text)) cursord--replace-careful))
        (progn
          (goto-char end)
          ;; A marker at the beginning stays before what is new.
          (insert text)
          (delete-region beg end))
      (replace-region-contents beg end (lambda () text) 0.01 64))))

(defun cursord--replace-blocks (blocks new)
  "Have BLOCKS of the current buffer, the last first, be as they are in NEW."
  (let ((limit (time-add nil cursord--replace-careful-time)))
    (pcase-dolist (`(,from ,to ,new-from . ,new-to) blocks)
      (cursord--replace-region from to
                               (with-current-buffer new
                                 (buffer-substring-no-properties new-from
                                                                 new-to))
                               (time-less-p limit nil)))))

(defun cursord-compared-replace (comparison)
  "Have the old buffer of COMPARISON, which is done, have the text of the new one.
Return whether it had not."
  (let ((blocks (cursord-comparison-blocks comparison))
        (new (cursord-comparison-new comparison)))
    (when blocks
      (with-current-buffer (cursord-comparison-old comparison)
        (save-restriction
          (widen)
          (let* ((last (car blocks))
                 (first (car (last blocks)))
                 (many (nthcdr 100 blocks)))
            (when (nthcdr cursord--replace-one-by-one blocks)
              (setq blocks
                    (list (cons (car first)
                                (cons (cadr last)
                                      (cons (caddr first) (cdddr last)))))))
            (if many
                ;; Hooks are run once.
                (combine-change-calls (car first) (cadr last)
                  (cursord--replace-blocks blocks new))
              (cursord--replace-blocks blocks new)))))
      t)))

(defmacro cursord-as-one-step (&rest body)
  "Run BODY, whose changes of the current buffer are one step for undo."
  (declare (indent 0) (debug t))
  ;; What replaces with care makes boundaries of its own.
  `(let ((inhibit-read-only t))
     (undo-boundary)
     (prog1 (with-undo-amalgamate ,@body)
       (undo-boundary))))

(defun cursord--edit-position (position)
  "Where a POSITION of an edit of whole lines is in the current buffer.
One that is not at the beginning of a line is at the end of the last one."
  (goto-char (point-min))
  (if (> (plist-get position :character) 0)
      (point-max)
    (forward-line (plist-get position :line))
    (point)))

(defun cursord-apply-edits (edits)
  "Make EDITS, a vector as the daemon sends it, in the current buffer."
  (cursord-as-one-step
    (save-excursion
      (save-restriction
        (widen)
        (seq-doseq (edit (reverse edits))
          (let* ((range (plist-get edit :range))
                 (beg (cursord--edit-position (plist-get range :start)))
                 (end (cursord--edit-position (plist-get range :end))))
            (cursord--replace-region beg end (plist-get edit :newText))))))))

(provide 'cursord-replace)
;;; cursord-replace.el ends here
