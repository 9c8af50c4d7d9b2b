;;; cursord-transcript.el --- A session as a buffer that grows at its end  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A transcript is a list of blocks: an item, a prompt, or what is said of a turn's end.  Each has a place in the buffer,
;; from its marker to the next one's, and none is empty.  Text that comes is kept in its block and put into the buffer
;; once for each batch.  Nothing moves point, except in windows where it is at the end: they follow.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-markdown)

(defface cursord-prompt '((t :inherit (bold default))) "Face of what was asked." :group 'cursord)
(defface cursord-note '((t :inherit shadow)) "Face of remarks in a chat." :group 'cursord)
(defface cursord-tool '((t :inherit font-lock-doc-face)) "Face of tool calls." :group 'cursord)
(defface cursord-done '((t :inherit success)) "Face of the sign of calls that went well." :group 'cursord)
(defface cursord-failed '((t :inherit error)) "Face of what has failed." :group 'cursord)

(defconst cursord--page 100
  "So many items are read at once.")

(cl-defstruct (cursord-block (:constructor cursord--block-make) (:copier nil))
  "A part of a transcript."
  (order nil :documentation "Blocks stand in the order of these strings.")
  (beg nil :documentation "A marker; text that is inserted there comes before it.")
  (gap 0 :documentation "Empty lines at its beginning.")
  (compact nil :documentation "Whether it stands close to its likes.")
  (prefix "" :documentation "What its lines begin with.")
  (text nil :documentation "The pieces of its text while it grows, the latest first.")
  (bytes 0 :documentation "Of that text.")
  (unwritten nil :documentation "Those pieces that are not in the buffer.")
  (lines nil :documentation "How far its lines have their faces; nil if they get none.")
  (final nil :documentation "Whether its text grows no more.")
  (shown nil :documentation "What was rendered, to see whether something else is to be.")
  (seq 0 :documentation "Of the object that it shows.")
  (prev nil) (next nil))

