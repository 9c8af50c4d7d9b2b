;;; cursord-places.el --- Where hunks are  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Finds hunks, and parts of them, by the marks in the buffer of a file.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'cursord-groups)
(require 'cursord-marks)

(defun cursord--mark-hunk (overlay)
  "Return the hunk of OVERLAY."
  (cursord-group-hunk (overlay-get overlay 'cursord-group)))

(defun cursord-hunk-places ()
  "Return the hunks of the current buffer in order, a list of (HUNK BEG . END).
END is BEG if the buffer has no line of the hunk."
  (let (places)
    (dolist (overlay cursord--marks)
      (when (overlay-buffer overlay)
        (let ((hunk (cursord--mark-hunk overlay)))
          (if (eq hunk (caar places))
              (setcdr (cdar places) (overlay-end overlay))
            (push (cons hunk
                        (cons (overlay-start overlay) (overlay-end overlay)))
                  places)))))
    (nreverse places)))

(defun cursord--deletion-here ()
  "Return the hunk that is the deletion of the current buffer's file, or nil."
  (seq-some (lambda (overlay)
              (and (overlay-buffer overlay)
                   (cursord-group-whole-p (overlay-get overlay 'cursord-group))
                   (cursord--mark-hunk overlay)))
            cursord--marks))

(defun cursord-hunk-at (&optional position)
  "Return the hunk of the line at POSITION or point, else one beside that line.
A hunk without lines in the buffer is beside the line before it.  The deletion
of the file is the hunk of all lines."
  (or (cursord--deletion-here) (cursord--hunk-at-line position)))

(defun cursord--hunk-at-line (position)
  "Return the hunk of the line at POSITION or point, or one beside it."
  (save-excursion
    (when position (goto-char position))
    (let* ((bol (line-beginning-position))
           (next (line-beginning-position 2))
           beside)
      (or (seq-some (pcase-lambda (`(,hunk ,beg . ,end))
                      (cond ((and (< beg end) (<= beg bol) (< bol end)) hunk)
                            ((< beg end) nil)
                            ((eql beg bol) hunk)
                            ((or (eql beg next)
                                 (and (eql beg (point-max)) (eql next beg)))
                             (setq beside (or beside hunk)) nil)))
                    (cursord-hunk-places))
          beside))))

(defun cursord-hunk-parts (beg end)
  "Return the parts of hunks in the lines between BEG and END.
The value is a list of (HUNK FROM . TO), counted in the hunk's changed lines.
The deleted lines of a group belong to its first line."
  (let ((first (save-excursion (goto-char beg) (line-beginning-position)))
        (end (max (1+ beg) end))
        parts)
    (dolist (overlay cursord--marks)
      (when (overlay-buffer overlay)
        (let* ((group (overlay-get overlay 'cursord-group))
               (hunk (cursord-group-hunk group))
               (from (overlay-start overlay))
               (to (overlay-end overlay))
               (isolated (cursord-isolated-p hunk))
               (beside (cursord-beside-p hunk))
               (index (cursord-group-from group))
               (olds (length (cursord-group-old group)))
               (news (length (cursord-group-new group)))
               (present (length (cursord-group-present group)))
               (rows (count-lines from to))
               low high)
          (cl-flet ((take-in (i j)
                      (setq low (min i (or low i))
                            high (max j (or high j)))))
            (when (and (cursord-group-absent group) (<= first from)
                       (or (< from end) (and (eql from end) (eobp)))
                       (not beside))
              (if isolated
                  (take-in (+ index olds) (+ index olds news))
                (take-in index (+ index olds))))
            (cond
             (beside                    ; decided as a whole
              (when (and (< from end) (< first to))
                (take-in 0 (length (cursord-changed-lines hunk)))))
             ((eql rows present)
              (save-excursion
                (goto-char from)
                (dotimes (i present)
                  (when (and (<= first (point)) (< (point) end))
                    (let ((at (+ index i (if isolated 0 olds))))
                      (take-in at (1+ at))))
                  (forward-line 1))))
             ;; A person has edited inside, so take the whole group.
             ((and (< from end) (< first to))
              (take-in index (+ index olds news)))))
          (when low
            (if (eq hunk (caar parts))
                (setcdr (cdar parts) (max high (cddar parts)))
              (push (cons hunk (cons low high)) parts))))))
    (nreverse parts)))

(defun cursord-review-paths (ws)
  "Return the paths of WS with hunks, sorted."
  (sort (hash-table-keys (cursord-workspace-diffs ws)) #'string<))

(defun cursord--text-paths (ws)
  "Return the paths of WS whose hunks can be shown in buffers, sorted.
A deleted file is shown in a buffer that is there already."
  (seq-filter (lambda (path)
                (let ((diff (gethash path (cursord-workspace-diffs ws))))
                  (and (not (file-name-absolute-p path))
                       (or (cursord-diff-text-p diff)
                           (and (cursord-diff-deleted-p diff)
                                (cursord-document-at ws path))))))
              (cursord-review-paths ws)))

(defun cursord--out-of-buffers (ws)
  "Return how many hunks of WS the buffers of files do not show.
They are of files without text, and the renames and modes of others."
  (let ((paths (cursord--text-paths ws)) (count 0))
    (maphash (lambda (path diff)
               (cl-incf count
                        (seq-count
                         (lambda (hunk)
                           (or (not (member path paths))
                               (and (seq-empty-p (plist-get hunk :lines))
                                    (not (member (plist-get diff :kind)
                                                 '("created" "deleted"))))))
                         (plist-get diff :hunks))))
             (cursord-workspace-diffs ws))
    count))

(defun cursord--hunk-starts ()
  "Return the beginnings of the current buffer's hunks, in order."
  (mapcar #'cadr (cursord-hunk-places)))

(provide 'cursord-places)
;;; cursord-places.el ends here
