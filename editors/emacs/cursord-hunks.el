;;; cursord-hunks.el --- Commands for hunks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Commands for the hunk at point, in the buffer of a file or in the review
;; buffer.
;;
;; In the buffer of a file, the keys of the review buffer work after
;; `cursord-hunk-prefix', since letters are typed there; on a hunk in a
;; read-only buffer they work without it.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-files)
(require 'cursord-decide)
(require 'cursord-await)

(autoload 'cursord-review "cursord-review" nil t)
(autoload 'cursord-ediff-file "cursord-compare" nil t)
(autoload 'cursord-smerge-file "cursord-merge" nil t)
(autoload 'cursord-edit-proposal "cursord-compare" nil t)

(declare-function cursord-review-hunk-at "cursord-review")
(declare-function cursord-review-parts "cursord-review")
(declare-function cursord-review-file-at "cursord-review")
(declare-function cursord-review-move "cursord-review")

(defcustom cursord-advance-after-decision t
  "Whether to go to the next hunk of a buffer after a decision."
  :type 'boolean
  :group 'cursord)

(defun cursord--in-review-p ()
  "Return non-nil if the current buffer is a review."
  (derived-mode-p 'cursord-review-mode))

(defun cursord--document-here ()
  "Return the document of the current buffer, or signal a `user-error'."
  (when-let* ((base (buffer-base-buffer)))
    (user-error "This is a clone of %s, and the hunks are there"
                (buffer-name base)))
  (cursord-workspace-reviewed)
  (or (cursord-document) (user-error "There is no hunk here")))

(defun cursord-hunk-here ()
  "Return the hunk at point and its workspace, (WS . HUNK).
In the review, the heading of a file with one hunk counts as that hunk."
  (if (cursord--in-review-p)
      (cons cursord-buffer-workspace
            (or (cursord-review-hunk-at (point))
                (pcase (cursord-review-file-at (point))
                  (`(,_ ,hunk) hunk)
                  (`(,_ . ,(pred consp))
                   (user-error
                    "%s" (substitute-command-keys
                          (concat "There are several hunks:"
                                  " \\<cursord-review-mode-map>"
                                  "\\[cursord-accept-file] and"
                                  " \\[cursord-reject-file] decide them all,"
                                  " \\[cursord-next-hunk] goes to the"
                                  " first")))))
                (user-error "There is no hunk here")))
    (let ((document (cursord--document-here)))
      (cons (cursord-document-ws document)
            (or (cursord-hunk-at) (user-error "There is no hunk here"))))))

(defun cursord--shown-hunk-here ()
  "Return the hunk at point and its workspace, (WS . HUNK), to be decided.
Signal a `user-error' if the buffer has not shown a hunk there until now."
  (let ((shown (or (cursord--in-review-p) (cursord-hunk-at))))
    (prog1 (cursord-hunk-here)
      (unless shown
        (user-error (concat "This hunk is shown only now, and not decided:"
                            " look at it, then decide"))))))

(defun cursord-file-here ()
  "Return the file at point with its shown hunks, (WS PATH . HUNKS)."
  (if (cursord--in-review-p)
      (pcase-let ((`(,path . ,hunks)
                   (or (cursord-review-file-at (point))
                       (user-error "There is no file here"))))
        `(,cursord-buffer-workspace ,path . ,hunks))
    (let* ((document (cursord--document-here))
           (hunks (append (plist-get (cursord-diff-of document) :hunks) nil)))
      (unless hunks
        (user-error "There is nothing to review in this file"))
      `(,(cursord-document-ws document) ,(cursord-document-path document) .
        ,hunks))))

;;;; Decisions

