;;; cursord-groups.el --- The lines of a hunk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Splits the lines of a hunk into groups: each is a run of deleted lines and
;; the added lines that stand in their place.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-say)

(cl-defstruct (cursord-group (:constructor cursord--group-make) (:copier nil))
  "A run of deleted lines and the added lines that stand in their place."
  hunk
  row                                   ; its first line in the file, from 0
  from                                  ; its first one of the changed lines
  old                                   ; the deleted lines, as strings
  new)                                  ; the added ones

(defun cursord-changed-p (line)
  "Return non-nil if LINE of a hunk was deleted or added."
  (not (eq (aref line 0) ?\s)))

(defun cursord-changed-lines (hunk)
  "Return the deleted and added lines of HUNK, with their signs."
  (seq-filter #'cursord-changed-p (plist-get hunk :lines)))

(defun cursord-proposed-p (hunk)
  "Return non-nil if HUNK is of an isolated session: its new text is in a copy."
  (eq (plist-get hunk :isolated) t))

(defun cursord-isolated-p (hunk)
  "Return non-nil if the buffer has the old lines of HUNK.
The new ones are in the copy of its session or, in a conflict, on disk."
  (or (cursord-proposed-p hunk) (cursord-conflict-p hunk)))

(defun cursord-conflict-p (hunk)
  "Return non-nil if a person has changed the lines of HUNK, too, unsaved."
  (equal (plist-get hunk :state) "conflict"))

(defun cursord-beside-p (hunk)
  "Return non-nil if HUNK, of a copy, is beside lines that a person has changed.
Both the person and the agent have changed this place.  The file has the
person's lines; an accept puts the agent's in their place."
  (not (seq-empty-p (plist-get hunk :beside))))

(defun cursord-contested-p (hunk)
  "Return non-nil if a person has changed the lines of HUNK, too."
  (or (cursord-conflict-p hunk) (cursord-beside-p hunk)))

(defconst cursord-contested-heading "you changed this, too: b keeps both"
  "The note on a hunk in the review whose lines a person has changed, too.")

(defvar cursord-hunk-prefix)            ; cursord.el

(defun cursord-contested-text ()
  "Return what the choices are in a place that a person has changed, too."
  (if-let* ((prefix (bound-and-true-p cursord-hunk-prefix)))
      (format (concat "you changed this, too: %s r keeps yours,"
                      " %s a the agent's, %s b both")
              prefix prefix prefix)
    "you changed this, too: reject keeps yours, accept takes the agent's"))

(defun cursord-hunk-row (hunk)
  "Return the row, from 0, of the first changed line of HUNK in its file."
  (if-let* ((group (caar (cursord-groups hunk))))
      (max 0 (cursord-group-row group))
    0))

(defun cursord-groups (hunk &optional beside)
  "Return the groups of HUNK, and the lines that must be in the file.
The value is (GROUPS . PRESENT); PRESENT is a list of (ROW . TEXT).  If BESIDE
is non-nil, the person's lines beside those of HUNK are among the old ones."
  (let* ((yours (and beside (append (plist-get hunk :beside) nil)))
         (index -1)
         (isolated (cursord-isolated-p hunk))
         (absent (if isolated ?+ ?-))
         (start (plist-get hunk (if isolated :oldStart :newStart)))
         (count (plist-get hunk (if isolated :oldLines :newLines)))
         (row (if (eql count 0) start (1- start)))
         (changed 0) groups group present)
    (seq-doseq (line (plist-get hunk :lines))
      (let* ((sign (aref line 0))
             (text (substring line 1))
             (mine (memql (cl-incf index) yours)))
        (if (and (eq sign ?\s) (not mine))
            (setq group nil)
          (when (or (null group)
                    (and (eq sign ?-) (not yours) (cursord-group-new group)))
            (setq group (cursord--group-make :hunk hunk :row row :from changed))
            (push group groups))
          (if (eq sign ?+)
              (push text (cursord-group-new group))
            (push text (cursord-group-old group)))
          (unless (eq sign ?\s)
            (cl-incf changed)))
        (unless (eq sign absent)
          (push (cons row text) present)
          (cl-incf row))))
    (dolist (group groups)
      (setf (cursord-group-old group) (nreverse (cursord-group-old group))
            (cursord-group-new group) (nreverse (cursord-group-new group))))
    (cons (nreverse groups) (nreverse present))))

(defun cursord-diff-text-p (diff)
  "Return non-nil if DIFF has hunks of text that is in a file now.
A renamed file, or one with another mode, can have such hunks as well."
  (and (not (member (plist-get diff :kind)
                    '("deleted" "binary" "large" "symlink")))
       (or (not (equal (plist-get diff :kind) "mode"))
           (seq-some (lambda (hunk) (not (seq-empty-p (plist-get hunk :lines))))
                     (plist-get diff :hunks)))))

(defun cursord-diff-deleted-p (diff)
  "Return non-nil if DIFF is the deletion of a file in the work tree.
A buffer may still have its text."
  (and (equal (plist-get diff :kind) "deleted")
       (not (seq-some #'cursord-proposed-p (plist-get diff :hunks)))))

(defun cursord-whole-group (hunk)
  "Return the group that stands for HUNK, the deletion of a file."
  (cursord--group-make :hunk hunk :row 0 :from 0))

(defun cursord-group-whole-p (group)
  "Return non-nil if GROUP stands for the deletion of a file."
  (not (or (cursord-group-old group) (cursord-group-new group))))

(defun cursord-deleted-text ()
  "Return the note above the text of a file that the agent has deleted."
  (let ((prefix (bound-and-true-p cursord-hunk-prefix)))
    (format (concat "the agent has deleted this file: %s brings it back,"
                    " %s leaves it deleted")
            (if prefix (concat prefix " r") "reject")
            (if prefix (concat prefix " a") "accept"))))

(defun cursord-group-present (group)
  "Return the lines of GROUP that are in the file."
  (if (cursord-isolated-p (cursord-group-hunk group))
      (cursord-group-old group)
    (cursord-group-new group)))

(defun cursord-group-absent (group)
  "Return the lines of GROUP that are not in the file."
  (if (cursord-isolated-p (cursord-group-hunk group))
      (cursord-group-new group)
    (cursord-group-old group)))

(defun cursord--bare (line)
  "Return LINE without carriage return and byte order mark.
A buffer has these in its coding system."
  (string-remove-prefix "\ufeff" (string-remove-suffix "\r" line)))

(defcustom cursord-shown-lines 8
  "The most deleted lines that a buffer shows at a place.
The review buffer has all of them.  With 0, a line only counts them."
  :type 'natnum
  :group 'cursord)

(defconst cursord--shown-columns 500
  "The most characters that are shown of a deleted line.")

(defun cursord--absent-text (lines sign face)
  "Return the string that shows LINES with SIGN and FACE."
  (let* ((count (length lines))
         ;; Counting two lines would take nearly as much room as showing them.
         (shown (if (or (<= count cursord-shown-lines)
                        (and (> cursord-shown-lines 0)
                             (<= count (+ 2 cursord-shown-lines))))
                    lines
                  (take cursord-shown-lines lines)))
         (rest (- count (length shown))))
    (concat
     (mapconcat (lambda (line)
                  (let ((line (cursord--bare line)))
                    (when (> (length line) cursord--shown-columns)
                      (setq line (concat
                                  (substring line 0 cursord--shown-columns)
                                  "…")))
                    (propertize (concat sign line "\n") 'face face)))
                shown "")
     (when (> rest 0)
       (propertize (format "%s… %s%s\n" sign (if shown "and " "")
                           (cursord-plural rest "line")) 'face face)))))

(provide 'cursord-groups)
;;; cursord-groups.el ends here
