;;; cursord-replace.el --- Changes keeping markers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Gives a buffer the text of another one.  Point, markers, windows and overlays
;; stay at their text, and the change is one step for undo.
;; `replace-buffer-contents' alone would take a third of a second for a file of
;; 100,000 lines.  So lines are compared first, a slice at a time if need be,
;; and it only replaces those that differ.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst cursord--replace-careful 20000
  "The most characters of a region that is replaced with care for markers.")

(defconst cursord--replace-careful-time 0.008
  "The most seconds for which regions without a point are replaced so.")

(defconst cursord--replace-one-by-one 3000
  "The most differences that are replaced one by one.")

;;;; Comparing

(cl-defstruct (cursord-comparison (:constructor cursord--comparison-make)
                                  (:copier nil))
  "How far the texts of two buffers are compared."
  old
  new
  (at 1 :documentation "The position in OLD up to which the two are compared.")
  (new-at 1 :documentation "The same position in NEW.")
  (blocks nil
          :documentation
          "The differences, the last first: (FROM TO NEW-FROM . NEW-TO).")
  (done nil))

(defconst cursord--compare-at-once 200000
  "The characters that are compared before a look at the clock.")

(defconst cursord--compare-windows '(6 60 4000)
  "Numbers of lines in which the next common line of two texts is searched.")

(defun cursord-compare-buffers (old new)
  "Return a new comparison of the buffers OLD and NEW."
  (cursord--comparison-make :old old :new new))

(defun cursord--pair (from)
  "Return the line at FROM with the next line, and the beginning of the latter.
The value is (TEXT . NEXT)."
  (goto-char from)
  (forward-line 1)
  (let ((next (point)))
    (forward-line 1)
    (cons (buffer-substring-no-properties from (point)) next)))

(defun cursord--pairs (from lines)
  "Return the beginnings of LINES pairs of lines from FROM on.
The value is a table from a pair's text to (LINE . POSITION)."
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
  "Return where OLD after FROM and NEW after NEW-FROM are equal again.
Search LINES lines.  The value is (POSITION . NEW-POSITION), the nearest, or
nil."
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
  "Return how long the common end of OLD after FROM and NEW after NEW-FROM is."
  (let* ((end (with-current-buffer old (point-max)))
         (new-end (with-current-buffer new (point-max)))
         (low 0)
         (high (min (- end from) (- new-end new-from))))
    ;; If N characters at the ends are equal, so are fewer.
    (while (< low high)
      (let ((n (/ (+ low high 1) 2)))
        (if (eql 0
                 (compare-buffer-substrings old (- end n) (- end low) new
                                            (- new-end n) (- new-end low)))
            (setq low n)
          (setq high (1- n)))))
    low))

(defun cursord--resync (old from new new-from)
  "Return where OLD after FROM and NEW after NEW-FROM are equal again.
The value is (POSITION . NEW-POSITION)."
  (or (seq-some (lambda (lines)
                  (cursord--resync-within old from new new-from lines))
                cursord--compare-windows)
      (let ((tail (cursord--equal-tail old from new new-from)))
        (cons (- (with-current-buffer old (point-max)) tail)
              (- (with-current-buffer new (point-max)) tail)))))

(defun cursord--compare-step (comparison)
  "Do one step of COMPARISON, whose buffers are widened."
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
             ;; Go back to the beginning of the line.
             (back (with-current-buffer old
                     (goto-char (+ at equal))
                     (- (point) (line-beginning-position))))
             (back (min back
                        (- (+ at equal)
                           (if-let* ((last (car (cursord-comparison-blocks
                                                 comparison))))
                               (cadr last)
                             1))))
             (from (- (+ at equal) back))
             (new-from (- (+ new-at equal) back)))
        (pcase-let ((`(,to . ,new-to) (cursord--resync old from new new-from)))
          (push (cons from (cons to (cons new-from new-to)))
                (cursord-comparison-blocks comparison))
          (setf (cursord-comparison-at comparison) to
                (cursord-comparison-new-at comparison) new-to)))))))