(defun cursord--parts-of-region ()
  "Return the parts of hunks in the region."
  (unless (cursord--in-review-p)
    (cursord--document-here))
  (let ((parts (if (cursord--in-review-p)
                   (cursord-review-parts (region-beginning) (region-end))
                 (cursord-hunk-parts (region-beginning) (region-end)))))
    (unless parts
      (user-error "There is no hunk in the region"))
    (mapcar (pcase-lambda ((and part `(,hunk ,from . ,to)))
              (if (and (eql from 0)
                       (eql to (length (cursord-changed-lines hunk)))) hunk
                part))
            parts)))

(defun cursord--advance (hunk buffer point)
  "Go from HUNK, in BUFFER's file, to the next one if point is still at POINT.
POINT is a marker: the decision may have changed the text around it."
  (when (and cursord-advance-after-decision
             (eq (current-buffer) (window-buffer))
             (eq (current-buffer) buffer)
             (eql (point) (marker-position point)))
    (when-let* ((next (seq-find (pcase-lambda (`(,other ,beg . ,_))
                                  (and (>= beg (line-beginning-position))
                                       (<= beg (point-max))
                                       (not (equal (plist-get other :id)
                                                   (plist-get hunk :id)))))
                                (cursord-hunk-places))))
      (goto-char (cadr next)))))

(defun cursord--decide-here (method comment)
  "Do METHOD with the hunk at point, or with the lines of the region.
Send COMMENT to the agent."
  (if (use-region-p)
      (let ((parts (cursord--parts-of-region))
            (ws (if (cursord--in-review-p)
                    cursord-buffer-workspace
                  (cursord-document-ws (cursord-document)))))
        (deactivate-mark)
        (cursord-decide-some ws method parts comment))
    (pcase-let ((`(,ws . ,hunk) (cursord--shown-hunk-here))
                (buffer (current-buffer))
                (window (selected-window))
                (point (point-marker))
                (review (cursord--in-review-p)))
      (when (and (eq method :diff/accept) (cursord-beside-p hunk))
        (setq comment `(,@(if (stringp comment) (list :comment comment) comment)
                        :replace t)))
      (cursord-decide ws method (list hunk) comment
                      (lambda (ok)
                        (when (and ok (not review)
                                   (eq window (selected-window)))
                          (with-selected-window window
                            (cursord--advance hunk buffer point))))))))

(defun cursord-read-comment ()
  "With a prefix argument, read a comment; return nil if it is empty."
  (when current-prefix-arg
    (let ((text (read-string "Comment for the agent: ")))
      (unless (string-blank-p text)
        text))))

(defun cursord--but-yours (ws)
  "Return how many hunks a reject of all of WS leaves, as text; \"\" for none."
  (let ((count 0))
    (maphash (lambda (_path diff)
               (cl-incf count
                        (length (cursord-maybe-yours (plist-get diff :hunks)))))
             (cursord-workspace-diffs ws))
    (if (zerop count) "" (format ", but %d that may be yours" count))))

(defun cursord-confirm-all (ws method)
  "Ask whether to do METHOD with all hunks of WS; return their ids, or nil.
Signal a `user-error' if hunks came or went during the question."
  (let ((pending (cursord-pending ws))
        (ids (cursord--all-ids ws)))
    (when (zerop (car pending))
      (user-error "There is nothing to review"))
    (and (y-or-n-p (format "%s %s in %s%s? "
                           (if (eq method :diff/accept)
                               "Accept all"
                             "Reject all")
                           (cursord-plural (car pending) "hunk")
                           (cursord-plural (cdr pending) "file")
                           (if (eq method :diff/accept)
                               ""
                             (cursord--but-yours ws))))
         (if (equal ids (cursord--all-ids ws))
             ids
           (user-error "%s" (concat "T" (substring cursord--other-hunks 1)))))))

;;;###autoload
(defun cursord-accept-hunk (&optional comment)
  "Accept the hunk at point, or the lines of hunks in the region.
If you have changed the same lines, the agent's replace yours, and `undo' in the
buffer of the file brings yours back.
With a prefix argument, ask for a COMMENT for the agent's next prompt."
  (interactive (list (cursord-read-comment)))
  (cursord--decide-here :diff/accept comment))

