;;; cursord-replace.el --- Change buffers as if nobody had  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer gets another text and keeps point, markers, windows and overlays at the text where they were; what changes
;; is one step for undo.  `replace-buffer-contents' does that as well, and takes a third of a second for a file of
;; 100,000 lines: here lines are compared first, and it is only used for those that differ.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defconst cursord--replace-careful 20000
  "So many characters are replaced with care for what stays among them.")

(defconst cursord--resync 60
  "So many lines ahead it is looked for where two texts are equal again.")

(defun cursord--replace-region (beg end text)
  "Replace what is between BEG and END by TEXT."
  (save-excursion
    (if (or (eql beg end) (string-empty-p text) (> (+ (- end beg) (length text)) cursord--replace-careful))
        (progn
          (goto-char end)
          ;; A marker at the beginning stays before what is new.
          (insert text)
          (delete-region beg end))
      (replace-region-contents beg end (lambda () text) 0.01 64))))

(defun cursord--equal-head (old new)
  "How many characters at the beginning of OLD and NEW are equal."
  (let ((n (compare-strings old nil nil new nil nil)))
    (if (eq n t) (length old) (1- (abs n)))))

(defun cursord--equal-lines-head (old new)
  "How many characters at the beginning of OLD and NEW are equal whole lines."
  (let ((n (cursord--equal-head old new)))
    (while (and (> n 0) (not (eq (aref old (1- n)) ?\n)))
      (cl-decf n))
    n))

(defun cursord--equal-tail (old new from)
  "How many characters at the end of OLD and NEW are equal, none before FROM."
  (let ((low 0)
        (high (- (min (length old) (length new)) from)))
    ;; What is equal at the end is so with less of it too.
    (while (< low high)
      (let ((n (/ (+ low high 1) 2)))
        (if (eq t (compare-strings old (- (length old) n) (- (length old) low)
                                   new (- (length new) n) (- (length new) low)))
            (setq low n)
          (setq high (1- n)))))
    low))

(defun cursord--blocks (old new)
  "Where the vectors of lines OLD and NEW differ.
The value is a list of (FROM TO NEW-FROM NEW-TO), the last first."
  (let ((i 0) (j 0) (m (length old)) (n (length new)) blocks)
    (while (or (< i m) (< j n))
      (if (and (< i m) (< j n) (equal (aref old i) (aref new j)))
          (setq i (1+ i) j (1+ j))
        (let ((found
               (catch 'found
                 (dotimes (d cursord--resync)
                   (dotimes (a (+ d 2))
                     (let ((x (+ i a)) (y (+ j (- (1+ d) a))))
                       (when (and (<= x m) (<= y n)
                                  (if (or (eql x m) (eql y n))
                                      (and (eql x m) (eql y n))
                                    (and (equal (aref old x) (aref new y))
                                         (or (eql (1+ x) m) (eql (1+ y) n)
                                             (equal (aref old (1+ x)) (aref new (1+ y)))))))
                         (throw 'found (cons x y)))))))))
          (setq found (or found (cons m n)))
          (push (list i (car found) j (cdr found)) blocks)
          (setq i (car found) j (cdr found)))))
    blocks))

(defun cursord--line-vector (text)
  "The lines of TEXT with their ends."
  (let ((at 0) lines)
    (while (< at (length text))
      (let ((end (or (string-search "\n" text at) (1- (length text)))))
        (push (substring text at (1+ end)) lines)
        (setq at (1+ end))))
    (vconcat (nreverse lines))))

(defun cursord-replace-text (text)
  "Make TEXT the text of the current buffer; return whether it was not."
  (save-restriction
    (widen)
    (let ((old (buffer-substring-no-properties (point-min) (point-max))))
      (unless (string= old text)
        (let* ((head (cursord--equal-lines-head old text))
               (tail (cursord--equal-tail old text head))
               (middle (cursord--line-vector (substring old head (- (length old) tail))))
               (wanted (cursord--line-vector (substring text head (- (length text) tail))))
               (starts (make-vector (1+ (length middle)) (+ (point-min) head))))
          (dotimes (i (length middle))
            (aset starts (1+ i) (+ (aref starts i) (length (aref middle i)))))
          (pcase-dolist (`(,from ,to ,new-from ,new-to) (cursord--blocks middle wanted))
            (cursord--replace-region (aref starts from) (aref starts to)
                                     (string-join (append (substring wanted new-from new-to) nil)))))
        t))))

(defmacro cursord-as-one-step (&rest body)
  "Run BODY, whose changes of the current buffer are one step for undo."
  (declare (indent 0) (debug t))
  `(let ((inhibit-read-only t))
     (undo-boundary)
     (prog1 (progn ,@body)
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
