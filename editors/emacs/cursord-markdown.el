;;; cursord-markdown.el --- Faces for Markdown  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The agent's text grows at its end.  Each line gets its faces once, when it
;; is complete; a block of code gets them once, when it is closed and Emacs is
;; idle.  No text is looked at twice, however long it becomes.

;;; Code:

(require 'cl-lib)
(require 'warnings)
(require 'cursord-connection)

(defface cursord-heading
  '((t :inherit font-lock-function-name-face :weight bold))
  "Face of headings in a chat." :group 'cursord)
(defface cursord-code '((t :inherit fixed-pitch-serif))
  "Face of code in a line of a chat." :group 'cursord)
(defface cursord-fence '((t :inherit shadow))
  "Face of the lines around code in a chat." :group 'cursord)

(defcustom cursord-code-modes
  '(("sh" . sh-mode) ("bash" . sh-mode) ("shell" . sh-mode) ("js" . js-mode)
    ("javascript" . js-mode)
    ("jsx" . js-jsx-mode) ("py" . python-mode) ("c++" . c++-mode)
    ("cpp" . c++-mode) ("elisp" . emacs-lisp-mode)
    ("emacs-lisp" . emacs-lisp-mode) ("lisp" . lisp-mode) ("rb" . ruby-mode)
    ("html" . mhtml-mode)
    ("json" . js-json-mode) ("diff" . diff-mode) ("patch" . diff-mode)
    ("tex" . latex-mode) ("toml" . conf-toml-mode)
    ("make" . makefile-mode) ("dockerfile" . dockerfile-ts-mode)
    ("golang" . go-mode))
  "An alist from names of languages in Markdown to major modes.
For another NAME it is NAME-mode or NAME-ts-mode, if that exists."
  :type '(alist :key-type string :value-type function)
  :group 'cursord)

(defconst cursord--code-most 30000
  "The most characters of a block of code that gets faces.")

(cl-defstruct (cursord-lines (:constructor cursord--lines-make))
  "How far a growing text has its faces."
  (at nil :documentation "A marker at the first line without faces.")
  (code nil
        :documentation "A marker at the beginning of the open block of code.")
  (language nil :documentation "The language of that block.")
  (fence nil :documentation "A regexp for the line that closes that block."))

(defun cursord--face (beg end face)
  "Add FACE to the text between BEG and END."
  (add-face-text-property beg end face t))

(defconst cursord--inline
  (rx (or (seq "`" (group-n 1 (+ (not (any "`\n")))) "`")
          (seq "**" (group-n 2 (not (any " *\n")) (*? nonl)) "**")
          (seq "[" (+ (not (any "]\n"))) "](" (group-n 3 (+ (not (any ")\n "))))
               ")")
          (group-n 4 (+ (any "-_./@+" alnum)) ":" (+ digit) word-boundary)
          ;; A name with a dot or a slash in it, such as README.md.
          (group-n 4 (any "_./@" alnum) (* (any "-_./@+" alnum)) (any "./")
                   (* (any "-_@+" alnum)) (any "_" alnum))))
  "Regexp for code, bold text, links, and places in files.")

(defconst cursord--place "\\`\\([^ \t\n:]+\\)\\(:[0-9]+\\)?\\'"
  "Regexp for a file or a place in it, such as src/a.el:12.")

(defun cursord--place-p (text)
  "Return non-nil if TEXT is an existing file or a place in one."
  (and (string-match cursord--place text)
       (let ((name (match-string 1 text)))
         (if (file-remote-p default-directory) ; looking there would take long
             (match-beginning 2)
           (file-regular-p (expand-file-name name))))))

(defconst cursord--line-most 2000
  "The most characters of a line that gets faces.")

(defun cursord--line-faces (beg end)
  "Give a complete line of text from BEG to END its faces."
  (goto-char beg)
  (cond
   ((> (- end beg) cursord--line-most))
   ((looking-at "#+ ") (cursord--face beg end 'cursord-heading))
   (t (while (re-search-forward cursord--inline end t)
        (cond
         ((match-beginning 1)
          (let ((beg (match-beginning 1)) (end (match-end 1)))
            (cursord--face beg end (if (save-match-data
                                         (cursord--place-p (match-string 1)))
                                       '(link cursord-code)
                                     'cursord-code))))
         ((match-beginning 4)
          (let ((beg (match-beginning 4)) (end (match-end 4)))
            (when (save-match-data (cursord--place-p (match-string 4)))
              (cursord--face beg end 'link))))
         ((match-beginning 2)
          (cursord--face (match-beginning 2) (match-end 2) 'bold))
         (t (cursord--face (match-beginning 0) (match-end 0) 'link)))))))

(defconst cursord--lines-at-once 100
  "After so many lines the clock is looked at.")

(defun cursord-light (lines end whole limit)
  "Give the complete lines from LINES to END their faces, until the time LIMIT.
If WHOLE, the last line counts as complete.  Return non-nil if none is left."
  (goto-char (cursord-lines-at lines))
  (let ((n 0) eol late)
    (while (and (< (point) end)
                (not (setq late
                           (and (= (% (cl-incf n) cursord--lines-at-once) 0)
                                (time-less-p limit nil))))
                (setq eol
                      (if (search-forward "\n" end t)
                          (1- (point))
                        (and whole end))))
      (let ((bol (marker-position (cursord-lines-at lines))))
        (set-marker (cursord-lines-at lines) (min end (1+ eol)))
        (goto-char bol)
        (cond
         ((cursord-lines-code lines)
          (when (looking-at (cursord-lines-fence lines))
            (cursord--face bol eol 'cursord-fence)
            (cursord--code-later (cursord-lines-code lines) (copy-marker bol)
                                 (cursord-lines-language lines))
            (setf (cursord-lines-code lines) nil)))
         ((looking-at "[ \t]*\\(```+\\|~~~+\\)[ \t]*\\([^ \t\n`]*\\)")
          (setf (cursord-lines-language lines)
                (downcase (match-string-no-properties 2))
                (cursord-lines-fence lines)
                (concat "[ \t]*" (regexp-quote (match-string-no-properties 1))
                        "+?[ \t]*$")
                (cursord-lines-code lines) (copy-marker (min end (1+ eol))))
          (cursord--face bol eol 'cursord-fence))
         (t (cursord--line-faces bol eol)))
        (goto-char (cursord-lines-at lines))))
    (not late)))

;;;; Code

(defvar cursord--code-waiting nil
  "Code without faces: lists of BEG, END and LANGUAGE.")
(defvar cursord--code-timer nil "The timer that gives such code its faces.")

(defun cursord--usable-mode-p (mode)
  "Return non-nil if MODE is a major mode that works in this Emacs."
  (and mode (fboundp mode)
       (let ((name (symbol-name mode)))
         (cond ((string-suffix-p "-minor-mode" name) nil)
               ((string-suffix-p "-ts-mode" name)
                (and (fboundp 'treesit-language-available-p)
                     (treesit-language-available-p
                      (intern (string-remove-suffix "-ts-mode" name)))))
               (t t)))))

(defun cursord--code-mode (language)
  "Return the major mode for LANGUAGE, or nil."
  (seq-find #'cursord--usable-mode-p
            (list (cdr (assoc language cursord-code-modes))
                  (intern-soft (concat language "-mode"))
                  (intern-soft (concat language "-ts-mode")))))

(defun cursord--code-later (beg end language)
  "Give the code between the markers BEG and END faces when Emacs is idle.
The code is in LANGUAGE."
  (when (and (< 0 (- end beg) cursord--code-most)
             (not (string-empty-p language)))
    (push (list beg end language) cursord--code-waiting)
    (unless cursord--code-timer
      (setq cursord--code-timer
            (run-with-idle-timer 0.3 nil #'cursord--code-faces)))))

(defun cursord--code-text (beg end language)
  "Return the text between BEG and END with the faces of LANGUAGE."
  (let ((text (buffer-substring-no-properties beg end))
        (mode (cursord--code-mode language)))
    (when mode
      (with-temp-buffer
        (insert text)
        (let ((warning-minimum-level :emergency)
              (enable-local-variables nil))
          ;; Modes say things: Python's, that it cannot guess an indentation.
          (cursord-unheard
            (delay-mode-hooks (funcall mode))
            (font-lock-ensure)))
        (buffer-string)))))

(defun cursord--code-faces ()
  "Give waiting code its faces, until a key is typed."
  (setq cursord--code-timer nil)
  (let ((go-on t)
        (limit (time-add nil 0.01)))
    (while (and go-on cursord--code-waiting (time-less-p nil limit))
      (pcase-let ((`(,beg ,end ,language) (car cursord--code-waiting)))
        (let ((text (and (buffer-live-p (marker-buffer beg))
                         (with-current-buffer (marker-buffer beg)
                           (condition-case nil
                               (while-no-input
                                 (list (cursord--code-text beg end language)))
                             (error '(nil)))))))
          (setq go-on (listp text))
          (when go-on
            (pop cursord--code-waiting)
            (when (car text)
              (with-current-buffer (marker-buffer beg)
                (with-silent-modifications
                  (let ((at 0) (text (car text)))
                    (while (< at (length text))
                      (let ((next (or (next-single-property-change at 'face
                                                                   text)
                                      (length text)))
                            (face (get-text-property at 'face text)))
                        (when face
                          (put-text-property (+ beg at) (+ beg next) 'face
                                             face))
                        (setq at next)))))))))))
    (when cursord--code-waiting
      (setq cursord--code-timer
            (run-with-idle-timer (time-add (or (current-idle-time) 0) 0.05) nil
                                 #'cursord--code-faces)))))

(provide 'cursord-markdown)
;;; cursord-markdown.el ends here