;;;###autoload
(defun cursord-accept-both ()
  "Accept the hunk at point beside the lines there that you have changed, too."
  (interactive)
  (pcase-let ((`(,ws . ,hunk) (cursord--shown-hunk-here)))
    (unless (cursord-contested-p hunk)
      (user-error "You have not changed these lines"))
    (cursord-decide ws :diff/accept (list hunk) '(:both t))))

;;;###autoload
(defun cursord-reject-hunk (&optional comment)
  "Reject the hunk at point, or the lines of hunks in the region.
That puts back the lines from before the agent.  `cursord-undo' takes it back,
and so does `undo' in the buffer of the file.  In a region with several hunks,
those that may be yours are left.  With a prefix argument, ask for a COMMENT
for the agent's next prompt."
  (interactive (list (cursord-read-comment)))
  (cursord--decide-here :diff/reject comment))

;;;###autoload
(defun cursord-accept-file ()
  "Accept all shown hunks of the file at point."
  (interactive)
  (pcase-let ((`(,ws ,path . ,hunks) (cursord-file-here)))
    (cursord-decide-all ws :diff/accept path hunks)))

;;;###autoload
(defun cursord-reject-file ()
  "Reject all shown hunks of the file at point.
Hunks that may be yours are left; `cursord-reject-hunk' rejects each."
  (interactive)
  (pcase-let ((`(,ws ,path . ,hunks) (cursord-file-here)))
    (cursord-decide-all ws :diff/reject path hunks)))

;;;###autoload
(defun cursord-accept-all ()
  "Accept all hunks of the workspace, after a question."
  (interactive)
  (let ((ws (cursord-workspace-settled)))
    (when-let* ((all (cursord-confirm-all ws :diff/accept)))
      (cursord-decide-all ws :diff/accept nil all))))

;;;###autoload
(defun cursord-reject-all ()
  "Reject all hunks of the workspace, after a question.
Hunks that may be yours are left; `cursord-reject-hunk' rejects each."
  (interactive)
  (let ((ws (cursord-workspace-settled)))
    (when-let* ((all (cursord-confirm-all ws :diff/reject)))
      (cursord-decide-all ws :diff/reject nil all))))

;;;###autoload
(defun cursord-dismiss (&optional all)
  "Take the file at point, outside of the workspace, off the review.
With a prefix argument ALL, take off all such files; their hunks cannot be
decided.  The files stay as they are, and this cannot be undone."
  (interactive "P")
  (if all
      (cursord-dismiss-in (cursord-workspace-reviewed))
    (pcase-let ((`(,ws ,path . ,_) (cursord-file-here)))
      (unless (file-name-absolute-p path)
        (user-error "%s is in the workspace: accept or reject it" path))
      (cursord-dismiss-in ws path))))

