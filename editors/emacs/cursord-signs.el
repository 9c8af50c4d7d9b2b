;;; cursord-signs.el --- Signs in front of added lines  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Where there are few colours, lines that were added look like any other: a
;; sign is put in front of them.  That of a mark's first line is in the string
;; before it, behind the lines that are not there; the others are prefixes.

;;; Code:

(defconst cursord--few-colors 16
  "With fewer colours a sign is put in front of added lines.")

(defun cursord-signs-p ()
  "Whether added lines need signs here."
  (< (display-color-cells) cursord--few-colors))

(defun cursord-signs-put (mark on)
  "Have signs in front of the second line of MARK, and those behind it, if ON."
  (when-let* ((rest (overlay-get mark 'cursord-rest)))
    (delete-overlay rest)
    (overlay-put mark 'cursord-rest nil))
  (when on
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (overlay-start mark))
        (forward-line 1)
        (when (< (point) (overlay-end mark))
          (let ((rest (make-overlay (point) (overlay-end mark))))
            (overlay-put rest 'line-prefix "+")
            (overlay-put rest 'cursord-sign t)
            (overlay-put mark 'cursord-rest rest)))))))

(defun cursord-delete-mark (mark)
  "Delete the overlay MARK and its signs."
  (when (overlay-buffer mark)
    (cursord-signs-put mark nil))
  (delete-overlay mark))

(provide 'cursord-signs)
;;; cursord-signs.el ends here
