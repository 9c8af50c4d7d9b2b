;;; cursord-edits.el --- The lines of edits, in the chat  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An edit in the chat counts the lines that it added and deleted, and unfolds to
;; them.  These are the lines that the agent reported; the review has the present
;; ones.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'seq)
(require 'subr-x)
(require 'cursord-replace)
(require 'cursord-workspace)
(require 'cursord-groups)

(defconst cursord--edit-most 200
  "The most lines of an edit that are shown.")

(defun cursord--edit-text (value)
  "Return VALUE, a member of an edit's report, if it is a text and not cut."
  (and (stringp value)
       (not (string-match-p "…([0-9]+ bytes)\\'" value))
       value))

(defun cursord--edit-success (tool)
  "Return TOOL's report of success, a plist; nil if TOOL is no edit."
  (and (member (plist-get tool :name) '("edit" "write" "delete"))
       (let ((result (plist-get tool :result)))
         (or (plist-get result :success) result))))

(defun cursord-edit-p (tool)
  "Return non-nil if TOOL changes a file."
  (and (cursord--edit-success tool) t))

(defun cursord-edit-cut-p (tool)
  "Return non-nil if the report of TOOL, an edit, was cut."
  (let ((success (cursord--edit-success tool)))
    (and (null (cursord--edit-text (plist-get success :diffString)))
         (seq-some (lambda (key)
                     (and (stringp (plist-get success key))
                          (null (cursord--edit-text (plist-get success key)))))
                   '(:beforeFullFileContent :afterFullFileContent :prevContent
                                            :diffString)))))

(defconst cursord--edit-pairs 10000
  "The most pairs of lines for which the fewest differences are looked for.")

(defun cursord--edit-block (old new)
  "Return the fewest lines in which the lists of lines OLD and NEW differ.
The lines have signs.  Of long lists, return all lines."
  (let* ((a (vconcat old)) (b (vconcat new))
         (n (length a)) (m (length b))
         (small (<= (* n m) cursord--edit-pairs))
         ;; Cell (I, J) is how many lines A after I and B after J have in common.
         (common (make-vector (if small (* (1+ n) (1+ m)) 0) 0))
         (cell (lambda (i j) (+ (* i (1+ m)) j)))
         (i 0) (j 0) deleted added lines)
    (when small
      (cl-loop for i downfrom (1- n) to 0 do
               (cl-loop for j downfrom (1- m) to 0 do
                        (aset common (funcall cell i j)
                              (if (equal (aref a i) (aref b j))
                                  (1+ (aref common (funcall cell (1+ i) (1+ j))))
                                (max (aref common (funcall cell (1+ i) j))
                                     (aref common (funcall cell i (1+ j)))))))))
    (cl-flet ((flush () (setq lines (append added deleted lines)
                              added nil deleted nil)))
      (while (or (< i n) (< j m))
        (cond
         ((and small (< i n) (< j m) (equal (aref a i) (aref b j)))
          (flush)
          (cl-incf i)
          (cl-incf j))
         ((and (< i n)
               (or (eql j m) (not small)
                   (>= (aref common (funcall cell (1+ i) j))
                       (aref common (funcall cell i (1+ j))))))
          (push (concat "-" (aref a i)) deleted)
          (cl-incf i))
         (t (push (concat "+" (aref b j)) added)
            (cl-incf j))))
      (flush))
    (nreverse lines)))

(defun cursord--edit-compare (before after)
  "Return the lines in which the texts BEFORE and AFTER differ, with signs."
  (let ((old (generate-new-buffer " *cursord before*" t))
        (new (generate-new-buffer " *cursord after*" t))
        lines)
    (unwind-protect
        (progn
          (with-current-buffer old (insert before))
          (with-current-buffer new (insert after))
          (let ((comparison (cursord-compare-buffers old new)))
            (cursord-compare-on comparison)
            (pcase-dolist (`(,from ,to ,new-from . ,new-to)
                           (reverse (cursord-comparison-blocks comparison)))
              (cl-flet ((lines-of (buffer beg end)
                          (and (< beg end)
                               (split-string
                                (string-remove-suffix
                                 "\n" (with-current-buffer buffer
                                        (buffer-substring beg end)))
                                "\n"))))
                (setq lines
                      (append lines
                              (cursord--edit-block (lines-of old from to)
                                                   (lines-of new new-from new-to))))))))
      (kill-buffer old)
      (kill-buffer new))
    lines))

(defun cursord-edit-lines (tool)
  "Return the lines that TOOL, an edit, deleted and added, with signs.
Return nil if TOOL has not reported them."
  (let* ((success (cursord--edit-success tool))
         (diff (cursord--edit-text (plist-get success :diffString)))
         (before (plist-get success (if (plist-member success :prevContent)
                                        :prevContent
                                      :beforeFullFileContent)))
         (after (plist-get success :afterFullFileContent)))
    (cond
     ((and (or before after)
           (or (null before) (cursord--edit-text before))
           (or (null after) (cursord--edit-text after)))
      ;; The agent's own diff may have lines that did not change.
      (cursord--edit-compare (or before "") (or after "")))
     (diff (seq-filter (lambda (line)
                         (string-match-p "\\`\\(?:\\+\\($\\|[^+]\\|\\+[^+]\\)\\|-\\($\\|[^-]\\|-[^-]\\)\\)" line))
                       (split-string diff "\r?\n"))))))

(defun cursord-change-lines (item)
  "Return the lines that ITEM, a call, changed in files as the daemon has seen it.
They have signs.  The name of a file that the call does not name is above its
lines.  Return nil if the call has changed nothing."
  (let* ((changes (append (plist-get item :changes) nil))
         (names (or (cdr changes)
                    (not (cursord-edit-p (plist-get item :tool))))))
    (seq-mapcat
     (lambda (change)
       (append (and names (list (concat "# " (plist-get change :path))))
               (seq-filter (lambda (line) (string-match-p "\\`[-+]" line))
                           (split-string (or (plist-get change :patch) "") "\n"))
               (and (eq t (plist-get change :cut)) (list "… and more"))))
     changes)))

(defun cursord-edit-counts (tool lines)
  "Return how many lines TOOL, an edit, added and deleted, as text.
LINES are these lines, if known.  Return the empty string if nothing is known."
  (let* ((success (cursord--edit-success tool))
         (count (lambda (sign key)
                  (if lines
                      (seq-count (lambda (line) (eq sign (aref line 0))) lines)
                    (and (natnump (plist-get success key))
                         (plist-get success key)))))
         (added (funcall count ?+ :linesAdded))
         (deleted (funcall count ?- :linesRemoved)))
    (if (or added deleted)
        (format " +%d −%d" (or added 0) (or deleted 0))
      "")))

(defun cursord-edit-shown (lines)
  "Return LINES as text, cut to `cursord--edit-most'."
  (let ((rest (- (length lines) cursord--edit-most)))
    (concat (string-join (take cursord--edit-most lines) "\n")
            (if (> rest 0)
                (format "\n… and %s" (cursord-plural rest "line"))
              ""))))

(defun cursord-edit-faces (beg end)
  "Give the lines of an edit from BEG to END the faces of a diff."
  (save-excursion
    (goto-char beg)
    (while (re-search-forward "^  │ \\([-+]\\).*$" end t)
      (put-text-property (match-beginning 1) (match-end 0) 'face
                         (if (equal (match-string 1) "+") 'diff-added
                           'diff-removed)))))

(defun cursord-edit-line ()
  "Return the shown line of an edit at point, and how many equal ones are above.
The value is (LINE . COUNT), or nil."
  (save-excursion
    (forward-line 0)
    (when (looking-at "  │ [-+].*$")
      (let ((shown (concat "^" (regexp-quote (match-string 0)) "$"))
            (line (substring (match-string-no-properties 0) 4))
            (count 0))
        (while (progn (forward-line -1) (and (not (bobp)) (looking-at "  │ ")))
          (when (looking-at shown)
            (cl-incf count)))
        (cons line count)))))

(defun cursord-edit-row (ws path item &optional line)
  "Return the row, from 0, in the file PATH of WS where the call ITEM changed it.
It is that of LINE, a value of `cursord-edit-line', if it is in a hunk still,
else that of the first hunk; nil if the call has no hunk any more."
  (let ((hunks (seq-filter (lambda (hunk)
                             (seq-some (lambda (source)
                                         (equal item (plist-get source :itemId)))
                                       (plist-get hunk :sources)))
                           (plist-get (gethash path (cursord-workspace-diffs ws))
                                      :hunks)))
        (count (or (cdr line) 0))
        row)
    (when line
      (dolist (group (seq-mapcat (lambda (hunk) (car (cursord-groups hunk))) hunks))
        (let* ((added (eq ?+ (aref (car line) 0)))
               (lines (if added (cursord-group-new group)
                        (cursord-group-old group)))
               (there (eq lines (cursord-group-present group))))
          (seq-do-indexed
           (lambda (text i)
             (when (and (null row)
                        (equal (cursord--bare text) (substring (car line) 1))
                        (< (cl-decf count) 0))
               (setq row (+ (cursord-group-row group) (if there i 0)))))
           lines))))
    (or row (and hunks (cursord-hunk-row (car hunks))))))

(provide 'cursord-edits)
;;; cursord-edits.el ends here
