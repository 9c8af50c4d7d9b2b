;;; cursord-patch.el --- Diffs as git's patches  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Makes the text of a review.  Hunks have the text property `cursord-hunk',
;; files `cursord-path'.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'cursord-workspace)
(require 'cursord-files)

(defface cursord-note '((t :inherit warning))
  "Face of notes on a file in the review."
  :group 'cursord)

(defun cursord--patch-name (prefix path)
  "Return PATH behind PREFIX, quoted as in a patch."
  (let ((name (concat prefix (if (file-name-absolute-p path) "" "/") path)))
    (if (string-match-p "[\"\\\\[:cntrl:]]" name)
        (concat "\"" (replace-regexp-in-string
                      "[\"\\\\[:cntrl:]]"
                      (lambda (c)
                        (pcase c ("\n" "\\n") ("\t" "\\t")
                               ((or "\"" "\\") (concat "\\" c))
                               (_ (format "\\%03o" (aref c 0)))))
                      name t t)
                "\"")
      name)))

(defun cursord--file-lines (diff old new)
  "Return the lines of a patch's header for DIFF, from the name OLD to NEW."
  (pcase (plist-get diff :kind)
    ("binary" (format "Binary files %s and %s differ\n" old new))
    ("large"
     (format "Files %s and %s differ, and are too large to be shown\n" old new))
    ("symlink"
     (format "link from %s\nlink to %s\n"
             (or (plist-get diff :oldTarget) "nothing")
             (or (plist-get diff :newTarget) "nothing")))
    (_ (concat
        (and (plist-get diff :oldPath)
             (format "rename from %s\nrename to %s\n" (plist-get diff :oldPath)
                     (plist-get diff :path)))
        (and (plist-get diff :newMode) (plist-get diff :oldMode)
             (format "old mode %s\nnew mode %s\n" (plist-get diff :oldMode)
                     (plist-get diff :newMode)))))))

(defun cursord--author-text (hunk)
  "Return how HUNK was made, unless by edits alone, and if it may be yours."
  (string-join (delq nil
                     (list (let ((by (cursord-made-by hunk)))
                             (and (not (string-empty-p by)) by))
                           (and (cursord-maybe-yours-p hunk)
                                cursord-maybe-text)
                           (and (cursord-contested-p hunk)
                                cursord-contested-heading)))
               ", "))

(defun cursord--crlf-p (hunk)
  "Return non-nil if all lines of HUNK end with a carriage return.
A last line without a newline does not count."
  (let* ((lines (append (plist-get hunk :lines) nil))
         (counted (lambda (line sign key)
                    (not (and (eq t (plist-get hunk key))
                              (eq line (seq-find (lambda (one)
                                                   (memq (aref one 0)
                                                         (list ?\s sign)))
                                                 (reverse lines))))))))
    (seq-every-p (lambda (line)
                   (or (string-suffix-p "\r" line)
                       (not (and (funcall counted line ?- :oldNoEol)
                                 (funcall counted line ?+ :newNoEol)))))
                 lines)))

(defun cursord--hunk-text (hunk)
  "Return HUNK in the form of a patch.
Hide carriage returns if all lines end with one; the text has them."
  (let* ((lines (append (plist-get hunk :lines) nil))
         (last-of (lambda (signs)
                    (cl-position-if (lambda (line) (memq (aref line 0) signs))
                                    lines :from-end t)))
         (old-end (and (eq t (plist-get hunk :oldNoEol))
                       (funcall last-of '(?\s ?-))))
         (new-end (and (eq t (plist-get hunk :newNoEol))
                       (funcall last-of '(?\s ?+))))
         (i -1)
         (crlf (cursord--crlf-p hunk))
         (author (cursord--author-text hunk))
         (out (list (format "@@ -%d,%d +%d,%d @@%s%s\n"
                            (plist-get hunk :oldStart)
                            (plist-get hunk :oldLines)
                            (plist-get hunk :newStart)
                            (plist-get hunk :newLines)
                            (if (string-empty-p author) "" " ") author))))
    (dolist (line lines)
      (cl-incf i)
      (push (if (and crlf (string-suffix-p "\r" line))
                (concat (substring line 0 -1)
                        (propertize "\r" 'cursord-display ""))
              line)
            out)
      (push "\n" out)
      (when (or (eql i old-end) (eql i new-end))
        (push "\\ No newline at end of file\n" out)))
    (propertize (apply #'concat (nreverse out)) 'cursord-hunk hunk)))

(defun cursord--section-notes (ws path diff)
  "Return the notes on the file PATH of WS, whose diff is DIFF."
  (let ((document (cursord-document-at ws path)))
    (delq nil
          (list (and document (cursord-document-conflict document)
                     (format (concat "%s has unsaved changes here, and was %s"
                                     " meanwhile: save the buffer to keep what"
                                     " it has, or %s it")
                             path (cursord-document-conflict document)
                             (if (eq (cursord-document-conflict document)
                                     'deleted)
                                 "kill"
                               "revert")))
                (and (equal (plist-get diff :baseline) "unknown")
                     "The former text is not known: this cannot be rejected")
                (and (file-name-absolute-p path)
                     (substitute-command-keys
                      (concat "This is outside of the workspace and cannot be"
                              " decided: \\<cursord-review-mode-map>"
                              "\\[cursord-dismiss] takes it off the list")))
                (and (seq-some #'cursord-maybe-yours-p (plist-get diff :hunks))
                     (concat "No call of the agent explains some of this, so it"
                             " may be yours: only a reject of its hunk takes it"
                             " back"))
                (and (seq-some #'cursord-conflict-p (plist-get diff :hunks))
                     (concat "You have changed some lines, too, and not saved"
                             " them: a reject keeps yours"))
                (and (seq-some #'cursord-beside-p (plist-get diff :hunks))
                     "You have changed some lines, too: a reject keeps yours")
                (and (seq-some #'cursord-proposed-p (plist-get diff :hunks))
                     (concat "Isolated: the file has these lines once they are"
                             " accepted"))))))

(defun cursord--filled (text)
  "Return TEXT as lines of at most 80 columns."
  (with-temp-buffer
    (insert text)
    (let ((fill-column 79))
      (fill-region (point-min) (point-max)))
    (goto-char (point-max))
    (unless (bolp) (insert "\n"))
    (buffer-string)))

(defun cursord--unseen (text)
  "Return TEXT hidden: git needs it, people do not."
  (propertize text 'cursord-display ""))

(defun cursord--file-heading (path diff)
  "Return the heading of the file PATH, whose diff is DIFF.
For example, \"modified lib/util.py +3 −3\"."
  (format "%s %s%s%s" (plist-get diff :kind)
          (if-let* ((old (plist-get diff :oldPath)))
              (concat old " → ")
            "")
          (if-let* (((equal (plist-get diff :kind) "created"))
                    (mode (plist-get diff :newMode)))
              (format "%s, mode %s," path mode)
            path)
          (let ((added (or (plist-get diff :added) 0))
                (removed (or (plist-get diff :removed) 0)))
            (if (and (zerop added) (zerop removed))
                ""
              (format " +%d −%d" added removed)))))

(defun cursord--section-text (path diff notes)
  "Return DIFF, of the file PATH, in the form of a patch, behind NOTES."
  (let* ((hunks (append (plist-get diff :hunks) nil))
         (kind (plist-get diff :kind))
         (old (cursord--patch-name "a" (or (plist-get diff :oldPath) path)))
         (new (cursord--patch-name "b" path))
         (tail (if (string-search " " path) "\t" ""))
         (bare (seq-find (lambda (hunk) (seq-empty-p (plist-get hunk :lines)))
                         hunks))
         (listed (seq-remove (lambda (hunk)
                               (seq-empty-p (plist-get hunk :lines))) hunks)))
    (propertize
     (concat
      (mapconcat (lambda (note)
                   (propertize (cursord--filled (concat note "."))
                               'font-lock-face 'cursord-note))
                 notes "")
      (when hunks
        (concat
         ;; The heading hides git's line.
         (propertize (format "diff --git %s %s" old new)
                     'cursord-display
                     (propertize (cursord--file-heading path diff)
                                 'face 'diff-file-header))
         "\n"
         (cursord--unseen
          (pcase kind
            ("created"
             (format "new file mode %s\n"
                     (or (plist-get diff :newMode) "100644")))
            ("deleted"
             (format "deleted file mode %s\n"
                     (or (plist-get diff :oldMode) "100644")))
            (_ "")))
         (if bare
             (let ((lines (cursord--file-lines diff old new)))
               (propertize (if (string-empty-p lines)
                               (format "file %s: %s\n" kind path)
                             lines) 'cursord-hunk bare))
           (and (equal kind "renamed") (cursord--file-lines diff old new)))
         (when listed
           (cursord--unseen
            (format "--- %s%s\n+++ %s%s\n"
                    (if (equal kind "created") "/dev/null" old) tail
                    (if (equal kind "deleted") "/dev/null" new) tail)))
         (mapconcat #'cursord--hunk-text listed ""))))
     'cursord-path path)))

(provide 'cursord-patch)
;;; cursord-patch.el ends here