;;;###autoload
(defun cursord-comment-hunk (text)
  "Tell the agent TEXT about the hunk at point, with the next prompt."
  (interactive (progn (cursord-hunk-here)
                      (list (read-string "Comment for the agent: "))))
  (pcase-let ((`(,ws . ,hunk) (cursord-hunk-here)))
    (cursord-comment ws hunk text)))

;;;; From hunk to hunk

(defun cursord--go-to-file (ws path forward)
  "Go to the first hunk of the file PATH of WS, to the last unless FORWARD."
  (push-mark nil t)
  (pop-to-buffer-same-window (cursord-file-buffer ws path))
  (cursord-await-marks)
  (widen)
  (let ((starts (cursord--hunk-starts))
        (hunks (append (plist-get (gethash path (cursord-workspace-diffs ws))
                                  :hunks) nil)))
    (if starts
        (goto-char (if forward (car starts) (car (last starts))))
      (goto-char (point-min))
      (forward-line (cursord-hunk-row (if forward
                                          (car hunks)
                                        (car (last hunks))))))))

(defun cursord--go-widely (position)
  "Go to POSITION; widen the buffer if the narrowing hides it."
  (unless (<= (point-min) position (point-max))
    (widen))
  (goto-char position))

(defun cursord--go-on (ws forward)
  "Go to the next hunk of WS, the previous one unless FORWARD."
  (let* ((document (cursord-document))
         (here (if (and document (eq ws (cursord-document-ws document)))
                   (cursord-document-path document)
                 ""))
         (bol (line-beginning-position))
         (starts (cursord--hunk-starts))
         (there (if forward
                    (seq-find (lambda (start) (> start (line-end-position)))
                              starts)
                  (seq-find (lambda (start) (< start bol)) (reverse starts)))))
    (if there
        (cursord--go-widely there)
      (let* ((paths (cursord--text-paths ws))
             (path (if forward
                       (seq-find (lambda (path) (string< here path)) paths)
                     (seq-find (lambda (path) (string< path here))
                               (reverse paths)))))
        (unless paths
          (user-error (if (zerop (car (cursord-pending ws)))
                          "There is nothing to review"
                        (concat "There is no text to review;"
                                " M-x cursord-review shows the rest"))))
        (cursord--go-to-file ws
                             (or path (car (if forward paths (last paths))))
                             forward)
        (unless (or path (string-empty-p here))
          (let ((rest (cursord--out-of-buffers ws)))
            (message "cursord: %s%s"
                     (cond ((equal '(1 . 1) (cursord-pending ws))
                            "this is the only hunk")
                           (forward "from the last hunk to the first")
                           (t "from the first hunk to the last"))
                     (if (zerop rest)
                         ""
                       (cursord-key-text
                        (format "; %d more only in \\[cursord-review]"
                                rest))))))))))

;;;###autoload
(defun cursord-next-hunk (&optional count)
  "Go to the next hunk, in this or the next file; COUNT times."
  (interactive "p")
  (let ((count (or count 1)))
    (if (cursord--in-review-p)
        (cursord-review-move count)
      (let ((ws (cursord-workspace-reviewed)))
        (dotimes (_ (abs count))
          (cursord--go-on ws (> count 0)))))))

;;;###autoload
(defun cursord-previous-hunk (&optional count)
  "Go to the previous hunk, in this or the previous file; COUNT times."
  (interactive "p")
  (cursord-next-hunk (- (or count 1))))

;;;; Keys

(defvar-keymap cursord-hunk-repeat-map
  :doc "Keys that repeat commands for hunks in `repeat-mode'."
  :repeat t
  "n" #'cursord-next-hunk
  "p" #'cursord-previous-hunk
  "a" #'cursord-accept-hunk
  "r" #'cursord-reject-hunk
  "u" #'cursord-undo
  "U" #'cursord-redo)

(defvar-keymap cursord-hunk-command-map
  :doc "Keys for the hunk at point, those of the review buffer.
Commands for the project are in `cursord-command-map'."
  "n" '("next hunk" . cursord-next-hunk)
  "p" '("previous hunk" . cursord-previous-hunk)
  "a" '("accept hunk" . cursord-accept-hunk)
  "r" '("reject hunk" . cursord-reject-hunk)
  "b" '("accept beside yours" . cursord-accept-both)
  "u" '("undo decision" . cursord-undo)
  "U" '("redo decision" . cursord-redo)
  "A" '("accept file" . cursord-accept-file)
  "R" '("reject file" . cursord-reject-file)
  "e" '("compare in Ediff" . cursord-ediff-file)
  "E" '("edit the proposal" . cursord-edit-proposal)
  "s" '("show as conflicts" . cursord-smerge-file)
  "m" '("tell the agent" . cursord-comment-hunk)
  "RET" '("all hunks" . cursord-review))

(map-keymap (lambda (key described)
              (keymap-set cursord-hunk-map (key-description (vector key))
                          `(menu-item "" ,(cdr described)
                                      :filter ,(lambda (command)
                                                 (and buffer-read-only
                                                      command)))))
            cursord-hunk-command-map)

(provide 'cursord-hunks)
;;; cursord-hunks.el ends here
