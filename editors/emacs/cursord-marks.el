;;; cursord-marks.el --- Hunks in files' buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Each group of a hunk has one overlay.  A group is a run of deleted lines and
;; the added lines that stand in their place.  Overlays move while a person
;; types; the daemon's next diff makes them exact.  Commands find hunks by
;; overlays, so they exist without `cursord-mode', too, but show nothing then.
;;
;; A string before the overlay shows the deleted lines, but only a few short
;; ones: redisplay walks through a whole string, so a long one stops Emacs.
;;
;; The file does not have the new lines of an isolated session: there the buffer
;; has the old lines, and the string the new ones.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-author)
(require 'cursord-groups)
(require 'cursord-signs)

(defface cursord-added '((t :inherit diff-added :extend t))
  "Face of lines that the agent added."
  :group 'cursord)
(defface cursord-removed '((t :inherit diff-removed :extend t))
  "Face of lines that the agent deleted."
  :group 'cursord)
(defface cursord-fringe '((t :inherit diff-changed))
  "Face of the marks beside changed lines."
  :group 'cursord)

(defvar cursord-mode)                   ; whether marks are shown

(defvar cursord-hunk-map (make-sparse-keymap)
  "Keymap on the text of hunks in the buffers of files.")

(defvar-local cursord-marks-hidden nil
  "Whether Ediff shows the changes of this buffer now.")
(put 'cursord-marks-hidden 'permanent-local t)

(defvar-local cursord--marks nil
  "The overlays of hunks in this buffer, in order.")
(put 'cursord--marks 'permanent-local t)

(when (fboundp 'define-fringe-bitmap)
  (define-fringe-bitmap 'cursord-fringe-bar [#b00111000] nil nil
    '(center repeated))
  (define-fringe-bitmap 'cursord-fringe-gap
    [#b11111110 #b01111100 #b00111000 #b00010000] nil nil 'top))

;;;; Placing

(defun cursord--go-to-row (row at)
  "Go to the beginning of the line ROW, from 0, from the line AT, which is here.
If there is no such line, go to the end of the buffer and return nil."
  (and (zerop (forward-line (- row at))) (or (bolp) (eql row 0))))

(defun cursord--present-p (present at)
  "Move over the lines of PRESENT in the buffer, from the row AT, which is here.
Return the last row, or nil if one of the lines is not there."
  (catch 'no
    (pcase-dolist (`(,row . ,text) present)
      (unless (and (cursord--go-to-row row at)
                   (let ((line (buffer-substring-no-properties
                                (point) (line-end-position))))
                     (or (equal line text)
                         (equal (cursord--bare line) (cursord--bare text)))))
        (throw 'no nil))
      (setq at row))
    at))

