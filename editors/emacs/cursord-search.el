;;; cursord-search.el --- Search in all sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-search' lists the places in the sessions of all projects that have
;; some words, while the person types them.
;;
;; The words are read as plain text, and the list is a buffer: the daemon finds
;; the places by rules of its own, which no completion style has.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-lists)
(require 'cursord-sessions)

(defconst cursord--search-name "*cursord search*"
  "The name of the buffer with the list of places.")

(defvar cursord--searched ""
  "The words that the list of places was made for.")

(defvar cursord--search-answer nil
  "The places to list, in a list of one element; nil to ask the daemon.")

(defvar-keymap cursord-search-mode-map
  :doc "Keys in the list of places that a search has found."
  :parent cursord-list-mode-map
  "RET" #'cursord-sessions-go
  "SPC" #'cursord-sessions-preview
  "F" #'cursord-sessions-fork)

(defconst cursord--search-none "No place has these words."
  "What a list without places says.")

(define-derived-mode cursord-search-mode cursord-list-mode "Cursord-Search"
  "The places in all sessions that have some words.
\\{cursord-search-mode-map}"
  :interactive nil
  (setq cursord--list-entries #'cursord--search-entries
        cursord--list-columns #'cursord--search-columns
        cursord--list-empty cursord--search-none))

(defun cursord--search-columns (narrow)
  "Return the columns of the list, fewer if NARROW."
  (vconcat '(("Age" 7 nil))
           (unless narrow '(("In" 7 t) ("Session" 20 t)))
           '(("Place" 0 t))))

(defun cursord--search-title (match)
  "Return what is before the snippet of MATCH in a narrow list: its session."
  (if (equal (plist-get match :in) "title")
      ""
    (concat (truncate-string-to-width (cursord--session-title match) 11
                                      nil nil "…")
            ": ")))

(defun cursord--search-room ()
  "Return how many columns the list has for a place."
  (- (cursord--list-room)
     1                                  ; for the sign that a line goes on
     tabulated-list-padding
     (cl-loop for (_ width) across (substring tabulated-list-format 0 -1)
              sum (1+ width))))

(defun cursord--search-in-sight (match text room)
  "Return TEXT, the snippet of MATCH, beginning where its first place is seen.
ROOM is how many columns it has.  What is left out on the left is shown as a
sign."
  (let ((end (next-single-property-change 0 'face text)))
    (when (and end (get-text-property end 'face text))
      (setq end (or (next-single-property-change end 'face text)
                    (length text))))
    (if (or (seq-empty-p (plist-get match :ranges))
            (<= (string-width text 0 end) room))
        text
      (let ((beg end))
        (while (and (> beg 0) (< (string-width text beg end) (/ room 2)))
          (cl-decf beg))
        (concat "…" (substring text beg))))))

(defun cursord--search-place (match &optional narrow)
  "Return the snippet of MATCH with what was found in a face.
If NARROW, the title of its session is before it."
  (let* ((title (propertize (if narrow (cursord--search-title match) "")
                            'face 'cursord-note))
         (bytes (encode-coding-string (plist-get match :snippet) 'utf-8))
         (text (copy-sequence (plist-get match :snippet)))
         (place (lambda (at)
                  (length (decode-coding-string (substring bytes 0 at)
                                                'utf-8)))))
    (seq-doseq (range (plist-get match :ranges))
      (add-face-text-property (funcall place (plist-get range :from))
                              (funcall place (plist-get range :to))
                              'match nil text))
    (concat title
            (cursord--search-in-sight match text (- (cursord--search-room)
                                                    (string-width title))))))

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
            (list (cursord--age (plist-get match :at)))
            (unless narrow
              (list (propertize (plist-get match :in) 'face 'cursord-note)
                    (cursord--session-title match)))
            (list (cursord--search-place match narrow)))))
   (cond (cursord--search-answer (car cursord--search-answer))
         ((string-blank-p cursord--searched) nil)
         (t (plist-get (cursord-call-host nil :search (cursord--search-params))
                       :matches)))))

(defun cursord--search-params ()
  "Return the parameters of the search for `cursord--searched'."
  (list :query cursord--searched :limit 200))

;;;; While words are typed

(defconst cursord--search-pause 0.15
  "Seconds after the last key before words that are typed are searched for.")

(defvar cursord-search-history nil "What was searched for, the latest first.")

(defvar cursord--search-timer nil "The timer that searches for what was typed.")
(defvar cursord--search-typed nil
  "The words that were last seen in the minibuffer.")
(defvar cursord--search-row nil
  "The overlays on the row of the list, while words are typed.")

(defvar-keymap cursord-search-read-map
  :doc "Keys while the words of a search are typed."
  :parent minibuffer-local-map
  "C-n" #'cursord--search-next
  "<down>" #'cursord--search-next
  "C-p" #'cursord--search-previous
  "<up>" #'cursord--search-previous
  "C-o" #'cursord--search-preview)

(defun cursord--search-mark ()
  "Mark the row at point, but for what was found there, which has its own face.
The face of an overlay would hide it."
  (mapc #'delete-overlay cursord--search-row)
  (setq cursord--search-row nil)
  (let ((at (line-beginning-position))
        (end (line-beginning-position 2)))
    (while
        (let ((next (next-single-property-change at 'face nil end)))
          (unless (memq 'match (ensure-list (get-text-property at 'face)))
            (let ((overlay (make-overlay at next)))
              (overlay-put overlay 'face 'highlight)
              (push overlay cursord--search-row)))
          (< (setq at next) end)))))

(defun cursord--search-in-list (function &rest args)
  "Call FUNCTION with ARGS where the list of places is, and mark its row."
  (when-let* ((buffer (get-buffer cursord--search-name)))
    (cl-flet ((act ()
                (apply function args)
                (when cursord--search-row
                  (cursord--search-mark))))
      (if-let* ((window (get-buffer-window buffer t)))
          (with-selected-window window (act))
        (with-current-buffer buffer (act))))))

(defun cursord--search-show (matches &optional note)
  "List MATCHES; if there are none, say NOTE."
  (cursord--search-in-list
   (lambda ()
     (setq cursord--list-words "")      ; a limit was for other places
     (let ((cursord--search-answer (list matches))
           (cursord--list-empty (or note cursord--search-none)))
       (cursord--list-show)))))

(defun cursord--search-ask (words)
  "Search for WORDS, and list the places when the daemon has found them.
That answer is dropped if other words were asked for meanwhile."
  (setq cursord--searched words)
  (if (string-blank-p words)
      (cursord--search-show
       nil (concat "Type words: C-n and C-p choose a place, C-o shows one,"
                   " RET goes to the list."))
    (cl-flet ((show (&rest args)
                (when (equal words cursord--searched)
                  (apply #'cursord--search-show args))))
      (cursord-request-host
       nil :search (cursord--search-params)
       :then (lambda (found) (show (plist-get found :matches)))
       :else (lambda (err) (show nil (cursord-error-text err)))))))

(defun cursord--search-follow ()
  "Search for the words in the minibuffer once no key follows."
  (let ((words (minibuffer-contents-no-properties)))
    (unless (equal words cursord--search-typed)
      (setq cursord--search-typed words)
      (when cursord--search-timer (cancel-timer cursord--search-timer))
      (setq cursord--search-timer
            (run-with-idle-timer cursord--search-pause nil #'cursord-protected
                                 #'cursord--search-ask words)))))

(defun cursord--search-begin ()
  "Show an empty list of places in another window, for words that are typed."
  (save-selected-window
    (pop-to-buffer (get-buffer-create cursord--search-name))
    (unless (derived-mode-p 'cursord-search-mode)
      (cursord-search-mode)))
  (setq cursord--search-typed ""
        cursord--search-row (list (make-overlay 1 1)))
  (cursord--search-ask ""))

(defun cursord--search-end ()
  "End what goes on while words are typed."
  (when cursord--search-timer (cancel-timer cursord--search-timer))
  (mapc #'delete-overlay cursord--search-row)
  (setq cursord--search-timer nil
        cursord--search-row nil))

(defun cursord--search-read ()
  "Read words, and list the places that have them meanwhile; return the words.
If nothing is chosen, windows and list are as they were before."
  (let ((windows (current-window-configuration))
        (list (get-buffer cursord--search-name))
        (former cursord--searched)
        (read-minibuffer-restore-windows nil) ; it would move point in the list
        words)
    (unwind-protect
        (progn
          (cursord--search-begin)
          (setq words (minibuffer-with-setup-hook
                          (lambda ()
                            (add-hook 'post-command-hook
                                      #'cursord--search-follow nil t))
                        (read-from-minibuffer "Search sessions: " nil
                                              cursord-search-read-map nil
                                              'cursord-search-history)))
          (when (string-blank-p words)
            (setq words nil)))
      (cursord--search-end)
      (unless words
        (setq cursord--searched former)
        (set-window-configuration windows)
        (if list
            (cursord-protected #'cursord--search-in-list #'cursord--list-show)
          (when (get-buffer cursord--search-name)
            (kill-buffer cursord--search-name)))))
    (or words (user-error "There is nothing to search for"))))

(defun cursord--search-at-row (function &rest args)
  "Call FUNCTION with ARGS at the row of the list, while words are typed."
  (unless (and (minibufferp) cursord--search-row)
    (user-error "This command is for the words of M-x cursord-search"))
  (apply #'cursord--search-in-list function args))

(defun cursord--search-next (n)
  "Go to the Nth next place in the list, while words are typed."
  (interactive "p")
  (cursord--search-at-row (lambda ()
                            (forward-line n)
                            (when (eobp) (forward-line -1)))))

(defun cursord--search-previous (n)
  "Go to the Nth previous place in the list, while words are typed."
  (interactive "p")
  (cursord--search-next (- n)))

(defun cursord--search-preview ()
  "Show the place in the list in its session, in another window."
  (interactive)
  (cursord--search-at-row #'cursord-sessions-preview))

;;;###autoload
(defun cursord-search (words)
  "List the places in all sessions that have all WORDS, the newest first.
The list follows while you type.  A word also finds longer words that begin so;
words in double quotes are a phrase.
\\<cursord-search-read-map>\\[cursord--search-next] and \
\\[cursord--search-previous] choose a place meanwhile,
\\[cursord--search-preview] shows it in its session, RET goes to the list,
and \\[abort-minibuffers] back to where you were."
  (interactive (list (cursord--search-read)))
  (setq cursord--searched words)
  (cursord--list-open cursord--search-name 'cursord-search-mode))

(provide 'cursord-search)
;;; cursord-search.el ends here
