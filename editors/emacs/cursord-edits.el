;;; cursord-edits.el --- Lines of edits in the chat  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An edit in the chat counts the lines that it added and deleted, and unfolds
;; to them.  These are the lines that the agent reported; the review has the
;; present ones.

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

(defun cursord--edit-steps (old new)
  "Return how the list of lines OLD becomes NEW, by the fewest changes.
A step is `-' for a line of OLD alone, `+' for one of NEW alone, and `=' for one
of both.  Long lists have no lines in common."
  (let* ((a (vconcat old)) (b (vconcat new))
         (n (length a)) (m (length b))
         (small (<= (* n m) cursord--edit-pairs))
         ;; Cell (I, J): how many lines A after I and B after J have in common.
         (common (make-vector (if small (* (1+ n) (1+ m)) 0) 0))
         (cell (lambda (i j) (+ (* i (1+ m)) j)))
         (i 0) (j 0) steps)
    (when small
      (cl-loop for i downfrom (1- n) to 0 do
               (cl-loop for j downfrom (1- m) to 0 do
                        (aset common (funcall cell i j)
                              (if (equal (aref a i) (aref b j))
                                  (1+ (aref common
                                            (funcall cell (1+ i) (1+ j))))
                                (max (aref common (funcall cell (1+ i) j))
                                     (aref common (funcall cell i (1+ j)))))))))
    (while (or (< i n) (< j m))
      (push (cond
             ((and small (< i n) (< j m) (equal (aref a i) (aref b j)))
              '=)
             ((and (< i n)
                   (or (eql j m) (not small)
                       (>= (aref common (funcall cell (1+ i) j))
                           (aref common (funcall cell i (1+ j))))))
              '-)
             (t '+))
            steps)
      (unless (eq (car steps) '+) (cl-incf i))
      (unless (eq (car steps) '-) (cl-incf j)))
    (nreverse steps)))

(defun cursord--edit-block (old new)
  "Return the fewest lines in which the lists of lines OLD and NEW differ.
The lines have signs.  Of long lists, return all lines."
  (let (deleted added lines)
    (cl-flet ((flush () (setq lines (append added deleted lines)
                              added nil deleted nil)))
      (dolist (step (cursord--edit-steps old new))
        (pcase step
          ('- (push (concat "-" (pop old)) deleted))
          ('+ (push (concat "+" (pop new)) added))
          (_ (flush)
             (pop old)
             (pop new))))
      (flush))
    (nreverse lines)))

(defun cursord--edit-blocks (before after)
  "Return where the texts BEFORE and AFTER differ, a list of (SAME OLD NEW).
After SAME equal lines the lines OLD of BEFORE are the lines NEW of AFTER.  The
last element is the equal lines at the end."
  (let ((old (generate-new-buffer " *cursord before*" t))
        (new (generate-new-buffer " *cursord after*" t))
        (at 1) blocks)
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
                                "\n")))
                        (inside (buffer position)
                          (with-current-buffer buffer
                            (goto-char position)
                            (if (bolp) 0 (- (pos-bol 2) position)))))
                ;; The last block may end inside a line: its rest is equal.
                (let ((rest (max (inside old to) (inside new new-to))))
                  (cl-incf to rest)
                  (cl-incf new-to rest))
                (push (list (with-current-buffer old (count-lines at from))
                            (lines-of old from to)
                            (lines-of new new-from new-to))
                      blocks))
              (setq at to)))
          (push (list (with-current-buffer old (count-lines at (point-max)))
                      nil nil)
                blocks))
      (kill-buffer old)
      (kill-buffer new))
    (nreverse blocks)))

(defun cursord--edit-compare (before after)
  "Return the lines in which the texts BEFORE and AFTER differ, with signs."
  (mapcan (pcase-lambda (`(,_ ,old ,new)) (cursord--edit-block old new))
          (cursord--edit-blocks before after)))

(defun cursord-edit-rows (before after)
  "Return the rows of the lines of the text AFTER in the text BEFORE, a vector.
A row is nil if BEFORE does not have the line.  A line that was moved is known
by its text, if no other line that differs has it."
  (let ((gone (make-hash-table :test #'equal))
        (come (make-hash-table :test #'equal))
        (row 0) (n 0) rows)
    (cl-flet ((same (lines)
                (dotimes (_ lines)
                  (push row rows)
                  (cl-incf row)
                  (cl-incf n)))
              (note (table line at)
                (when (string-match-p "[[:alnum:]]" line)
                  (puthash line (if (gethash line table) 'several at) table))))
      (pcase-dolist (`(,lines ,old ,new) (cursord--edit-blocks before after))
        (same lines)
        (dolist (step (cursord--edit-steps old new))
          (pcase step
            ('- (note gone (pop old) row)
                (cl-incf row))
            ('+ (note come (pop new) n)
                (push nil rows)
                (cl-incf n))
            (_ (same 1)
               (pop old)
               (pop new))))))
    (setq rows (vconcat (nreverse rows)))
    (maphash (lambda (line at)
               (let ((from (gethash line gone)))
                 (when (and (natnump at) (natnump from))
                   (aset rows at from))))
             come)
    rows))

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
                         (string-match-p
                          (concat "\\`\\(?:\\+\\($\\|[^+]\\|\\+[^+]\\)"
                                  "\\|-\\($\\|[^-]\\|-[^-]\\)\\)")
                          line))
                       (split-string diff "\r?\n"))))))

