;;; cursord-back.el --- Undo takes decisions back  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; When undo in a buffer has brought back the text from before a decision, the
;; daemon takes that decision back.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-steps)

(declare-function cursord-left "cursord-decide" (ws))
(declare-function cursord-report "cursord-report" (document &optional done))
(declare-function cursord--await "cursord-report" (seconds arrived))
(declare-function cursord--in-sync-p "cursord-report" (document))
(declare-function cursord--list-diff "cursord-report" (document done))
(declare-function cursord--put-diffs "cursord-report" (ws diffs))
(declare-function cursord--tell-text "cursord-report" (document))

(defun cursord--note-undone (document)
  "Note which decisions the buffer's undo has taken back.
The buffer is that of DOCUMENT, and current.  It takes back the latest first.
Each text is looked at once: it may have come back from several decisions."
  (unless (or (eql (cursord-document-noted document)
                   (buffer-chars-modified-tick))
              (not (or (cursord-document-edited document)
                       (cursord-document-rejects document))))
    (setf (cursord-document-noted document) (buffer-chars-modified-tick))
    (let* ((hash (buffer-hash))
           (edited (cursord-document-edited document))
           (unsaved (assoc hash edited))
           (rejects (cursord-document-rejects document))
           (found (and (not unsaved) (assoc hash rejects))))
      (when unsaved
        ;; The daemon takes these back by itself, when it hears of the text.
        (setf (cursord-document-edited document) (cdr (memq unsaved edited))))
      (when found
        (let ((older (cdr (memq found rejects))))
          (setf (cursord-document-undone document)
                (append (cursord-document-undone document)
                        (mapcar #'cdr (cl-ldiff rejects older)))
                (cursord-document-rejects document) older))))))

(defun cursord--taken-back (document)
  "Return the decisions that undo has taken back in the current buffer.
The latest one comes first, and each is returned once.  DOCUMENT is that of the
buffer."
  (when (buffer-modified-p)
    (cursord--note-undone document))
  (prog1 (cursord-document-undone document)
    (setf (cursord-document-undone document) nil)))

(defun cursord--take-back (document decisions done)
  "Undo DECISIONS, whose text is back in the buffer of DOCUMENT, in the daemon.
Call DONE in the end, with whether one of them was undone, and with the last
error."
  (let ((ws (cursord-document-ws document)) undone problem)
    ;; Mostly the daemon shall not hear of the text in between: it would undo
    ;; the rest itself, which then could not be undone.
    (setf (cursord-document-undoing document) t)
    (named-let step ((decisions decisions))
      (cl-flet ((go-on ()
                  (if (cdr decisions)
                      (step (cdr decisions))
                    (setf (cursord-document-undoing document) nil)
                    (funcall done undone problem))))
        (cursord--told-first
         document (car decisions)
         (lambda ()
           (cursord-request
            ws :diff/undo (list :decision (car decisions))
            :then (lambda (result)
                    (setq undone t)
                    (cursord-protected #'cursord--put-diffs ws
                                       (plist-get result :diffs))
                    (go-on))
            :else (lambda (err)
                    (setq problem err)
                    (go-on)))))))))

(defun cursord--say-not-back (before now problem)
  "Say that text is back and its hunk is not, with PROBLEM, unless that is nil.
The daemon may know the text all the same: then there are more hunks NOW than
BEFORE."
  (when (and problem (<= (length now) (length before)))
    (cursord-say "the text is back, but not its hunk: %s"
                 (cursord-undo-problem problem))))

;;;; Conflicts

(cl-defstruct (cursord-accepted (:constructor cursord--accepted-make)
                                (:copier nil))
  "An accept that has put the agent's side of a conflict into a buffer."
  number
  (both nil :documentation "Whether the person's lines stayed beside it.")
  (on-disk nil
           :documentation
           "`equal' if the file had that text already, `saved' after a save."))

(defun cursord--note-accepted (ws params result seen)
  "Note that conflicts of SEEN, hunks of WS, are accepted in a buffer.
PARAMS are those of the request, and RESULT is the answer."
  (when-let* (((seq-some #'cursord-conflict-p seen))
              ((length= (plist-get result :diffs) 1))
              ((length= (plist-get result :edits) 1))
              (document (cursord-document-at
                         ws (plist-get (seq-first (plist-get result :edits))
                                       :path))))
    (with-current-buffer (cursord-document-buffer document)
      (when (buffer-modified-p)
        (cursord--settle document))
      (setf (cursord-document-accepted document)
            (cons (cursord--accepted-make
                   :number (plist-get result :decision)
                   :both (plist-get params :both)
                   :on-disk (and (not (buffer-modified-p)) 'equal))
                  (take 50 (cursord-document-accepted document)))))))

(defun cursord--accepted-saved (document)
  "Note that the text of DOCUMENT is on disk now, with what was accepted in it."
  (dolist (accepted (cursord-document-accepted document))
    (unless (cursord-accepted-on-disk accepted)
      (setf (cursord-accepted-on-disk accepted) 'saved))))

(defun cursord--accepted-as (document number)
  "Return the accept NUMBER of conflicts in DOCUMENT, or nil."
  (seq-find (lambda (accepted) (eql number (cursord-accepted-number accepted)))
            (cursord-document-accepted document)))

(defun cursord--told-first (document number then)
  "Call THEN, which undoes NUMBER; first tell the text of DOCUMENT if needed.
The daemon opens a conflict beside the text from before it.  It has not heard of
that text if the accept has made the buffer equal to its file."
  (let ((accepted (cursord--accepted-as document number))
        (buffer (cursord-document-buffer document)))
    (if (and accepted (eq 'equal (cursord-accepted-on-disk accepted))
             (buffer-live-p buffer)
             (not (cursord--in-sync-p document)))
        (with-current-buffer buffer
          (cursord--tell-text document)
          (cursord--list-diff document then))
      (funcall then))))

(defun cursord--new-hunk-p (document before)
  "Return non-nil if DOCUMENT has a hunk that is not one of BEFORE."
  (seq-some (lambda (hunk)
              (not (seq-some (lambda (other)
                               (and (equal (plist-get hunk :id)
                                           (plist-get other :id))
                                    (equal (cursord-changed-lines hunk)
                                           (cursord-changed-lines other))))
                             before)))
            (plist-get (cursord-diff-of document) :hunks)))

(defun cursord--show-file (document tick done)
  "Give the buffer of DOCUMENT, if it is as at TICK, the text of its file.
There the agent's lines are pending.  Call DONE in the end."
  (with-current-buffer (cursord-document-buffer document)
    (if (and (eql tick (buffer-chars-modified-tick))
             (progn (set-buffer-modified-p nil)
                    (cursord--follow-text document)))
        (funcall done)
      (cursord-report document done))))

(defun cursord--take-back-shown (document decisions done)
  "Undo DECISIONS, whose text is back in DOCUMENT's buffer, the current one.
Say what comes of it, and call DONE.  An accepted conflict is open again beside
that text; where it is not, the buffer gets the text of its file."
  (let* ((ws (cursord-document-ws document))
         (buffer (current-buffer))
         (tick (buffer-chars-modified-tick))
         (before (plist-get (cursord-diff-of document) :hunks))
         (accepted (and (null (cdr decisions))
                        (cursord--accepted-as document (car decisions))))
         (on-disk (and accepted (cursord-accepted-on-disk accepted))))
    ;; What comes of it is said, and not that the agent's lines are gone.
    (setf (cursord-document-undid document) nil)
    (cursord--take-back
     document decisions
     (lambda (_ok problem)
       (cl-callf2 delq accepted (cursord-document-accepted document))
       (cl-flet* ((new-p () (cursord--new-hunk-p document before))
                  (end ()
                    (if (and accepted (or (null problem) (new-p)))
                        (cursord-say "the accept is taken back; %s"
                                     (cursord-left ws))
                      (cursord--say-not-back
                       before (plist-get (cursord-diff-of document) :hunks)
                       problem))
                    (funcall done))
                  (look ()
                    (if (or problem (null on-disk) (new-p)
                            (not (buffer-live-p buffer)))
                        (end)
                      (cursord--show-file document tick #'end))))
         (cond
          ((not (buffer-live-p buffer)) (funcall done))
          ;; The file has the person's lines, too: they would be the agent's.
          ((and (null problem) (eq on-disk 'saved)
                (cursord-accepted-both accepted))
           (cursord--show-file document tick #'end))
          (on-disk
           (cursord-report document
                           (lambda ()
                             (if (buffer-live-p buffer)
                                 (with-current-buffer buffer
                                   (cursord--list-diff document #'look))
                               (funcall done)))))
          (t (cursord-report document #'end))))))))

;;;; Saves

(defconst cursord--take-back-most 2
  "The most seconds for which a save waits until decisions are undone.")

(defun cursord--take-back-now (document decisions)
  "Undo DECISIONS of DOCUMENT before its buffer, the current one, is saved.
The daemon would take the saved lines for a person's otherwise.  Return a
function to call when the daemon knows the text."
  (let ((known (verify-visited-file-modtime))
        (ws (cursord-document-ws document))
        (before (plist-get (cursord-diff-of document) :hunks))
        ended undone problem)
    (cursord--take-back document decisions
                        (lambda (ok err) (setq ended t undone ok problem err)))
    (cursord--await cursord--take-back-most (lambda () ended))
    ;; The daemon may have written the file; Emacs shall not ask about that.
    (when (and undone known (buffer-modified-p))
      (set-visited-file-modtime))
    (lambda ()
      (when problem
        (cursord-request
         ws :diff/list (list :path (cursord-document-path document))
         :then (lambda (result)
                 (let ((diffs (plist-get result :diffs)))
                   (cursord--say-not-back
                    before
                    (and (not (seq-empty-p diffs))
                         (plist-get (seq-first diffs) :hunks))
                    problem))))))))

(provide 'cursord-back)
;;; cursord-back.el ends here