(defun cursord-compare-on (comparison &optional limit)
  "Go on with COMPARISON until the time LIMIT; return non-nil if it is done."
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

(defun cursord--line-begin-p (position)
  "Return non-nil if a line begins at POSITION, in the widened buffer."
  (save-restriction
    (widen)
    (save-excursion (goto-char position) (bolp))))

(defmacro cursord--widened (&rest body)
  "Run BODY in the widened buffer; a narrowing to whole lines stays one."
  (declare (indent 0) (debug t))
  (let ((begin (gensym)) (end (gensym)))
    `(let ((,begin (cursord--line-begin-p (point-min)))
           (,end (cursord--line-begin-p (point-max))))
       (prog1 (save-restriction (widen) ,@body)
         (when (buffer-narrowed-p)
           (cursord--narrow-to-lines ,begin ,end))))))

(defun cursord--narrow-to-lines (begin end)
  "Extend the narrowing to a line's BEGIN and END, as far as these are non-nil."
  (let ((from (point-min)) (to (point-max)))
    (save-excursion
      (widen)
      (when begin
        (setq from (progn (goto-char from) (pos-bol))))
      (when end
        (setq to (progn (goto-char to) (if (bolp) to (pos-bol 2)))))
      (narrow-to-region from to))))

(defun cursord--replace-region (beg end text &optional careless)
  "Replace the text between BEG and END by TEXT.
Unless CARELESS, markers inside stay at text that stays."
  (save-excursion
    (if (or careless (eql beg end) (string-empty-p text)
            (> (+ (- end beg) (length text)) cursord--replace-careful))
        (progn
          (goto-char end)
          ;; So a marker at the beginning stays before the new text.
          (insert text)
          (delete-region beg end))
      (replace-region-contents beg end (lambda () text) 0.1 64))))

(defun cursord--replace-blocks (blocks new)
  "Give BLOCKS of the current buffer, the last first, their text in NEW."
  (let ((limit (time-add nil cursord--replace-careful-time))
        (points (cons (point) (mapcar #'window-point
                                      (get-buffer-window-list nil t t)))))
    (pcase-dolist (`(,from ,to ,new-from . ,new-to) blocks)
      (cursord--replace-region from to
                               (with-current-buffer new
                                 (buffer-substring-no-properties new-from
                                                                 new-to))
                               (and (time-less-p limit nil)
                                    (not (seq-some (lambda (p) (<= from p to))
                                                   points)))))))

(defun cursord-compared-replace (comparison)
  "Give the old buffer of COMPARISON, which is done, the text of the new one.
Return non-nil if that changed it."
  (let ((blocks (cursord-comparison-blocks comparison))
        (new (cursord-comparison-new comparison)))
    (when blocks
      (with-current-buffer (cursord-comparison-old comparison)
        (cursord--widened
          (let* ((last (car blocks))
                 (first (car (last blocks)))
                 (many (nthcdr 100 blocks)))
            (when (nthcdr cursord--replace-one-by-one blocks)
              (setq blocks
                    (list (cons (car first)
                                (cons (cadr last)
                                      (cons (caddr first) (cdddr last)))))))
            (if many
                ;; Run hooks once for all.
                (combine-change-calls (car first) (cadr last)
                  (cursord--replace-blocks blocks new))
              (cursord--replace-blocks blocks new)))))
      t)))

(defmacro cursord-as-one-step (&rest body)
  "Run BODY, and make its changes of the current buffer one step for undo."
  (declare (indent 0) (debug t))
  ;; `replace-region-contents' adds boundaries of its own.
  ;; C-g waits for the end: half of the changes would be text of nobody.
  `(let ((inhibit-read-only t) (inhibit-quit t))
     (undo-boundary)
     (prog1 (with-undo-amalgamate ,@body)
       (undo-boundary))))

(defun cursord--edit-position (position)
  "Return the buffer position of POSITION, of an edit of whole lines.
A POSITION inside a line means the end of the buffer."
  (goto-char (point-min))
  (if (> (plist-get position :character) 0)
      (point-max)
    (forward-line (plist-get position :line))
    (point)))

(defun cursord-apply-edits (edits)
  "Make EDITS, a vector in the protocol's form, in the current buffer."
  (cursord-as-one-step
    (save-excursion
      (cursord--widened
        (seq-doseq (edit (reverse edits))
          (let* ((range (plist-get edit :range))
                 (beg (cursord--edit-position (plist-get range :start)))
                 (end (cursord--edit-position (plist-get range :end))))
            (cursord--replace-region beg end (plist-get edit :newText))))))))

(provide 'cursord-replace)
;;; cursord-replace.el ends here
