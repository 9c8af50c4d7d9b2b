;;; cursord-author.el --- Who made a hunk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A hunk that no call of the agent explains may be a person's.  It is drawn
;; apart, and only a reject of that hunk takes it back.

;;; Code:

(require 'seq)

(defface cursord-maybe '((t :inherit diff-changed :extend t))
  "Face of added lines that may be yours."
  :group 'cursord)
(defface cursord-maybe-note '((t :inherit warning))
  "Face of what is said of hunks that may be yours, and of their marks."
  :group 'cursord)

(defconst cursord-maybe-text "may be yours: no call of the agent explains it"
  "What is said of a hunk that may be a person's.")

(defun cursord-maybe-yours-p (hunk)
  "Whether no call of the agent explains something of HUNK."
  (seq-some (lambda (source) (equal (plist-get source :via) "unknown"))
            (plist-get hunk :sources)))

(defun cursord-maybe-yours (hunks)
  "The ids of those of HUNKS that a reject of several leaves.
They may be a person's, or are decided with one that may."
  (let (ids)
    (seq-doseq (hunk hunks)
      (when (cursord-maybe-yours-p hunk)
        (push (plist-get hunk :id) ids)
        (setq ids (append (plist-get hunk :linked) ids))))
    (delete-dups ids)))

(defun cursord-made-by (hunk)
  "How the agent made HUNK in words, as far as its calls explain it.
It is the empty string for the usual, an edit."
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