(defun cursord--dress (overlay)
  "Give OVERLAY its looks, or take them away if `cursord-mode' is off."
  (let* ((group (overlay-get overlay 'cursord-group))
         (isolated (cursord-isolated-p (cursord-group-hunk group)))
         (present (cursord-group-present group))
         (absent (and (cursord-group-absent group)
                      (cursord--absent-text (cursord-group-absent group)
                                            (if isolated "+" "-")
                                            (if isolated 'cursord-added
                                              'cursord-removed))))
         ;; Of a hunk in a copy, the new lines are below the old ones.
         (under (and isolated present absent))
         (maybe (cursord-maybe-yours-p (cursord-group-hunk group)))
         (signs (and present (not isolated) (cursord-signs-p)))
         (text (cond ((cursord-group-whole-p group) (cursord-deleted-text))
                     ((cursord-contested-p (cursord-group-hunk group))
                      (cursord-contested-text))
                     (maybe cursord-maybe-text)))
         (note (and text (eql 0 (cursord-group-from group))
                    (propertize (concat text "\n") 'face
                                'cursord-maybe-note)))
         (mark (and (fboundp 'define-fringe-bitmap)
                    (propertize "|" 'display
                                (list 'left-fringe
                                      (if present
                                          'cursord-fringe-bar
                                        'cursord-fringe-gap)
                                      (if maybe
                                          'cursord-maybe-note
                                        'cursord-fringe))))))
    (if (or cursord-marks-hidden (not (bound-and-true-p cursord-mode)))
        (progn
          (cursord-signs-put overlay nil)
          (cursord-keys-put overlay nil)
          (dolist (property '(face keymap before-string after-string help-echo))
            (overlay-put overlay property nil)))
      (overlay-put overlay 'face
                   (and present
                        (cond (maybe 'cursord-maybe) (isolated 'cursord-removed)
                              (t 'cursord-added))))
      (setq cursord--keys-here t)
      (overlay-put overlay 'help-echo text)
      (cursord-signs-put overlay signs)
      (overlay-put overlay 'keymap cursord-hunk-map)
      (cursord-keys-put overlay cursord-hunk-map)
      (overlay-put overlay 'before-string
                   (concat (and (or absent note)
                                (overlay-get overlay 'cursord-below) "\n")
                           note
                           (and (not under) absent)
                           (and signs "+")
                           mark))
      (overlay-put overlay 'after-string
                   (cond ((not under) nil)
                         ((eq ?\n (char-before (overlay-end overlay))) absent)
                         (t (concat "\n" (substring absent 0 -1))))))))

(defun cursord--place (group there)
  "Return the overlay of GROUP; point is in its row, or at the buffer's end.
Reuse the one in THERE, a table of the former overlays, if it is still right."
  (let* ((beg (point))
         (below (and (eobp) (not (bolp))))
         (end (save-excursion
                (forward-line (length (cursord-group-present group))) (point)))
         (key (cursord--group-key group))
         (overlay (gethash key there)))
    (if (and overlay
             (eql beg (overlay-start overlay))
             (eql end (overlay-end overlay))
             (eq below (overlay-get overlay 'cursord-below))
             (cursord--same-group-p group (overlay-get overlay 'cursord-group)))
        (remhash key there)
      (setq overlay (make-overlay beg end))
      (overlay-put overlay 'cursord-below below)
      (overlay-put overlay 'priority 10))
    (let ((new (null (overlay-get overlay 'cursord-group))))
      (overlay-put overlay 'cursord-group group)
      (when new
        (cursord--dress overlay)))
    overlay))

(defun cursord--group-key (group)
  "Return a key that tells GROUP from others of its file."
  (cons (plist-get (cursord-group-hunk group) :id) (cursord-group-from group)))

(defun cursord--same-group-p (a b)
  "Return non-nil if the groups A and B look alike."
  (and (equal (cursord-group-old a) (cursord-group-old b))
       (equal (cursord-group-new a) (cursord-group-new b))
       (eq (cursord-isolated-p (cursord-group-hunk a))
           (cursord-isolated-p (cursord-group-hunk b)))
       (eq (cursord-maybe-yours-p (cursord-group-hunk a))
           (cursord-maybe-yours-p (cursord-group-hunk b)))))

(cl-defstruct (cursord-placing (:constructor cursord--placing-make)
                               (:copier nil))
  "How far the hunks of a diff are placed."
  hunks                                 ; those that are not placed yet
  (marks nil)                           ; the placed ones, the last first
  (there nil
         :documentation "The former marks that were not reused yet, by key.")
  (at 1)
  (row 0 :documentation "The row of AT.")
  diff
  tick
  (missing nil :documentation "Whether the text lacks lines of a hunk."))

(defvar-local cursord--placing nil
  "The latest `cursord-placing' of this buffer, or nil.")
(put 'cursord--placing 'permanent-local t)

(defconst cursord--place-slice 0.008
  "The most seconds for which hunks are placed at once.")

(defun cursord--marks-there ()
  "Return a table of the marks of this buffer, by the keys of their groups."
  (let ((there (make-hash-table :test #'equal)))
    (dolist (overlay cursord--marks)
      (let ((key (and (overlay-buffer overlay)
                      (cursord--group-key (overlay-get overlay
                                                       'cursord-group)))))
        (if (or (null key) (gethash key there))
            (cursord-delete-mark overlay)
          (puthash key overlay there))))
    there))

(defun cursord-marks-clear ()
  "Delete all marks of the current buffer."
  (mapc #'cursord-delete-mark cursord--marks)
  (setq cursord--marks nil
        cursord--placing nil))

(defun cursord-marks-drop ()
  "Delete the marks of the current buffer, the clone of another one.
They are copies, which nothing would keep up to date."
  (remove-overlays nil nil 'cursord-sign t)
  (dolist (overlay (save-restriction
                     (widen)
                     (overlays-in (point-min) (point-max))))
    (when (overlay-get overlay 'cursord-group)
      (delete-overlay overlay)))
  (setq cursord--marks nil
        cursord--placing nil))

(defun cursord--place-hunk (placing hunk)
  "Place HUNK, the next one of PLACING, in the current buffer, a widened one."
  (pcase-let* ((`(,groups . ,present)
                (if (cursord-diff-deleted-p (cursord-placing-diff placing))
                    (list (list (cursord-whole-group hunk)))
                  (cursord-groups hunk t)))
               (row (cursord-placing-row placing))
               (from-begin (lambda () (goto-char (point-min)) (setq row 0))))
    ;; Some hunks of several sessions are not in order.
    (when (and present (< (caar present) row))
      (funcall from-begin))
    (when (and groups (cursord-group-whole-p (car groups)))
      (funcall from-begin))
    (if-let* ((last (cursord--present-p present row)))
        (progn
          (setq row last)
          (dolist (group groups)
            (cursord--go-to-row (cursord-group-row group) row)
            (setq row (cursord-group-row group))
            (push (cursord--place group (cursord-placing-there placing))
                  (cursord-placing-marks placing))
            (when (eobp)
              (funcall from-begin))))
      (setf (cursord-placing-missing placing) t)
      (funcall from-begin))
    (setf (cursord-placing-row placing) row)))

(defun cursord--place-some (placing)
  "Place hunks of PLACING in the current buffer, for a short time."
  (let ((limit (time-add nil cursord--place-slice))
        (there (cursord-placing-there placing)))
    (save-excursion
      (save-restriction
        (widen)
        (goto-char (cursord-placing-at placing))
        (while (and (cursord-placing-hunks placing) (time-less-p nil limit))
          (cursord--place-hunk placing (pop (cursord-placing-hunks placing))))
        (setf (cursord-placing-at placing) (point))))
    (setq cursord--marks (reverse (cursord-placing-marks placing)))
    (if (null (cursord-placing-hunks placing))
        (progn
          (maphash (lambda (_key overlay) (cursord-delete-mark overlay)) there)
          (setf (cursord-placing-marks placing) nil
                (cursord-placing-there placing) nil))
      ;; The former marks behind stay for now.
      (setq cursord--marks
            (nconc cursord--marks
                   (sort (hash-table-values there)
                         (lambda (a b)
                           (< (overlay-start a) (overlay-start b))))))
      (run-at-time 0.01 nil #'cursord-protected #'cursord--place-on
                   (current-buffer) placing))))

(defun cursord--place-on (buffer placing)
  "Go on with PLACING in BUFFER.
Do nothing if BUFFER has changed: a newer diff will be shown."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (when (and (eq placing cursord--placing)
                 (eql (cursord-placing-tick placing)
                      (buffer-chars-modified-tick)))
        (cursord--place-some placing)))))

(defun cursord-marks-show (diff)
  "Mark the hunks of DIFF in the current buffer, whose text it is about.
Leave out a hunk whose lines are not there: a newer diff is on its way.  Marks
that are right already stay.  Of very many hunks, some are marked later."
  (setq cursord--placing (cursord--placing-make
                          :hunks (and (or (cursord-diff-text-p diff)
                                          (cursord-diff-deleted-p diff))
                                      (append (plist-get diff :hunks) nil))
                          :there (cursord--marks-there)
                          :diff diff :tick (buffer-chars-modified-tick)))
  (cursord--place-some cursord--placing))

(defun cursord-marks-state (diff)
  "Return whether the marks of the current buffer are those of DIFF.
The value is nil if they are not, `begun' if some of them are placed later,
`missing' if the text lacks lines of hunks, else t."
  (let ((placing cursord--placing))
    (and placing (eq diff (cursord-placing-diff placing))
         (eql (cursord-placing-tick placing) (buffer-chars-modified-tick))
         (cond ((cursord-placing-hunks placing) 'begun)
               ((cursord-placing-missing placing) 'missing)
               (t)))))

(defun cursord-marks-hide (buffer hidden)
  "Hide the marks of BUFFER if HIDDEN is non-nil, else show them."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq cursord-marks-hidden hidden)
      (mapc #'cursord--dress cursord--marks))))

(defun cursord--dress-all ()
  "Show the marks of all buffers, or hide them if `cursord-mode' is off."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (setq cursord--keys-here nil)
      (mapc #'cursord--dress cursord--marks))))

(provide 'cursord-marks)
;;; cursord-marks.el ends here
