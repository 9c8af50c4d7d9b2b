;;; cursord-author.el --- Who made a hunk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A hunk that no call of the agent explains may be a person's.  It has faces of
;; its own, and only a reject of that very hunk takes it back.

;;; Code:

(require 'seq)

(defface cursord-maybe '((t :inherit diff-changed :extend t))
  "Face of added lines that may be yours."
  :group 'cursord)
(defface cursord-maybe-note '((t :inherit warning))
  "Face of notes and marks of hunks that may be yours."
  :group 'cursord)

(defconst cursord-maybe-text "may be yours: it is not surely the agent's"
  "The note on a hunk that may be a person's.")

(defun cursord-maybe-yours-p (hunk)
  "Return non-nil if no call of the agent explains a part of HUNK."
  (seq-some (lambda (source) (equal (plist-get source :via) "unknown"))
            (plist-get hunk :sources)))

(defun cursord-maybe-yours (hunks)
  "Return the ids of the HUNKS that a reject of several leaves out.
They may be a person's, or are linked with one that may."
  (let (ids)
    (seq-doseq (hunk hunks)
      (when (cursord-maybe-yours-p hunk)
        (push (plist-get hunk :id) ids)
        (setq ids (append (plist-get hunk :linked) ids))))
    (delete-dups ids)))

(defun cursord-made-by (hunk)
  "Return by which kinds of calls the agent made HUNK, in words.
Return the empty string for edits alone."
  (let ((words (seq-uniq (mapcar (lambda (via)
                                   (if (equal via "shell") "command" via))
                                 (remove "unknown"
                                         (mapcar (lambda (source)
                                                   (plist-get source :via))
                                                 (plist-get hunk :sources)))))))
    (if (or (null words) (equal words '("edit")))
        ""
      (concat "by " (string-join words " and ")))))

(provide 'cursord-author)
;;; cursord-author.el ends here
