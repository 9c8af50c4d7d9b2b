;;; cursord-decide.el --- Decisions about hunks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Sends a person's decisions, one after the other in each workspace.  A hunk
;; that has changed since it was drawn is not decided; its new form is shown.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-files)
(require 'cursord-steps)

(defconst cursord--done-words
  '((:diff/accept . "accepted") (:diff/reject . "rejected")))

(defun cursord-left (ws)
  "Return the number of pending hunks of WS, in words."
  (pcase-let ((`(,hunks . ,files) (cursord-pending ws)))
    (if (zerop hunks)
        "nothing left to review"
      (format "%s left in %s" (cursord-plural hunks "hunk")
              (cursord-plural files "file")))))

;;;; One after the other

(defvar cursord--deciding nil
  "An alist from workspaces to functions that wait for a decision to end.")

(defun cursord--in-turn (ws run)
  "Call RUN after the earlier decisions in WS, when the daemon has all texts.
Its argument is a function that RUN must call in the end."
  (let ((start (lambda ()
                 (cursord-flush ws
                                (lambda ()
                                  (funcall run
                                           (lambda ()
                                             (cursord--decided ws))))))))
    (if-let* ((waiting (assq ws cursord--deciding)))
        (setcdr waiting (append (cdr waiting) (list start)))
      (push (list ws) cursord--deciding)
      (funcall start))))

(defun cursord--decided (ws)
  "Go on with the next decision in WS."
  (let ((waiting (assq ws cursord--deciding)))
    (if-let* ((next (cadr waiting)))
        (progn
          (setcdr waiting (cddr waiting))
          (funcall next))
      (setq cursord--deciding (delq waiting cursord--deciding)))))

;;;; Requests

(defun cursord--apply-edits (ws all decision)
  "Make the edits of an answer, ALL, in buffers of WS.
DECISION is the number of their decision, `redone', or nil for an undo.
Return nil if a buffer has changed meanwhile; such a buffer is left alone."
  (let ((fits t))
    (seq-doseq (one all)
      (let ((document (cursord-document-at ws (plist-get one :path))))
        (if (and document
                 (eql (cursord-document-version document)
                      (plist-get one :version))
                 (cursord--in-sync-p document))
            (with-current-buffer (cursord-document-buffer document)
              (when-let* ((hash (buffer-hash))
                          (made (cursord--decision-at document hash decision)))
                ;; Without a request, the daemon does not take back the decision
                ;; of a conflict.
                (if (seq-some #'cursord-conflict-p
                              (plist-get (cursord-diff-of document) :hunks))
                    (push (cons hash made) (cursord-document-rejects document))
                  (push (cons hash made) (cursord-document-edited document))))
              (cursord--as-step document
                                (lambda ()
                                  (cursord-apply-edits (plist-get one :edits))))
              (unless decision
                (cursord--forget-rejects document)))
          (setq fits nil))
        (when document
          (cursord-report document))))
    fits))

(defun cursord--take-decision (ws method result &optional seen)
  "Take RESULT, the answer to METHOD in WS; return nil if buffers did not fit.
SEEN are the decided hunks, if a person has seen them."
  (let* ((diffs (plist-get result :diffs))
         (decision (if (eq method :diff/redo) 'redone
                     (plist-get result :decision)))
         (fits (cursord--apply-edits ws (plist-get result :edits)
                                     (and (length= diffs 1) decision))))
    (cursord--put-diffs ws diffs)
    ;; An accept writes the file if the hunk is isolated; else a reject does.
    (when-let* (((memq method
                       (if (and seen (seq-every-p #'cursord-isolated-p seen))
                           '(:diff/accept)
                         '(:diff/reject :diff/redo))))
                ((seq-empty-p (plist-get result :edits)))
                ((length= diffs 1))
                (document (cursord-document-at ws
                                               (plist-get (seq-first diffs)
                                                          :path))))
      (cursord--undo-leads-to document decision))
    fits))

(defun cursord--check (ws hunks)
  "Compare HUNKS, as a person has seen them, with those of WS.
Return (PROBLEM . REV): why they cannot be decided, else nil; and the rev of
their diff, nil if they are of several."
  (let ((rev 'none) problem present)
    ;; Only once: there may be many hunks.
    (maphash (lambda (_path diff)
               (seq-doseq (hunk (plist-get diff :hunks))
                 (push (cons (plist-get hunk :id) (cons hunk diff)) present)))
             (cursord-workspace-diffs ws))
    (let ((table (make-hash-table :test #'equal)))
      (pcase-dolist (`(,id . ,found) present)
        (puthash id found table))
      (dolist (seen hunks)
        (let ((found (gethash (plist-get seen :id) table)))
          (cond
           ((null found) (setq problem "that hunk is decided already, or gone"))
           ((not (equal (cursord-changed-lines (car found))
                        (cursord-changed-lines seen)))
            (setq problem "that hunk has changed meanwhile; look at it again"))
           (t (let ((its (plist-get (cdr found) :rev)))
                (setq rev
                      (if (or (eq rev 'none) (eq (car-safe rev) (cdr found)))
                          (cons (cdr found) its)
                        'several))))))))
    (cons problem (cdr-safe rev))))

(defun cursord--send-decision (ws method params seen after &optional again)
  "Call METHOD with PARAMS, about the hunks SEEN, in WS.
Call AFTER with whether it was done, and with the answer.  AGAIN is non-nil in
the second attempt."
  (pcase-let ((`(,problem . ,rev) (cursord--check ws seen))
              (before (cursord--diffs-by-path ws)))
    (if problem
        (progn (cursord-say "%s" problem)
               (funcall after nil nil))
      (cursord-request
       ws method (append (and rev (list :rev rev)) params)
       :then (lambda (result)
               (if (cursord-protected #'cursord--take-decision ws method result
                                      seen)
                   (progn
                     (cursord-protected #'cursord-steps-add ws method params
                                        result before)
                     (when (eq method :diff/accept)
                       (cursord-protected #'cursord--note-accepted ws params
                                          result seen))
                     (funcall after t result))
                 (cursord-say
                  "the text changed at the same moment; decide again")
                 (funcall after nil nil)))
       :else (lambda (err)
               (let ((present (plist-get (plist-get err :data) :diff)))
                 (when present
                   (cursord--put-diffs ws (vector present)))
                 (if (and present seen (not again)
                          (not (car (cursord--check ws seen))))
                     (cursord--send-decision ws method params seen after t)
                   (cursord-complain err)
                   (funcall after nil nil))))))))

(defun cursord--gone-now (ws)
  "Return a note on the files of WS that a decision has removed; \"\" for none."
  (let ((gone (seq-filter (lambda (document)
                            (and (eq ws (cursord-document-ws document))
                                 (eq (cursord-document-gone document) 'untold)))
                          (hash-table-values cursord--documents))))
    (dolist (document gone)
      (setf (cursord-document-gone document) t))
    (if gone (concat "; " (cursord-gone-text gone)) "")))

(defun cursord--say-decided (ws method applied skipped &optional unsaved parts)
  "Say that METHOD decided APPLIED hunks of WS, and left SKIPPED out.
UNSAVED is non-nil if other programs see that when a buffer is saved.  PARTS
lists the numbers of lines of those hunks that were decided in part."
  (let ((verb (alist-get method cursord--done-words))
        (text (concat (cursord--skipped-text ws skipped)
                      (cursord--gone-now ws))))
    (cond
     ((> applied 0)
      (cursord-say "%s %s%s; %s%s" verb (cursord-decided-text applied parts)
                   (if unsaved ", on disk when you save" "") (cursord-left ws)
                   text))
     ((seq-empty-p skipped)             ; decided elsewhere meanwhile
      (cursord-say "nothing to %s any more; %s%s"
                   (string-remove-suffix "ed" verb) (cursord-left ws) text))
     (t (cursord-say "%s nothing%s" verb text)))))

(defun cursord--decided-unsaved-p (ws result seen)
  "Return non-nil if RESULT, a decision about SEEN in WS, is not on disk yet.
An accept may have made the buffer equal to its file."
  ;; A conflict is one with lines that are not saved.
  (and (or (seq-some #'cursord-conflict-p seen)
           (not (seq-empty-p (plist-get result :edits))))
       (seq-some (lambda (diff)
                   (when-let* ((document (cursord-document-at
                                          ws (plist-get diff :path)))
                               (buffer (cursord-document-buffer document)))
                     (and (buffer-live-p buffer) (buffer-modified-p buffer))))
                 (plist-get result :diffs))))

;;;; Decisions

(defun cursord-decide-some (ws method parts comment)
  "Do METHOD with PARTS of hunks in WS; COMMENT goes to the agent.
A reject of several hunks leaves those that may be a person's, an accept those
whose lines a person has changed and not saved."
  (let ((left (make-hash-table :test #'equal)) rest skipped)
    (when (and (eq method :diff/reject) (cdr parts))
      (maphash (lambda (path diff)
                 (dolist (id (cursord-maybe-yours (plist-get diff :hunks)))
                   (puthash id path left)))
               (cursord-workspace-diffs ws)))
    (dolist (part parts)
      (let* ((hunk (if (keywordp (car part)) part (car part)))
             (id (plist-get hunk :id))
             (path (gethash id left)))
        (cond
         (path (push (list :path path :hunk id :kind "maybeYours") skipped))
         ((and (eq method :diff/accept) (cdr parts) (cursord-conflict-p hunk))
          (push (list :hunk id :kind "conflict"
                      :message (concat "you have changed these lines, too:"
                                       " decide each hunk by itself"))
                skipped))
         (t (push part rest)))))
    (cursord-decide ws method (nreverse rest) comment nil (nreverse skipped))))

(defun cursord-decide (ws method parts &optional comment after skipped)
  "Do METHOD, `:diff/accept' or `:diff/reject', with PARTS of hunks in WS.
A part is a hunk as it was seen, or (HUNK FROM . TO) for some of its changed
lines.  COMMENT goes to the agent; a plist of params is sent as it is.  Call
AFTER with whether it was done.  SKIPPED lists chosen hunks that are left out,
in the form of an answer."
  (let* ((comment (if (stringp comment) (list :comment comment) comment))
         (after (or after #'ignore))
         (parts (mapcar (lambda (part)  ; a conflict is decided as a whole
                          (if (and (not (keywordp (car part)))
                                   (cursord-contested-p (car part)))
                              (car part)
                            part))
                        parts))
         (whole (seq-filter (lambda (part) (keywordp (car part))) parts))
         (steps (append
                 (and whole
                      (list (cons `(:hunks ,(vconcat (mapcar (lambda (hunk)
                                                               (plist-get hunk
                                                                          :id))
                                                             whole)) ,@comment)
                                  whole)))
                 (mapcar (pcase-lambda (`(,hunk ,from . ,to))
                           (cons `(:hunks [,(plist-get hunk :id)]
                                          :lines (:from ,from :to ,to)
                                          ,@comment) (list hunk)))
                         (seq-remove (lambda (part) (keywordp (car part)))
                                     parts)))))
    (cursord--in-turn
     ws
     (lambda (done)
       (let ((applied 0) unsaved lines)
         (named-let step ((steps steps))
           (if (null steps)
               (progn
                 (cursord--say-decided ws method applied skipped unsaved
                                       lines)
                 (let ((cursord-decided-now t)) (cursord-protected after t))
                 (funcall done))
             (cursord--send-decision
              ws method (caar steps) (cdar steps)
              (lambda (ok result)
                (if (not ok)
                    (progn (cursord-protected after nil) (funcall done))
                  (cl-incf applied (plist-get result :applied))
                  (when-let* ((range (plist-get (caar steps) :lines))
                              ((> (plist-get result :applied) 0)))
                    (push (- (plist-get range :to) (plist-get range :from))
                          lines))
                  (when (cursord--decided-unsaved-p ws result (cdar steps))
                    (setq unsaved t))
                  ;; The next step needs the diffs after this one.
                  (cursord-flush ws (lambda () (step (cdr steps))))))))))))))

(defconst cursord--other-hunks
  "there are other hunks now, and nothing was decided; look at them first"
  "The message if hunks came or went while a person was asked about all.")

(defun cursord-decide-all (ws method &optional path seen after)
  "Do METHOD with all hunks of the file PATH of WS, or of WS if PATH is nil.
If SEEN is non-nil, do nothing if the hunks are not those of SEEN: a list of
hunks or, if PATH is nil, the value of `cursord-confirm-all'.  Call AFTER with
whether it was done."
  (let ((after (or after #'ignore)))
    (cursord--in-turn
     ws
     (lambda (done)
       (let ((end (lambda (ok)
                    (let ((cursord-decided-now t)) (cursord-protected after ok))
                    (funcall done)))
             (diff (and path (gethash path (cursord-workspace-diffs ws)))))
         (if (and seen
                  (if path
                      (not (eql (length seen) (length (plist-get diff :hunks))))
                    (not (equal seen (cursord--all-ids ws)))))
             (progn
               (if path
                   (cursord-say "%s has changed meanwhile; look at it again"
                                path)
                 (cursord-say "%s" cursord--other-hunks))
               (funcall end nil))
           (cursord--send-decision
            ws method (if path (list :path path) (list :all t))
            (and path seen)
            (lambda (ok result)
              (when ok
                (cursord--say-decided
                 ws method (plist-get result :applied)
                 (plist-get result :skipped)
                 (cursord--decided-unsaved-p ws result nil)))
              (funcall end ok)))))))))

(declare-function cursord-review-go-to "cursord-review")

(defun cursord--step-name (step)
  "Return which decision STEP, of an answer of the daemon, was, with a \"; \"."
  (if-let* ((hunks (plist-get step :hunks)))
      (format "the %s of %s%s; "
              (if (equal (plist-get step :kind) "commit")
                  "accept"
                (plist-get step :kind))
              (cursord-plural hunks "hunk")
              (if (equal (plist-get step :kind) "commit") " by a commit" ""))
    ""))

(defun cursord--step (ws method word)
  "Do METHOD, `:diff/undo' or `:diff/redo', in WS; WORD says so to people.
In a review, go to the first hunk that comes back."
  (let ((review (and (derived-mode-p 'cursord-review-mode) (current-buffer))))
    (cursord--in-turn
     ws
     (lambda (done)
       (let ((before (cursord--all-ids ws)))
         (cursord-request
          ws method nil
          :then (lambda (result)
                  (cursord-protected #'cursord-steps-moved ws method
                                     (plist-get result :step))
                  (if (cursord-protected #'cursord--take-decision
                                         ws method result)
                      (cursord-say "%s: %s%s%s" word
                                   (cursord--step-name
                                    (plist-get result :step))
                                   (cursord-left ws)
                                   (cursord--gone-now ws))
                    (cursord-say
                     "the text changed at the same moment; try again"))
                  (when (buffer-live-p review)
                    (cursord-protected #'cursord-review-go-to review
                                       (seq-difference (cursord--all-ids ws)
                                                       before)))
                  (funcall done))
          :else (lambda (err)
                  (cursord-complain err)
                  (funcall done))))))))

;;;###autoload
(defun cursord-undo ()
  "Undo the latest accept or reject of the workspace.
Called again, undo the decision before that."
  (interactive)
  (cursord--step (cursord-workspace-open) :diff/undo "undone"))

;;;###autoload
(defun cursord-redo ()
  "Redo the decision that `cursord-undo' has undone last."
  (interactive)
  (cursord--step (cursord-workspace-open) :diff/redo "done again"))

(defun cursord--all-ids (ws)
  "Return the ids of all hunks of WS, sorted."
  (let (ids)
    (maphash (lambda (_path diff)
               (seq-doseq (hunk (plist-get diff :hunks))
                 (push (plist-get hunk :id) ids)))
             (cursord-workspace-diffs ws))
    (sort ids #'string<)))

(provide 'cursord-decide)
;;; cursord-decide.el ends here
