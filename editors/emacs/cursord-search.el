;;; cursord-search.el --- The search in all sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-search' lists the places in the sessions of all projects that have
;; some words.

;;; Code:

(require 'seq)
(require 'cursord-lists)
(require 'cursord-sessions)

(defvar cursord--searched ""
  "The words that the list of places was made for.")

(defvar-keymap cursord-search-mode-map
  :doc "Keys in the list of places that a search has found."
  :parent cursord-list-mode-map
  "RET" #'cursord-sessions-go
  "SPC" #'cursord-sessions-preview
  "F" #'cursord-sessions-fork)

(define-derived-mode cursord-search-mode cursord-list-mode "Cursord-Search"
  "The places in all sessions that have some words.
\\{cursord-search-mode-map}"
  :interactive nil
  (setq cursord--list-entries #'cursord--search-entries
        cursord--list-columns #'cursord--search-columns))

(defun cursord--search-columns (narrow)
  "Return the columns of the list, fewer if NARROW."
  (vconcat '(("Age" 7 nil) ("In" 7 t))
           (unless narrow '(("Session" 20 t)))
           '(("Place" 0 t))))

(defun cursord--search-place (match)
  "Return the snippet of MATCH with what was found in a face."
  (let* ((bytes (encode-coding-string (plist-get match :snippet) 'utf-8))
         (text (copy-sequence (plist-get match :snippet)))
         (place (lambda (at)
                  (length (decode-coding-string (substring bytes 0 at)
                                                'utf-8)))))
    (seq-doseq (range (plist-get match :ranges))
      (add-face-text-property (funcall place (plist-get range :from))
                              (funcall place (plist-get range :to))
                              'match nil text))
    text))

(defun cursord--search-entries (narrow)
  "Return the entries of the list, with fewer columns if NARROW."
  (mapcar
   (lambda (match)
     (list (list :id (plist-get match :sessionId)
                 :workspace (plist-get match :workspace)
                 :title (plist-get match :title)
                 :item (plist-get match :itemId)
                 ;; The title is no turn's.
                 :turn (and (not (equal (plist-get match :in) "title"))
                            (plist-get match :turnId))
                 :in (plist-get match :in))
           (vconcat
            (list (cursord--age (plist-get match :at))
                  (propertize (plist-get match :in) 'face 'cursord-note))
            (unless narrow (list (cursord--session-title match)))
            (list (cursord--search-place match)))))
   (plist-get (cursord-call-host nil :search
                                 (list :query cursord--searched :limit 200))
              :matches)))

;;;###autoload
(defun cursord-search (words)
  "List the places in all sessions that have all WORDS, the newest first.
A word also finds longer words that begin so; words in double quotes are
a phrase."
  (interactive "sSearch sessions: ")
  (setq cursord--searched words)
  (cursord--list-open "*cursord search*" 'cursord-search-mode))

(provide 'cursord-search)
;;; cursord-search.el ends here