(defun cursord-change-lines (item)
  "Return the lines of files that ITEM, a call, changed, as the daemon saw it.
They have signs.  The name of a file that the call does not name is above its
lines.  Return nil if the call has changed nothing."
  (let* ((changes (append (plist-get item :changes) nil))
         (names (or (cdr changes)
                    (not (cursord-edit-p (plist-get item :tool))))))
    (seq-mapcat
     (lambda (change)
       (append (and names (list (concat "# " (plist-get change :path))))
               (seq-filter (lambda (line) (string-match-p "\\`[-+]" line))
                           (split-string (or (plist-get change :patch) "")
                                         "\n"))
               (and (eq t (plist-get change :cut)) (list "… and more"))))
     changes)))

(defun cursord-edit-counts (tool lines)
  "Return how many lines TOOL, an edit, added and deleted, as text.
LINES are these lines, if known.  Return the empty string if nothing is known."
  (let* ((success (cursord--edit-success tool))
         (before (cursord--edit-text
                  (plist-get success :beforeFullFileContent)))
         (after (cursord--edit-text
                 (plist-get success :afterFullFileContent)))
         (count (lambda (sign key)
                  (if lines
                      (seq-count (lambda (line) (eq sign (aref line 0))) lines)
                    (and (natnump (plist-get success key))
                         (plist-get success key)))))
         (added (funcall count ?+ :linesAdded))
         (deleted (funcall count ?- :linesRemoved)))
    (cond
     ;; What the agent counts may be all lines of the file.
     ((and (null lines) before (equal before after)) " (no change)")
     ((and lines (eql 0 added) (eql 0 deleted)) "") ; of a mode, for instance
     ((or added deleted) (format " +%d −%d" (or added 0) (or deleted 0)))
     (t ""))))

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
  "Return the row, from 0, where the call ITEM changed the file PATH of WS.
It is that of LINE, a value of `cursord-edit-line', if it is in a hunk still,
else that of the first hunk; nil if the call has no hunk any more."
  (let ((hunks (seq-filter
                (lambda (hunk)
                  (seq-some (lambda (source)
                              (equal item (plist-get source :itemId)))
                            (plist-get hunk :sources)))
                (plist-get (gethash path (cursord-workspace-diffs ws))
                           :hunks)))
        (count (or (cdr line) 0))
        row)
    (when line
      (dolist (group (seq-mapcat (lambda (hunk) (car (cursord-groups hunk)))
                                 hunks))
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
