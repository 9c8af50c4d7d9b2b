;;; cursord-transcript.el --- A session as a buffer  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Shows the turns and items of a session as blocks (see cursord-blocks.el):
;; those of notifications, and those of pages that are read.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-blocks)
(require 'cursord-edits)

(defconst cursord--page 100
  "The number of items of a page.")

;;;; Items and turns

(defconst cursord--bar "  │ "
  "The beginning of lines that fold.")

(defun cursord--barred (text)
  "Return TEXT with a bar before each line, after a newline; \"\" for no text."
  (let ((text (string-trim-right (string-replace "\r" "" (or text "")) "\n+")))
    (if (string-empty-p text)
        ""
      (concat "\n" cursord--bar
              (string-replace "\n" (concat "\n" cursord--bar) text)))))

(defun cursord--tool-text (ws item)
  "Return the text of ITEM, a tool call in WS."
  (let* ((tool (plist-get item :tool))
         (status (plist-get item :status))
         (exit (plist-get tool :exitCode))
         (command (plist-get tool :command))
         (edit (or (and (equal status "completed") (cursord-edit-lines tool))
                   (cursord-change-lines item))))
    (concat
     (pcase status ("running" "◌ ") ("completed" "✓ ") (_ "✗ "))
     (string-replace (concat (cursord-workspace-path ws) "/") ""
                     (replace-regexp-in-string "[ \t]*\n\\(?:.\\|\n\\)*" " …"
                                               (or (plist-get tool :title) "")))
     (pcase status
       ("completed" (cursord-edit-counts tool edit))
       ("running" "")
       ((and "failed" (guard (and exit (/= exit 0))))
        (format " (exit status %d)" exit))
       ;; The reason of a denial is shown without unfolding.
       ((and "rejected"
             (guard (string-match "[^\r\n]+" (or (plist-get tool :error) ""))))
        (format " (%s: %s)" status (match-string 0 (plist-get tool :error))))
       (_ (format " (%s)" status)))
     (if (and command (string-search "\n" command))
         (cursord--barred command)
       "")
     (and edit (cursord--barred (cursord-edit-shown edit)))
     ;; Its first line names the file already.
     (unless (and edit (string-prefix-p "Wrote contents to "
                                        (or (plist-get tool :output) "")))
       (cursord--barred (plist-get tool :output)))
     ;; The title has the exit status already.
     (if (and exit (equal (format "exit code %d" exit) (plist-get tool :error)))
         ""
       (cursord--barred (plist-get tool :error)))
     (mapconcat (lambda (todo)
                  (cursord--barred
                   (concat (pcase (plist-get todo :status)
                             ("completed" "[x] ") ("in_progress" "[~] ")
                             ("cancelled" "[-] ") (_ "[ ] "))
                           (plist-get todo :content))))
                (plist-get tool :todos)))))

(defconst cursord--seen-lines 3
  "The number of last lines of a failed command that are shown while folded.")

(defun cursord--show-end (item start end)
  "If ITEM is a failed command, show its last lines though it is folded.
Its text is from START to END."
  (when (and (equal (plist-get item :status) "failed")
             (plist-get (plist-get item :tool) :exitCode))
    (goto-char end)
    (forward-line (- 1 cursord--seen-lines))
    (let ((beg (max (1- (point))
                    (progn (goto-char start) (line-end-position)))))
      (when (< beg end)
        (put-text-property beg end 'cursord-seen t)
        (put-text-property beg end 'invisible nil)))))

(defun cursord--show-tool (tr item)
  "Show ITEM, a tool call, in TR."
  (let* ((id (plist-get item :id))
         (block (gethash id (cursord-transcript-by-id tr)))
         (text (cursord--tool-text (cursord-transcript-ws tr) item)))
    (unless (and block (equal text (cursord-block-shown block)))
      (let ((open (and block (cursord--unfolded-p block))))
        (if block
            (cursord--replace block text)
          (setq block
                (cursord--insert-block tr id (cursord--item-order tr item) text
                                       :compact t)))
        (setf (cursord-block-shown block) text)
        (cursord--editing
          (cursord--fold-faces (cursord--block-start block)
                               (1- (cursord--block-end block)) 'cursord-tool)
          (cursord--show-end item (cursord--block-start block)
                             (1- (cursord--block-end block)))
          (when (or (plist-get item :changes)
                    (cursord-edit-p (plist-get item :tool)))
            (cursord-edit-faces (cursord--block-start block)
                                (cursord--block-end block)))
          (put-text-property (cursord--block-start block)
                             (1- (cursord--block-end block))
                             'cursord-item item)
          (put-text-property (cursord--block-start block)
                             (1- (cursord--block-end block))
                             'cursord-paths
                             (append (plist-get (plist-get item :tool) :paths)
                                     nil)))
        (when-let* ((todos (plist-get (plist-get item :tool) :todos)))
          (setf (cursord-transcript-left tr) (append todos nil))
          ;; Only the latest todo list stays unfolded, until all is done.
          (when-let* ((before (cursord-transcript-todos tr))
                      ((not (eq before block))))
            (cursord--set-fold before t)
            (setf (cursord-transcript-todos tr) nil))
          (when (seq-some (lambda (todo)
                            (not (equal (plist-get todo :status) "completed")))
                          todos)
            (setf (cursord-transcript-todos tr) block)
            (setq open t)))
        (when open
          (cursord--set-fold block nil))))))

(defun cursord--item-order (tr item)
  "Return the string that orders ITEM in TR."
  (format "%s %08d"
          (gethash (plist-get item :turnId) (cursord-transcript-turns tr))
          (plist-get item :index)))

(defun cursord--older-p (block object)
  "Return non-nil if OBJECT, which was read, is no newer than BLOCK.
Notifications can overtake an answer."
  (and block
       (or (< (plist-get object :seq) (cursord-block-seq block))
           (and (= (plist-get object :seq) (cursord-block-seq block))
                (string-prefix-p (or (plist-get object :text) "")
                                 (apply #'concat
                                        (reverse
                                         (cursord-block-text block))))))))

(defun cursord--orphan-p (tr object)
  "Return non-nil if OBJECT is of a turn that TR does not know yet."
  (not (gethash (plist-get object :turnId) (cursord-transcript-turns tr))))

(defun cursord-transcript-item (tr item &optional read)
  "Show ITEM in TR, whose buffer is current.
If ITEM was READ, the shown one may be newer."
  (let* ((id (plist-get item :id))
         (block (gethash id (cursord-transcript-by-id tr))))
    ;; A notification of an item has all its text before it.
    (unless read
      (remhash id (cursord-transcript-gaps tr)))
    (when (cursord-chat-lost-p item)
      (push (plist-get item :turnId) (cursord-transcript-lost tr)))
    (cond
     ((cursord--orphan-p tr item)
      (push (lambda () (cursord-transcript-item tr item read))
            (cursord-transcript-orphans tr)))
     ((and read (cursord--older-p block item)))
     ((equal (plist-get item :kind) "tool") (cursord--show-tool tr item))
     (t
      (pcase-let ((`(,head ,prefix ,compact ,lit)
                   (pcase (plist-get item :kind)
                     ("thinking" `("∴ Thinking\n" ,cursord--bar t nil))
                     ("plan" '("### Plan\n\n" "" nil t))
                     ("notice" '("" "> " nil nil))
                     (_ '("" "" nil t)))))
        (unless block
          (setq block
                (cursord--insert-block tr id (cursord--item-order tr item)
                                       (concat head prefix)
                                       :compact compact :prefix prefix
                                       :lines lit))
          (cursord--begin-text tr block head))
        (cursord--set-text tr block head (cursord-item-text item))
        (setf (cursord-block-final block)
              (not (equal (plist-get item :status) "running")))
        (when (and (cursord-block-final block) (cursord-block-lines block))
          (cursord--write tr)
          (cursord--trim block)
          (cl-pushnew block (cursord-transcript-unlit tr) :test #'eq)))))
    (when-let* ((block (gethash id (cursord-transcript-by-id tr))))
      (setf (cursord-block-seq block)
            (max (cursord-block-seq block) (plist-get item :seq))))))

(defun cursord-transcript-delta (tr delta)
  "Add DELTA, a piece of an item's text, to TR, whose buffer is current."
  (let* ((id (plist-get delta :itemId))
         (block (gethash id (cursord-transcript-by-id tr)))
         (offset (plist-get delta :offset))
         (have (if block (cursord-block-bytes block) 0))
         (text (plist-get delta :text)))
    (cond
     ((cursord--orphan-p tr delta)
      (push (lambda () (cursord-transcript-delta tr delta))
            (cursord-transcript-orphans tr)))
     ((and block (= offset have)) (cursord--append tr block text))
     ((and block (< offset have (+ offset (string-bytes text))))
      (cursord--append tr block
                       (decode-coding-string
                        (substring (encode-coding-string text 'utf-8-unix)
                                   (- have offset))
                        'utf-8-unix)))
     ((and block (< offset have)))
     (t (cursord--missing tr id delta)))))

(defconst cursord--stored 0.3
  "Seconds after which the daemon has stored the text that it has sent.
It stores growing text four times a second.")

(defun cursord--missing (tr id delta)
  "Read the text of the item ID before DELTA, and add DELTA later.
The buffer of TR is current."
  (push delta (gethash id (cursord-transcript-gaps tr)))
  (unless (cdr (gethash id (cursord-transcript-gaps tr)))
    (run-at-time
     cursord--stored nil #'cursord-protected #'cursord--in-transcript
     (current-buffer) tr
     (lambda ()
       (let ((buffer (current-buffer)))
         (when (gethash id (cursord-transcript-gaps tr))
           (cursord-request
            (cursord-transcript-ws tr) :item/read (list :itemId id)
            :then (lambda (result)
                    (cursord--in-transcript
                     buffer tr
                     (lambda ()
                       (cursord--fill-gap tr id (plist-get result :item)))))
            ;; The end of the item brings all of it.
            :else (lambda (err)
                    (cursord-log "%s" (cursord-error-text err))))))))))

(defun cursord--in-transcript (buffer tr function)
  "Call FUNCTION in BUFFER if BUFFER still shows TR."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (eq tr cursord-transcript)
        (funcall function)))))

(defun cursord--fill-gap (tr id item)
  "Show ITEM, whose id is ID and which was read, in TR; then add its deltas."
  (when-let* ((deltas (gethash id (cursord-transcript-gaps tr))))
    (remhash id (cursord-transcript-gaps tr))
    (cursord-transcript-item tr item t)
    (dolist (delta (nreverse deltas))
      (cursord-transcript-delta tr delta))))

(defun cursord-transcript-turn (tr turn)
  "Show TURN in TR, whose buffer is current."
  (let* ((id (plist-get turn :id))
         (order (format "%s %s" (plist-get turn :createdAt) id))
         (head (gethash id (cursord-transcript-by-id tr)))
         (text (cursord--heading turn))
         (err (or (plist-get turn :error)
                  (and (equal (plist-get turn :status) "cancelled")
                       (list :message
                             (if (plist-get turn :startedAt)
                                 "The turn was cancelled; its changes stay."
                               "The prompt was cancelled while it waited."))))))
    (if head
        (unless (equal text (cursord-block-shown head))
          (cursord--replace head text))
      (puthash id order (cursord-transcript-turns tr))
      (cursord--insert-block tr (concat "prompt " id) (concat order " !")
                             (cursord--prompt-text turn))
      (setq head (cursord--insert-block tr id (concat order " \"") text))
      (let ((orphans (nreverse (cursord-transcript-orphans tr))))
        (setf (cursord-transcript-orphans tr) nil)
        (mapc #'funcall orphans)))
    (setf (cursord-block-shown head) text
          (cursord-block-seq head) (plist-get turn :seq))
    (when (and err
               (not (gethash (concat "end " id) (cursord-transcript-by-id tr))))
      (cursord--insert-block
       tr (concat "end " id) (concat order " ~")
       (propertize (concat "> "
                           (string-replace
                            "\n" "\n> "
                            (string-trim (concat (plist-get err :message) "\n"
                                                 (plist-get err :hint)))))
                   'face (if (plist-get turn :error)
                             'cursord-failed
                           'cursord-note))))))

(defun cursord-transcript-turn-removed (tr id)
  "Take the turn ID and its items out of TR, whose buffer is current."
  (push id (cursord-transcript-removed tr))
  (when-let* ((order (gethash id (cursord-transcript-turns tr))))
    (remhash id (cursord-transcript-turns tr))
    (let ((oldest (cursord-transcript-oldest tr)) ids)
      (maphash (lambda (id block)
                 (when (string-prefix-p (concat order " ")
                                        (cursord-block-order block))
                   (push id ids)))
               (cursord-transcript-by-id tr))
      (dolist (id ids)
        (cursord--delete-block tr id))
      ;; Pages before an item that is gone cannot be read.
      (when (member oldest ids)
        (cursord-transcript-clear (cursord-transcript-ws tr)
                                  (cursord-transcript-session tr))))))

;;;; Pages

(defun cursord-transcript-clear (ws session &optional turn)
  "Empty the current buffer, and show SESSION of WS from now on.
If TURN, its first turn, is non-nil, there is nothing to read yet."
  (cursord--editing
    (delete-region (point-min) (point-max)))
  (setq cursord-transcript (cursord--transcript-make :ws ws :session session))
  (cond (turn (cursord-transcript-turn cursord-transcript turn))
        (session (cursord-transcript-load cursord-transcript))))

(defun cursord--older-line (tr)
  "Put a button at the top if TR has older messages."
  (cursord--editing
    (goto-char (point-min))
    (while (get-text-property (point-min) 'cursord-older)
      (delete-region (point-min)
                     (next-single-property-change (point-min) 'cursord-older nil
                                                  (point-max))))
    (when (cursord-transcript-oldest tr)
      (insert (propertize "Load older messages\n" 'cursord-older t 'face 'link
                          'mouse-face 'highlight 'follow-link t
                          'read-only t 'front-sticky '(read-only)
                          'rear-nonsticky t)))))

(defun cursord-transcript-load (tr)
  "Read the latest page of TR, or the one before the shown messages."
  (unless (cursord-transcript-loading tr)
    (let ((buffer (current-buffer)))
      (setf (cursord-transcript-loading tr) t)
      (cursord-request
       (cursord-transcript-ws tr) :session/read
       `(:sessionId ,(cursord-transcript-session tr) :limit ,cursord--page
                    ,@(and (cursord-transcript-oldest tr)
                           (list :before (cursord-transcript-oldest tr))))
       :then (lambda (result)
               (setf (cursord-transcript-loading tr) nil)
               (cursord--in-transcript
                buffer tr (lambda () (cursord--take-page tr result)
                            (run-hooks 'cursord-transcript-page-hook))))
       :else (lambda (err)
               (setf (cursord-transcript-loading tr) nil)
               (cursord-complain err))))))

(defun cursord--take-page (tr page)
  "Show PAGE, an answer to session/read, in TR."
  (if (seq-some (lambda (turn)
                  (member (plist-get turn :id) (cursord-transcript-removed tr)))
                (plist-get page :turns))
      ;; A rewind has overtaken the page.
      (cursord-transcript-clear (cursord-transcript-ws tr)
                                (cursord-transcript-session tr))
    (seq-doseq (turn (plist-get page :turns))
      (unless (cursord--older-p (gethash (plist-get turn :id)
                                         (cursord-transcript-by-id tr)) turn)
        (cursord-transcript-turn tr turn)))
    (let* ((items (plist-get page :items))
           (more (and (eq (plist-get page :more) t) (> (length items) 0)))
           (known (hash-table-count (cursord-transcript-by-id tr))))
      (seq-doseq (item items)
        (cursord-transcript-item tr item t))
      (cursord--write tr)
      (setf (cursord-transcript-oldest tr)
            (and more (plist-get (aref items 0) :id)))
      (if (and more (= known (hash-table-count (cursord-transcript-by-id tr))))
          ;; All items were there already, so read the page before.
          (cursord-transcript-load tr)
        (cursord--older-line tr)))))

(provide 'cursord-transcript)
;;; cursord-transcript.el ends here
