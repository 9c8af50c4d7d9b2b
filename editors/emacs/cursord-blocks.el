;;; cursord-blocks.el --- Text in blocks that grow  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A transcript is a list of blocks: items, prompts, and messages about turns'
;; ends.  A block has a place in the buffer, from its marker to the next
;; block's, and is never empty.  New text is kept in its block and inserted
;; once for each batch.  Point does not move, except in windows with point at
;; the end.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'cursord-connection)
(require 'cursord-markdown)

(defface cursord-prompt '((t :inherit (bold default))) "Face of prompts."
  :group 'cursord)
(defface cursord-note '((t :inherit shadow)) "Face of remarks in a chat."
  :group 'cursord)
(defface cursord-tool '((t :inherit font-lock-doc-face)) "Face of tool calls."
  :group 'cursord)
(defface cursord-done '((t :inherit success))
  "Face of the sign of successful calls." :group 'cursord)
(defface cursord-failed '((t :inherit error)) "Face of failures."
  :group 'cursord)

(cl-defstruct (cursord-block (:constructor cursord--block-make) (:copier nil))
  "A part of a transcript."
  (order nil :documentation "The string that orders the blocks.")
  (beg nil
       :documentation "A marker that moves behind text inserted at it.")
  (gap 0 :documentation "The number of empty lines at the block's beginning.")
  (compact nil
           :documentation
           "Whether no empty line separates the block from compact ones.")
  (prefix "" :documentation "The beginning of each line.")
  (text nil
        :documentation "The pieces of the growing text, the latest first.")
  (bytes 0 :documentation "The length of that text in bytes.")
  (unwritten nil :documentation "The pieces that are not in the buffer yet.")
  (lines nil
         :documentation "How far the lines have faces; nil if they get none.")
  (final nil :documentation "Whether the text grows no more.")
  (shown nil :documentation "The rendered text, to detect changes.")
  (seq 0 :documentation "The seq of the shown object.")
  (prev nil) (next nil))

(cl-defstruct (cursord-transcript (:constructor cursord--transcript-make)
                                  (:copier nil))
  "The session in a chat's buffer."
  (ws nil) (session nil)
  (last nil :documentation "The last block.")
  (by-id (make-hash-table :test #'equal))
  (turns (make-hash-table :test #'equal)
         :documentation "By id, the string that orders a turn.")
  (orphans nil
           :documentation
           "Functions that show objects of unknown turns, the latest first.")
  (gaps (make-hash-table :test #'equal)
        :documentation
        "By item's id, deltas that wait for earlier text, the latest first.")
  (dirty nil :documentation "The blocks with unwritten text.")
  (unlit nil :documentation "The blocks with lines that may have no faces yet.")
  (timer nil :documentation "The timer that gives those lines their faces.")
  (todos nil :documentation "The block of the latest todo list.")
  (left nil :documentation "The latest todo list, in the protocol's form.")
  (removed nil :documentation "The ids of the turns that a rewind has removed.")
  (lost nil
        :documentation
        "The ids of the turns in which the agent had lost the chat.")
  (oldest nil
          :documentation
          "The id of the oldest shown item, if there are older ones.")
  (loading nil :documentation "Whether a request for a page is under way."))

(defvar-local cursord-transcript nil
  "The transcript of a chat's buffer.")
(put 'cursord-transcript 'permanent-local t)

(defvar cursord-transcript-page-hook nil
  "Normal hook that is run in a chat's buffer after a page was read.")

(defmacro cursord--editing (&rest body)
  "Run BODY, which changes the buffer, and keep point in its place.
Windows with point at the end of the buffer follow the end."
  (declare (indent 0) (debug t))
  (let ((end (gensym)) (followers (gensym)) (follow (gensym)))
    `(let* ((,end (point-max))
            (,follow (= (point) ,end))
            (,followers (seq-filter (lambda (window)
                                      (= (window-point window) ,end))
                                    (get-buffer-window-list nil 'no-minibuffer
                                                            t))))
       (with-silent-modifications
         (save-excursion
           (save-restriction
             (widen)
             ,@body)))
       (when ,follow (goto-char (point-max)))
       (dolist (window ,followers)
         (set-window-point window (point-max))))))

;;;; Blocks

(defun cursord--block-end (block)
  "Return the end of BLOCK, its last newline included."
  (if-let* ((next (cursord-block-next block)))
      (marker-position (cursord-block-beg next))
    (point-max)))

(defun cursord--block-start (block)
  "Return the beginning of the text of BLOCK."
  (+ (cursord-block-beg block) (cursord-block-gap block)))

(defun cursord--properties (block)
  "Return the text properties of BLOCK."
  (list 'read-only t 'front-sticky '(read-only) 'rear-nonsticky t 'cursord-block
        block))

(defconst cursord--directions
  "[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
  "A regexp for characters that change the direction of the text around them.
With them an agent could make a command look like another.")

(defun cursord--insert (block text)
  "Insert TEXT, which belongs to BLOCK."
  (let ((beg (point)))
    (insert text)
    (add-text-properties beg (point) (cursord--properties block))
    (when (string-match-p cursord--directions text)
      (save-excursion
        (while (re-search-backward cursord--directions beg t)
          (put-text-property (point) (1+ (point)) 'display
                             (format "<U+%04X>" (char-after))))))))

(defun cursord--insert-block (tr id order text &rest slots)
  "Put a block with ID, ORDER, TEXT and SLOTS in its place in TR; return it."
  (let* ((block (apply #'cursord--block-make :order order slots))
         (prev (cursord-transcript-last tr))
         next)
    (while (and prev (string< order (cursord-block-order prev)))
      (setq next prev
            prev (cursord-block-prev prev)))
    (setf (cursord-block-prev block) prev
          (cursord-block-next block) next
          (cursord-block-gap block)
          (if (and prev (cursord-block-compact prev)
                   (cursord-block-compact block)) 0 1))
    (if next
        (setf (cursord-block-prev next) block)
      (setf (cursord-transcript-last tr) block))
    (when prev
      (setf (cursord-block-next prev) block))
    (puthash id block (cursord-transcript-by-id tr))
    (cursord--editing
      (let ((beg (if next
                     (marker-position (cursord-block-beg next))
                   (point-max))))
        (goto-char beg)
        (cursord--insert block
                         (concat (make-string (cursord-block-gap block) ?\n)
                                 text "\n"))
        (setf (cursord-block-beg block) (copy-marker beg t))
        (when next
          (cursord--fit-gap next))))
    block))

(defun cursord--fit-gap (block)
  "Fit the empty lines before BLOCK, which has got another block before it."
  (let ((gap (if (and (cursord-block-compact block)
                      (cursord-block-compact (cursord-block-prev block))) 0 1)))
    (unless (= gap (cursord-block-gap block))
      (goto-char (cursord-block-beg block))
      (if (= gap 0)
          (delete-char 1)
        (cursord--insert block "\n")
        (set-marker (cursord-block-beg block) (1- (point))))
      (setf (cursord-block-gap block) gap))))

(defun cursord--delete-block (tr id)
  "Remove the block with ID from TR."
  (let* ((block (gethash id (cursord-transcript-by-id tr)))
         (prev (cursord-block-prev block))
         (next (cursord-block-next block)))
    (cursord--editing
      (delete-region (cursord-block-beg block) (cursord--block-end block))
      (set-marker (cursord-block-beg block) nil)
      (if next
          (setf (cursord-block-prev next) prev)
        (setf (cursord-transcript-last tr) prev))
      (when prev
        (setf (cursord-block-next prev) next))
      (when (and prev next)
        (cursord--fit-gap next)))
    (remhash id (cursord-transcript-by-id tr))
    (remhash id (cursord-transcript-gaps tr))
    (cl-callf2 delq block (cursord-transcript-dirty tr))
    (cl-callf2 delq block (cursord-transcript-unlit tr))
    (when (eq block (cursord-transcript-todos tr))
      (setf (cursord-transcript-todos tr) nil
            (cursord-transcript-left tr) nil))))

(defun cursord--replace (block text)
  "Replace the text of BLOCK by TEXT."
  (cursord--editing
    (let ((beg (marker-position (cursord-block-beg block)))
          (start (cursord--block-start block)))
      (goto-char start)
      (delete-region start (1- (cursord--block-end block)))
      (cursord--insert block text)
      ;; Without a gap, the marker has moved behind the text.
      (set-marker (cursord-block-beg block) beg))))

(defun cursord--prefixed (block text)
  "Return TEXT with the prefix of BLOCK after each newline."
  (if (string-empty-p (cursord-block-prefix block))
      text
    (string-replace "\n" (concat "\n" (cursord-block-prefix block)) text)))

(defun cursord--append (tr block text)
  "Add TEXT to BLOCK of TR, to be inserted with the next batch."
  (unless (string-empty-p text)
    (push text (cursord-block-unwritten block))
    (push text (cursord-block-text block))
    (cl-incf (cursord-block-bytes block) (string-bytes text))
    (cl-pushnew block (cursord-transcript-dirty tr) :test #'eq)))

(defun cursord--light-some (tr)
  "Give lines in the buffer of TR, the current one, faces, for a short time.
A timer goes on with the rest."
  (let ((limit (time-add nil 0.006)))
    (when (cursord-transcript-unlit tr)
      (with-silent-modifications
        (save-excursion
          (while (and (cursord-transcript-unlit tr)
                      (time-less-p nil limit)
                      (let ((block (car (cursord-transcript-unlit tr))))
                        (cursord-light (cursord-block-lines block)
                                       (1- (cursord--block-end block))
                                       (cursord-block-final block) limit)))
            (pop (cursord-transcript-unlit tr))))))
    (when (and (cursord-transcript-unlit tr)
               (not (cursord-transcript-timer tr)))
      (setf (cursord-transcript-timer tr)
            (run-at-time 0.03 nil #'cursord--light-on tr (current-buffer))))))

(defun cursord--light-on (tr buffer)
  "Go on to give lines in BUFFER, of TR, their faces."
  (setf (cursord-transcript-timer tr) nil)
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (eq tr cursord-transcript)
        (cursord-protected #'cursord--light-some tr)))))

(defun cursord-transcript-flush (tr)
  "Insert new text into the buffer of TR, the current one, with faces."
  (cursord--write tr)
  (cursord--light-some tr))

(defun cursord--write (tr)
  "Insert new text into the buffer of TR, the current one."
  (when-let* ((dirty (cursord-transcript-dirty tr)))
    (setf (cursord-transcript-dirty tr) nil)
    (cursord--editing
      (dolist (block dirty)
        (goto-char (1- (cursord--block-end block)))
        (let ((beg (point))
              (folded (get-text-property (max (point-min) (1- (point)))
                                         'invisible)))
          (cursord--insert
           block
           (cursord--prefixed
            block
            (apply #'concat (nreverse (cursord-block-unwritten block)))))
          (setf (cursord-block-unwritten block) nil)
          (if (cursord-block-lines block)
              (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq)
            (add-text-properties beg (point)
                                 `(face cursord-note invisible ,folded))))))))

(defun cursord--set-text (tr block head text)
  "Make TEXT the whole text of the growing BLOCK of TR, after HEAD."
  (let ((have (apply #'concat (reverse (cursord-block-text block)))))
    (cond
     ((equal have text))
     ((string-prefix-p have text)
      (cursord--append tr block (substring text (length have))))
     (t
      (setf (cursord-block-text block) (list text)
            (cursord-block-unwritten block) nil
            (cursord-block-bytes block) (string-bytes text))
      (setf (cursord-transcript-dirty tr)
            (delq block (cursord-transcript-dirty tr)))
      (cursord--replace block
                        (concat head
                                (cursord--prefixed
                                 block
                                 (concat (cursord-block-prefix block) text))))
      (cursord--begin-text tr block head)))))

(defun cursord--trim (block)
  "Remove the empty lines at the end of BLOCK."
  (cursord--editing
    (let ((end (1- (cursord--block-end block))))
      (goto-char end)
      (skip-chars-backward " \t\n" (cursord--block-start block))
      (delete-region (point) end))))

(defun cursord--begin-text (tr block head)
  "Give BLOCK of TR, which begins with HEAD, the faces and folds of its kind."
  (cursord--editing
    (let ((start (cursord--block-start block))
          (end (1- (cursord--block-end block))))
      (cond
       ((cursord-block-lines block)
        (add-text-properties start (+ start (length head))
                             '(face cursord-heading))
        (setf (cursord-block-lines block)
              (cursord--lines-make :at (copy-marker (+ start (length head)))))
        (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq))
       ((cursord-block-compact block)
        (cursord--fold-faces start end 'cursord-note))
       (t (add-text-properties start end '(face cursord-note)))))))

(defun cursord--fold-faces (start end face)
  "Fold the text between START and END, and give its title FACE."
  (goto-char start)
  (let ((eol (min end (line-end-position))))
    (add-text-properties start eol
                         `(face ,face mouse-face highlight follow-link t
                                cursord-fold t
                                help-echo
                                (concat "\\<cursord-chat-mode-map>"
                                        "\\[cursord-toggle]: show or hide")))
    (put-text-property start (1+ start) 'face
                       (pcase (char-after start) (?✓ 'cursord-done)
                              (?✗ 'cursord-failed) (_ 'cursord-note)))
    (when (< eol end)
      (add-text-properties eol end
                           `(face cursord-note invisible cursord-fold
                                  wrap-prefix
                                  ,(propertize "  │ " 'face 'cursord-note))))))

;;;; Folds

(defun cursord--block-at (pos)
  "Return the block at POS, or before it."
  (or (get-text-property pos 'cursord-block)
      (and (> pos (point-min)) (get-text-property (1- pos) 'cursord-block))))

(defun cursord-transcript-turn-at (tr pos)
  "Return the id of the turn at POS of the buffer of TR, or nil."
  (when-let* ((block (cursord--block-at pos)))
    (catch 'found
      (maphash (lambda (id order)
                 (when (string-prefix-p (concat order " ")
                                        (cursord-block-order block))
                   (throw 'found id)))
               (cursord-transcript-turns tr))
      nil)))

(defun cursord--unfolded-p (block)
  "Return non-nil if BLOCK can fold and is unfolded."
  (let ((eol (save-excursion (goto-char (cursord--block-start block))
                             (line-end-position))))
    (and (< eol (1- (cursord--block-end block)))
         (not (get-text-property eol 'invisible)))))

(defun cursord--set-fold (block hidden)
  "Fold BLOCK if HIDDEN, else unfold it."
  (with-silent-modifications
    (save-excursion
      (goto-char (cursord--block-start block))
      (let* ((eol (line-end-position)) (end (1- (cursord--block-end block)))
             (end (or (text-property-any eol end 'cursord-seen t) end)))
        (when (< eol end)
          (put-text-property eol end 'invisible (and hidden 'cursord-fold)))))))

(provide 'cursord-blocks)
;;; cursord-blocks.el ends here
