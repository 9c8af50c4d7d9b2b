;;; cursord-edits.el --- What a call of the agent changed, in the chat  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; An edit in the chat says how many lines it added and deleted, and unfolds to
;; them.  That is what the agent reported: the review has what is there now.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'seq)
(require 'subr-x)
(require 'cursord-replace)
(require 'cursord-workspace)

(defconst cursord--edit-most 200
  "So many lines of an edit are shown at most.")

(defun cursord--edit-text (value)
  "VALUE, a member of what an edit reported, if it is a text that was not cut."
  (and (stringp value)
       (not (string-match-p "…([0-9]+ bytes)\\'" value))
       value))

(defun cursord--edit-success (tool)
  "What TOOL reported of its success, as a plist; nil if it is no edit."
  (and (member (plist-get tool :name) '("edit" "write" "delete"))
       (let ((result (plist-get tool :result)))
         (or (plist-get result :success) result))))

(defun cursord-edit-p (tool)
  "Whether TOOL changes a file."
  (and (cursord--edit-success tool) t))

(defun cursord-edit-cut-p (tool)
  "Whether what TOOL, an edit, reported was cut, so that reading it gives more."
  (let ((success (cursord--edit-success tool)))
    (and (null (cursord--edit-text (plist-get success :diffString)))
         (seq-some (lambda (key)
                     (and (stringp (plist-get success key))
                          (null (cursord--edit-text (plist-get success key)))))
                   '(:beforeFullFileContent :afterFullFileContent :prevContent
                                            :diffString)))))

(defun cursord--edit-compare (before after)
  "The lines that the texts BEFORE and AFTER do not share, with their signs."
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
              (cl-loop for (buffer sign beg end)
                       in (list (list old "-" from to)
                                (list new "+" new-from new-to))
                       do (with-current-buffer buffer
                            (let ((text (string-remove-suffix
                                         "\n" (buffer-substring beg end))))
                              (unless (eql beg end)
                                (dolist (line (split-string text "\n"))
                                  (push (concat sign line) lines)))))))))
      (kill-buffer old)
      (kill-buffer new))
    (nreverse lines)))

(defun cursord-edit-lines (tool)
  "The lines that TOOL, an edit, deleted and added, with their signs.
Nil if it has not told them."
  (let* ((success (cursord--edit-success tool))
         (diff (cursord--edit-text (plist-get success :diffString)))
         (before (plist-get success (if (plist-member success :prevContent)
                                        :prevContent
                                      :beforeFullFileContent)))
         (after (plist-get success :afterFullFileContent)))
    (cond
     (diff (seq-filter (lambda (line)
                         (string-match-p "\\`\\(?:\\+\\($\\|[^+]\\|\\+[^+]\\)\\|-\\($\\|[^-]\\|-[^-]\\)\\)" line))
                       (split-string diff "\r?\n")))
     ((or (and before (null (cursord--edit-text before)))
          (and after (null (cursord--edit-text after))))
      nil)
     ((or before after) (cursord--edit-compare (or before "") (or after ""))))))

(defun cursord-edit-counts (tool lines)
  "How many lines TOOL, an edit, added and deleted, as text; LINES are those.
It is the empty string if that is not known."
  (let* ((success (cursord--edit-success tool))
         (count (lambda (sign key)
                  (cond ((natnump (plist-get success key)) (plist-get success key))
                        (lines (seq-count (lambda (line) (eq sign (aref line 0)))
                                          lines)))))
         (added (funcall count ?+ :linesAdded))
         (deleted (funcall count ?- :linesRemoved)))
    (if (or added deleted)
        (format " +%d −%d" (or added 0) (or deleted 0))
      "")))

(defun cursord-edit-shown (lines)
  "Those of LINES that are shown, as text."
  (let ((rest (- (length lines) cursord--edit-most)))
    (concat (string-join (take cursord--edit-most lines) "\n")
            (if (> rest 0)
                (format "\n… and %s" (cursord-plural rest "line"))
              ""))))

(defun cursord-edit-faces (beg end)
  "Give the lines of an edit from BEG to END, behind bars, the faces of a diff."
  (save-excursion
    (goto-char beg)
    (while (re-search-forward "^  │ \\([-+]\\).*$" end t)
      (put-text-property (match-beginning 1) (match-end 0) 'face
                         (if (equal (match-string 1) "+") 'diff-added
                           'diff-removed)))))

(defun cursord-edit-hunk (ws path item)
  "The first hunk of the file PATH of WS that the call ITEM had a part in; or nil."
  (seq-find (lambda (hunk)
              (seq-some (lambda (source)
                          (equal item (plist-get source :itemId)))
                        (plist-get hunk :sources)))
            (plist-get (gethash path (cursord-workspace-diffs ws)) :hunks)))

(provide 'cursord-edits)
;;; cursord-edits.el ends here
