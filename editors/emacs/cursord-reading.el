;;; cursord-reading.el --- What was read  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A person must not allow what was never on the screen.  While a question is
;; pending, this notes before each command which parts of it a window shows.  A
;; yes to a question with a part that no window has shown goes to that part
;; instead.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-answers)

(defconst cursord--approvals-buffer "*cursord asks*"
  "The name of the buffer of pending approvals.")

(defvar-local cursord--approvals-shown nil
  "By the id of a question, (TEXT . SHOWN).
SHOWN says of each character of TEXT whether a window has shown it.  TEXT is the
end of the question in the buffer: its first line, about the session, is not in
it.")

(defvar-local cursord--approval-came nil
  "When and where point got to a new question or page, (TIME . POINT).")

(defvar-local cursord--approval-point nil
  "The place of point after the last command.")

(defvar-local cursord--approval-scrolled nil
  "The place where scrolling has put point, until a person moves it.")

(defvar cursord--approval-reading 0.5
  "Seconds until a key answers a question or page that point has just come to.
Tests set this.")

;;;; Questions in the buffer

(defun cursord--approval-id-at (position)
  "Return the id of the approval at POSITION, or nil."
  (plist-get (cdr (get-text-property position 'cursord-approval)) :id))

(defun cursord--approval-regions ()
  "Return the questions in the buffer, as a list of (ID FROM TO)."
  (let ((at (point-min)) regions)
    (while (< at (point-max))
      (let ((next (next-single-property-change at 'cursord-approval nil
                                               (point-max))))
        (when-let* ((id (cursord--approval-id-at at)))
          (push (list id at next) regions))
        (setq at next)))
    (nreverse regions)))

(defun cursord--approval-place (position)
  "Return where POSITION is: the id of its question, and how far from its end.
Return nil if it is at no question."
  (when-let* ((id (cursord--approval-id-at position)))
    (cons id (- (nth 2 (assoc id (cursord--approval-regions))) position))))

(defun cursord--approval-position (place)
  "Return the position of PLACE, see `cursord--approval-place', or nil."
  (pcase (assoc (car place) (cursord--approval-regions))
    (`(,_ ,from ,to) (max from (- to (cdr place))))))

;;;; What windows have shown

(defun cursord--approval-written (id from to)
  "Note that the text of the approval ID has been written, FROM and TO.
What was shown of it counts as long as that text is the same."
  (let ((text (buffer-substring-no-properties from to)))
    (unless (equal text (car (gethash id cursord--approvals-shown)))
      (puthash id (cons text
                        (make-bool-vector (length (string-trim-right text))
                                          nil))
               cursord--approvals-shown))))

(defun cursord--approval-text-begin (id to)
  "Return where the text of the approval ID, which ends at TO, begins."
  (- to (length (car (gethash id cursord--approvals-shown)))))

(defun cursord--approvals-in-sight ()
  "Return the windows with questions that a person can see.
One that cuts lines is none of them.  The top frame of a terminal covers all
others there."
  (seq-filter (lambda (window)
                (let ((frame (window-frame window)))
                  (and (zerop (window-hscroll window))
                       (not (buffer-local-value 'truncate-lines
                                                (window-buffer window)))
                       (or (eq frame (selected-frame))
                           (display-graphic-p frame)
                           (eq frame (tty-top-frame frame))))))
              (get-buffer-window-list cursord--approvals-buffer nil 'visible)))

(defun cursord--window-shown-end (window)
  "Return the end of what WINDOW shows, without a line that it shows in part."
  (let ((end (window-end window t)))
    (if (or (<= end (window-start window))
            (pos-visible-in-window-p (1- end) window))
        end
      (with-current-buffer (window-buffer window)
        (save-excursion
          (goto-char (1- end))
          (vertical-motion 0 window)
          (point))))))

(defun cursord--approvals-note ()
  "Note which parts of questions windows show now."
  (when-let* ((buffer (get-buffer cursord--approvals-buffer)))
    (with-current-buffer buffer
      (when cursord--approvals-shown
        (dolist (window (cursord--approvals-in-sight))
          (let ((start (window-start window))
                (end (cursord--window-shown-end window)))
            (pcase-dolist (`(,id ,_ ,to) (cursord--approval-regions))
              (let* ((begin (cursord--approval-text-begin id to))
                     (shown (cdr (gethash id cursord--approvals-shown)))
                     (at (max 0 (- start begin)))
                     (stop (min (length shown) (- end begin))))
                (while (< at stop)
                  (aset shown at t)
                  (setq at (1+ at)))))))))))

(defun cursord--approvals-watch (pending)
  "Note what windows show, and who moves point, while something is PENDING."
  (cond
   (pending
    (add-hook 'pre-command-hook #'cursord--approvals-note)
    (add-hook 'post-command-hook #'cursord--approvals-moved))
   (t
    (remove-hook 'pre-command-hook #'cursord--approvals-note)
    (remove-hook 'post-command-hook #'cursord--approvals-moved))))

;;;; Who has put point where it is

(defun cursord--approvals-moved ()
  "Note whether the last command has moved point only by scrolling."
  (when-let* ((buffer (get-buffer cursord--approvals-buffer)))
    (with-current-buffer buffer
      (let* ((window (get-buffer-window))
             (place (cursord--approval-place
                     (if window (window-point window) (point)))))
        (unless (equal place cursord--approval-point)
          (setq cursord--approval-point place
                cursord--approval-scrolled
                (and (or (not (eq window (selected-window)))
                         (and (symbolp this-command)
                              (get this-command 'scroll-command)))
                     place)))))))

(defun cursord--approval-came-here ()
  "Note that point has come to a new question or page."
  (setq cursord--approval-came (cons (current-time) (point))))

(defun cursord--approval-just-came-p ()
  "Return non-nil if point has just come to a new question or page."
  (and (eql (point) (cdr cursord--approval-came))
       (time-less-p nil (time-add (car cursord--approval-came)
                                  cursord--approval-reading))))

(defun cursord--approval-refuse (&optional again)
  "Signal that a question has just come, and what to do AGAIN.
The time begins anew, so that a key that is held answers nothing."
  (cursord--approval-came-here)
  (user-error "This has just come: read it, and %s"
              (or again "press the key again")))

;;;; Before a yes

(defun cursord--approval-unread (id)
  "Return where the first part of approval ID is that no window has shown."
  (when-let* ((to (nth 2 (assoc id (cursord--approval-regions))))
              (shown (cdr (gethash id cursord--approvals-shown)))
              (read (bool-vector-count-consecutive shown t 0))
              ((< read (length shown))))
    (+ (cursord--approval-text-begin id to) read)))

(defun cursord--approval-read (approval &optional again)
  "Signal a `user-error' unless windows have shown all of APPROVAL.
The next part that they have not shown is at the top of the window then.  AGAIN
says what to do after reading, if that is not the same key."
  (cursord--approvals-note)
  (when-let* ((id (plist-get approval :id))
              (at (cursord--approval-unread id)))
    (setq truncate-lines nil)
    (goto-char at)
    (when-let* ((window (get-buffer-window)))
      (set-window-hscroll window 0)
      ;; One line is shown again, so that a person sees where it goes on.
      (set-window-start window
                        (if (< (window-body-height window) 3) at
                          (save-excursion (vertical-motion -1 window)
                                          (point))))
      (set-window-point window at)
      (goto-char (cursord--approval-beside-answers id window))
      (set-window-point window (point)))
    (cursord--approval-came-here)
    ;; RET must not answer here, if all that the window shows are answers.
    (setq cursord--approval-point (cursord--approval-place (point))
          cursord--approval-scrolled cursord--approval-point)
    (user-error "There is more to read before you answer%s"
                (if again (concat ", then " again) ""))))

(defun cursord--approval-beside-answers (id window)
  "Return a position of approval ID that WINDOW shows and that is no answer.
Return point if it is none, or if WINDOW shows only answers."
  (pcase-let ((`(,_ ,from ,to) (assoc id (cursord--approval-regions))))
    (or (and (get-text-property (point) 'cursord-option)
             (let ((from (max from (window-start window)))
                   (to (min to (window-end window t))))
               (and (< from to)
                    (text-property-any from to 'cursord-option nil))))
        (point))))

(provide 'cursord-reading)
;;; cursord-reading.el ends here
