;;; cursord-signs.el --- Signs at added lines  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; On displays with few colours, added lines look like any others, so they get a
;; sign in front.  The sign of a mark's first line is in the string before it,
;; after the deleted lines; those of the other lines are prefixes.

;;; Code:

(defconst cursord--few-colors 16
  "On displays with fewer colours, added lines get a sign.")

(defun cursord-signs-p ()
  "Return non-nil if added lines need signs on this display."
  (< (display-color-cells) cursord--few-colors))

(defun cursord-signs-put (mark on)
  "Put signs before all lines of MARK but the first if ON, else delete them."
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

(defvar-local cursord--keys-here nil
  "Whether the buffer has had marks since `cursord-mode' is on.
See `cursord--hunk-keys'.")
(put 'cursord--keys-here 'permanent-local t)

(defun cursord-keys-put (mark keymap)
  "Give the lines beside MARK, which has no text, KEYMAP; nil for none.
An overlay without text has no keys."
  (when-let* ((beside (overlay-get mark 'cursord-beside)))
    (delete-overlay beside)
    (overlay-put mark 'cursord-beside nil))
  (when (and keymap (eql (overlay-start mark) (overlay-end mark)))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (overlay-start mark))
        (let ((beside (make-overlay (line-beginning-position 0)
                                    (line-end-position) nil nil t)))
          (overlay-put beside 'keymap keymap)
          (overlay-put beside 'cursord-sign t)
          (overlay-put mark 'cursord-beside beside))))))

(defun cursord-delete-mark (mark)
  "Delete the overlay MARK, its signs and its keys."
  (when (overlay-buffer mark)
    (cursord-signs-put mark nil)
    (cursord-keys-put mark nil))
  (delete-overlay mark))

(provide 'cursord-signs)
;;; cursord-signs.el ends here