(cl-defstruct (cursord-transcript (:constructor cursord--transcript-make) (:copier nil))
  "What a chat's buffer shows."
  (ws nil) (session nil)
  (last nil :documentation "The last block.")
  (by-id (make-hash-table :test #'equal))
  (turns (make-hash-table :test #'equal) :documentation "What orders a turn, by id.")
  (orphans nil :documentation "Items whose turn is not known yet.")
  (dirty nil :documentation "Blocks with unwritten text.")
  (unlit nil :documentation "Blocks whose lines may have no faces yet.")
  (timer nil :documentation "The timer that gives them theirs.")
  (oldest nil :documentation "The item in front of which there are more.")
  (loading nil :documentation "Whether a page was asked for."))

(defvar-local cursord-transcript nil
  "The transcript of a chat's buffer.")
(put 'cursord-transcript 'permanent-local t)

(defmacro cursord--editing (&rest body)
  "Do BODY, which changes the buffer.
Point stays where it is, but in windows where it is at the end."
  (declare (indent 0) (debug t))
  (let ((end (gensym)) (followers (gensym)) (follow (gensym)))
    `(let* ((,end (point-max))
            (,follow (= (point) ,end))
            (,followers (seq-filter (lambda (window) (= (window-point window) ,end))
                                    (get-buffer-window-list nil 'no-minibuffer t))))
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
  "Where BLOCK ends, its last newline included."
  (if-let* ((next (cursord-block-next block)))
      (marker-position (cursord-block-beg next))
    (point-max)))

(defun cursord--block-start (block)
  "Where the text of BLOCK begins."
  (+ (cursord-block-beg block) (cursord-block-gap block)))

(defun cursord--properties (block)
  "What text of BLOCK has as properties."
  (list 'read-only t 'front-sticky '(read-only) 'rear-nonsticky t 'cursord-block block))

(defun cursord--insert (block text)
  "Insert TEXT, which belongs to BLOCK."
  (let ((beg (point)))
    (insert text)
    (add-text-properties beg (point) (cursord--properties block))))

(defun cursord--insert-block (tr id order text &rest slots)
  "Put a block with ID, ORDER, TEXT and SLOTS in its place in TR, and return it."
  (let* ((block (apply #'cursord--block-make :order order slots))
         (prev (cursord-transcript-last tr))
         next)
    (while (and prev (string< order (cursord-block-order prev)))
      (setq next prev
            prev (cursord-block-prev prev)))
    (setf (cursord-block-prev block) prev
          (cursord-block-next block) next
          (cursord-block-gap block) (if (and prev (cursord-block-compact prev) (cursord-block-compact block)) 0 1))
    (if next
        (setf (cursord-block-prev next) block)
      (setf (cursord-transcript-last tr) block))
    (when prev
      (setf (cursord-block-next prev) block))
    (puthash id block (cursord-transcript-by-id tr))
    (cursord--editing
      (let ((beg (if next (marker-position (cursord-block-beg next)) (point-max))))
        (goto-char beg)
        (cursord--insert block (concat (make-string (cursord-block-gap block) ?\n) text "\n"))
        (setf (cursord-block-beg block) (copy-marker beg t))
        (when next
          (cursord--fit-gap next))))
    block))

(defun cursord--fit-gap (block)
  "Have BLOCK, before which another was put, as far from it as it should be."
  (let ((gap (if (and (cursord-block-compact block) (cursord-block-compact (cursord-block-prev block))) 0 1)))
    (unless (= gap (cursord-block-gap block))
      (goto-char (cursord-block-beg block))
      (if (= gap 0)
          (delete-char 1)
        (cursord--insert block "\n")
        (set-marker (cursord-block-beg block) (1- (point))))
      (setf (cursord-block-gap block) gap))))

(defun cursord--replace (block text)
  "Have BLOCK hold TEXT and nothing else."
  (cursord--editing
    (let ((beg (marker-position (cursord-block-beg block)))
          (start (cursord--block-start block)))
      (goto-char start)
      (delete-region start (1- (cursord--block-end block)))
      (cursord--insert block text)
      ;; Without a gap it has moved behind the text.
      (set-marker (cursord-block-beg block) beg))))

(defun cursord--prefixed (block text)
  "TEXT with what lines of BLOCK begin with after each of its newlines."
  (if (string-empty-p (cursord-block-prefix block))
      text
    (string-replace "\n" (concat "\n" (cursord-block-prefix block)) text)))

(defun cursord--append (tr block text)
  "Have TEXT added to BLOCK of TR with the next batch."
  (unless (string-empty-p text)
    (push text (cursord-block-unwritten block))
    (push text (cursord-block-text block))
    (cl-incf (cursord-block-bytes block) (string-bytes text))
    (cl-pushnew block (cursord-transcript-dirty tr) :test #'eq)))

(defun cursord--light-some (tr)
  "Give lines in the buffer of TR, the current one, their faces, for a short time.
What is left gets them a little later."
  (let ((limit (time-add nil 0.006)))
    (when (cursord-transcript-unlit tr)
      (with-silent-modifications
        (save-excursion
          (while (and (cursord-transcript-unlit tr)
                      (let ((block (car (cursord-transcript-unlit tr))))
                        (cursord-light (cursord-block-lines block) (1- (cursord--block-end block))
                                       (cursord-block-final block) limit)))
            (pop (cursord-transcript-unlit tr))))))
    (when (and (cursord-transcript-unlit tr) (not (cursord-transcript-timer tr)))
      (let ((buffer (current-buffer)))
        (setf (cursord-transcript-timer tr)
              (run-at-time 0.03 nil (lambda ()
                                      (setf (cursord-transcript-timer tr) nil)
                                      (when (buffer-live-p buffer)
                                        (with-current-buffer buffer
                                          (when (eq tr cursord-transcript)
                                            (cursord-protected #'cursord--light-some tr)))))))))))

(defun cursord-transcript-flush (tr)
  "Put what has come into the buffer of TR, the current one."
  (cursord--write tr)
  (cursord--light-some tr))

(defun cursord--write (tr)
  "Put text that has come into the buffer of TR, the current one."
  (when-let* ((dirty (cursord-transcript-dirty tr)))
    (setf (cursord-transcript-dirty tr) nil)
    (cursord--editing
      (dolist (block dirty)
        (goto-char (1- (cursord--block-end block)))
        (let ((beg (point))
              (folded (get-text-property (max (point-min) (1- (point))) 'invisible)))
          (cursord--insert block (cursord--prefixed block (apply #'concat (nreverse (cursord-block-unwritten block)))))
          (setf (cursord-block-unwritten block) nil)
          (if (cursord-block-lines block)
              (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq)
            (add-text-properties beg (point) `(face cursord-note invisible ,folded))))))))

(defun cursord--set-text (tr block head text)
  "Make TEXT, after HEAD, all that the growing BLOCK of TR says."
  (let ((have (apply #'concat (reverse (cursord-block-text block)))))
    (cond
     ((equal have text))
     ((string-prefix-p have text)
      (cursord--append tr block (substring text (length have))))
     (t
      (setf (cursord-block-text block) (list text)
            (cursord-block-unwritten block) nil
            (cursord-block-bytes block) (string-bytes text))
      (setf (cursord-transcript-dirty tr) (delq block (cursord-transcript-dirty tr)))
      (cursord--replace block (concat head (cursord--prefixed block (concat (cursord-block-prefix block) text))))
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
        (add-text-properties start (+ start (length head)) '(face cursord-heading))
        (setf (cursord-block-lines block) (cursord--lines-make :at (copy-marker (+ start (length head)))))
        (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq))
       ((cursord-block-compact block)
        (cursord--fold-faces start end 'cursord-note))
       (t (add-text-properties start end '(face cursord-note)))))))

(defun cursord--fold-faces (start end face)
  "Give what folds between START and END its title's FACE, and fold it."
  (goto-char start)
  (let ((eol (min end (line-end-position))))
    (add-text-properties start eol
                         `(face ,face mouse-face highlight follow-link t cursord-fold t
                                help-echo "\\<cursord-chat-mode-map>\\[cursord-toggle]: show or hide"))
    (put-text-property start (1+ start) 'face
                       (pcase (char-after start) (?✓ 'cursord-done) (?✗ 'cursord-failed) (_ 'cursord-note)))
    (when (< eol end)
      (add-text-properties eol end '(face cursord-note invisible cursord-fold)))))

;;;; Items and turns

(defconst cursord--bar "  │ "
  "What the lines of what folds begin with.")

(defun cursord--barred (text)
  "TEXT with a bar before each line, and a newline in front; \"\" if there is none."
  (let ((text (string-trim-right (string-replace "\r" "" (or text "")) "\n+")))
    (if (string-empty-p text)
        ""
      (concat "\n" cursord--bar (string-replace "\n" (concat "\n" cursord--bar) text)))))

(defun cursord--tool-text (ws item)
  "What is shown of ITEM, a tool call in WS."
  (let* ((tool (plist-get item :tool))
         (status (plist-get item :status))
         (exit (plist-get tool :exitCode))
         (command (plist-get tool :command)))
    (concat
     (pcase status ("running" "◌ ") ("completed" "✓ ") (_ "✗ "))
     (string-replace (concat (cursord-workspace-path ws) "/") ""
                     (replace-regexp-in-string "[ \t]*\n\\(?:.\\|\n\\)*" " …" (or (plist-get tool :title) "")))
     (if (member status '("running" "completed")) "" (format " (%s)" status))
     (if (and command (string-search "\n" command)) (cursord--barred command) "")
     (cursord--barred (plist-get tool :output))
     (cursord--barred (plist-get tool :error))
     (if (and exit (/= exit 0) (not (plist-get tool :error))) (cursord--barred (format "exit status %d" exit)) "")
     (mapconcat (lambda (todo)
                  (cursord--barred
                   (concat (pcase (plist-get todo :status)
                             ("completed" "[x] ") ("in_progress" "[~] ") ("cancelled" "[-] ") (_ "[ ] "))
                           (plist-get todo :content))))
                (plist-get tool :todos)))))

(defun cursord--show-tool (tr item)
  "Show ITEM, a tool call, in TR."
  (let* ((id (plist-get item :id))
         (block (gethash id (cursord-transcript-by-id tr)))
         (text (cursord--tool-text (cursord-transcript-ws tr) item)))
    (unless (and block (equal text (cursord-block-shown block)))
      (let ((open (and block (cursord--unfolded-p block))))
        (if block
            (cursord--replace block text)
          (setq block (cursord--insert-block tr id (cursord--item-order tr item) text :compact t)))
        (setf (cursord-block-shown block) text)
        (cursord--editing
          (cursord--fold-faces (cursord--block-start block) (1- (cursord--block-end block)) 'cursord-tool)
          (put-text-property (cursord--block-start block) (1- (cursord--block-end block))
                             'cursord-paths (append (plist-get (plist-get item :tool) :paths) nil)))
        (when open
          (cursord--set-fold block nil))))))

(defun cursord--item-order (tr item)
  "What orders ITEM in TR."
  (format "%s %08d" (gethash (plist-get item :turnId) (cursord-transcript-turns tr)) (plist-get item :index)))

(defun cursord--older-p (block object)
  "Whether OBJECT, which was read, is older than what BLOCK shows.
An answer can be overtaken by what is told."
  (and block
       (or (< (plist-get object :seq) (cursord-block-seq block))
           (and (= (plist-get object :seq) (cursord-block-seq block))
                (plist-get object :text)
                (string-prefix-p (plist-get object :text) (apply #'concat (reverse (cursord-block-text block))))))))

(defun cursord-transcript-item (tr item &optional read)
  "Show ITEM as it is now in TR, whose buffer is current.
If it was READ, what is shown may be newer."
  (let* ((id (plist-get item :id))
         (block (gethash id (cursord-transcript-by-id tr))))
    (cond
     ((and read (cursord--older-p block item)))
     ((not (gethash (plist-get item :turnId) (cursord-transcript-turns tr)))
      (push item (cursord-transcript-orphans tr)))
     ((equal (plist-get item :kind) "tool") (cursord--show-tool tr item))
     (t
      (pcase-let ((`(,head ,prefix ,compact ,lit)
                   (pcase (plist-get item :kind)
                     ("thinking" `("∴ Thinking\n" ,cursord--bar t nil))
                     ("plan" '("### Plan\n\n" "" nil t))
                     ("notice" '("" "> " nil nil))
                     (_ '("" "" nil t)))))
        (unless block
          (setq block (cursord--insert-block tr id (cursord--item-order tr item) (concat head prefix)
                                             :compact compact :prefix prefix :lines lit))
          (cursord--begin-text tr block head))
        (cursord--set-text tr block head (or (plist-get item :text) ""))
        (setf (cursord-block-final block) (not (equal (plist-get item :status) "running")))
        (when (and (cursord-block-final block) (cursord-block-lines block))
          (cursord--write tr)
          (cursord--trim block)
          (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq)))))
    (when-let* ((block (gethash id (cursord-transcript-by-id tr))))
      (setf (cursord-block-seq block) (max (cursord-block-seq block) (plist-get item :seq))))))

(defun cursord-transcript-delta (tr delta)
  "Add DELTA, a piece of an item's text, to TR, whose buffer is current."
  (let* ((id (plist-get delta :itemId))
         (block (gethash id (cursord-transcript-by-id tr)))
         (offset (plist-get delta :offset))
         (have (if block (cursord-block-bytes block) 0))
         (text (plist-get delta :text))
         (buffer (current-buffer)))
    (cond
     ((and block (= offset have)) (cursord--append tr block text))
     ((and block (< offset have (+ offset (string-bytes text))))
      (cursord--append tr block (decode-coding-string (substring (encode-coding-string text 'utf-8-unix) (- have offset))
                                                      'utf-8-unix)))
     ((and block (< offset have)))
     (t (cursord-request (cursord-transcript-ws tr) :item/read (list :itemId id)
                         :then (lambda (result)
                                 (when (buffer-live-p buffer)
                                   (with-current-buffer buffer
                                     (when (eq tr cursord-transcript)
                                       (cursord-transcript-item tr (plist-get result :item) t))))))))))

(defun cursord--heading (turn)
  "The heading of what comes of TURN."
  (let ((note (pcase (plist-get turn :status)
                ("queued" "waiting for its turn") ("running" "working") ("completed" nil) (status status))))
    (concat (propertize "## Cursor" 'face 'cursord-heading)
            (if note (propertize (concat "  " note) 'face 'cursord-note) ""))))

(defun cursord--prompt-text (turn)
  "What was asked in TURN, as it is shown."
  (concat (propertize "## You" 'face 'cursord-heading 'cursord-prompt t) "\n\n"
          (propertize (string-trim-right (plist-get turn :prompt)) 'face 'cursord-prompt)))

(defun cursord-transcript-turn (tr turn)
  "Show TURN as it is now in TR, whose buffer is current."
  (let* ((id (plist-get turn :id))
         (order (format "%s %s" (plist-get turn :createdAt) id))
         (head (gethash id (cursord-transcript-by-id tr)))
         (text (cursord--heading turn))
         (err (plist-get turn :error)))
    (if head
        (unless (equal text (cursord-block-shown head))
          (cursord--replace head text))
      (puthash id order (cursord-transcript-turns tr))
      (cursord--insert-block tr (concat "prompt " id) (concat order " !") (cursord--prompt-text turn))
      (setq head (cursord--insert-block tr id (concat order " \"") text))
      (let ((orphans (nreverse (cursord-transcript-orphans tr))))
        (setf (cursord-transcript-orphans tr) nil)
        (dolist (item orphans)
          (cursord-transcript-item tr item))))
    (setf (cursord-block-shown head) text
          (cursord-block-seq head) (plist-get turn :seq))
    (when (and err (not (gethash (concat "end " id) (cursord-transcript-by-id tr))))
      (cursord--insert-block
       tr (concat "end " id) (concat order " ~")
       (propertize (concat "> " (string-replace "\n" "\n> " (string-trim (concat (plist-get err :message) "\n"
                                                                                 (plist-get err :hint)))))
                   'face 'cursord-failed)))))

;;;; Folds

(defun cursord--block-at (pos)
  "The block at POS."
  (or (get-text-property pos 'cursord-block)
      (and (> pos (point-min)) (get-text-property (1- pos) 'cursord-block))))

(defun cursord--unfolded-p (block)
  "Whether BLOCK has something to fold, and shows it."
  (let ((eol (save-excursion (goto-char (cursord--block-start block)) (line-end-position))))
    (and (< eol (1- (cursord--block-end block)))
         (not (get-text-property eol 'invisible)))))

(defun cursord--set-fold (block hidden)
  "Hide what BLOCK folds if HIDDEN, else show it."
  (with-silent-modifications
    (save-excursion
      (goto-char (cursord--block-start block))
      (let ((eol (line-end-position)) (end (1- (cursord--block-end block))))
        (when (< eol end)
          (put-text-property eol end 'invisible (and hidden 'cursord-fold)))))))

;;;; All of it

(defun cursord-transcript-clear (ws session)
  "Have the current buffer show nothing, to begin with SESSION of WS."
  (cursord--editing
    (delete-region (point-min) (point-max)))
  (setq cursord-transcript (cursord--transcript-make :ws ws :session session))
  (when session
    (cursord-transcript-load cursord-transcript)))

(defun cursord--older-line (tr)
  "Say at the top whether there is more of TR than is shown."
  (cursord--editing
    (goto-char (point-min))
    (while (get-text-property (point-min) 'cursord-older)
      (delete-region (point-min) (next-single-property-change (point-min) 'cursord-older nil (point-max))))
    (when (cursord-transcript-oldest tr)
      (insert (propertize "Load older messages\n" 'cursord-older t 'face 'link 'mouse-face 'highlight 'follow-link t
                          'read-only t 'front-sticky '(read-only) 'rear-nonsticky t)))))

(defun cursord-transcript-load (tr)
  "Read the latest page of TR, or the one before what is shown."
  (unless (cursord-transcript-loading tr)
    (let ((buffer (current-buffer)))
      (setf (cursord-transcript-loading tr) t)
      (cursord-request
       (cursord-transcript-ws tr) :session/read
       `(:sessionId ,(cursord-transcript-session tr) :limit ,cursord--page
         ,@(and (cursord-transcript-oldest tr) (list :before (cursord-transcript-oldest tr))))
       :then (lambda (result)
               (setf (cursord-transcript-loading tr) nil)
               (when (buffer-live-p buffer)
                 (with-current-buffer buffer
                   (when (eq tr cursord-transcript)
                     (cursord--take-page tr result)))))
       :else (lambda (err)
               (setf (cursord-transcript-loading tr) nil)
               (cursord-complain err))))))

(defun cursord--take-page (tr page)
  "Show PAGE, an answer to session/read, in TR."
  (seq-doseq (turn (plist-get page :turns))
    (unless (cursord--older-p (gethash (plist-get turn :id) (cursord-transcript-by-id tr)) turn)
      (cursord-transcript-turn tr turn)))
  (let ((items (plist-get page :items)))
    (seq-doseq (item items)
      (cursord-transcript-item tr item t))
    (cursord--write tr)
    (setf (cursord-transcript-oldest tr)
          (and (eq (plist-get page :more) t) (> (length items) 0) (plist-get (aref items 0) :id)))
    (cursord--older-line tr)))

(provide 'cursord-transcript)
;;; cursord-transcript.el ends here
