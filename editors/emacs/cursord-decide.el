;;; cursord-decide.el --- Accept, reject, undo, redo, comment  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What a person decides, one decision after the other in each workspace, each
;; about what was seen: a hunk that has changed since it was drawn is not
;; decided, and its new form is shown.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-files)

(defconst cursord--done-words
  '((:diff/accept . "accepted") (:diff/reject . "rejected")))

(defun cursord-left (ws)
  "What is left to review in WS, in words."
  (pcase-let ((`(,hunks . ,files) (cursord-pending ws)))
    (if (zerop hunks)
        "nothing left to review"
      (format "%s left in %s" (cursord-plural hunks "hunk")
              (cursord-plural files "file")))))

;;;; One after the other

(defvar cursord--deciding nil
  "What waits for a decision to end: an alist of workspaces and lists of functions.")

(defun cursord--in-turn (ws run)
  "Call RUN when the decisions in WS before it are made and all text is told.
It is called with a function that it has to call in the end."
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
If they are those of a DECISION, or of one that was `redone', undo of saved
text takes it back.  Return nil if a buffer has changed meanwhile: it is left."
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
                (push (cons hash made) (cursord-document-edited document)))
              (cursord-apply-edits (plist-get one :edits))
              (unless decision
                (cursord--forget-rejects document)))
          (setq fits nil))
        (when document
          (cursord-report document))))
    fits))

(defun cursord--take-decision (ws method result &optional seen)
  "Take RESULT, the answer to METHOD in WS; return nil if buffers did not fit.
SEEN are the hunks that it was about, as far as they were seen."
  (let* ((diffs (plist-get result :diffs))
         (decision (if (eq method :diff/redo) 'redone
                     (plist-get result :decision)))
         (fits (cursord--apply-edits ws (plist-get result :edits)
                                     (and (length= diffs 1) decision))))
    (cursord--put-diffs ws diffs)
    ;; What is isolated is written when it is accepted.
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

(defun cursord-find-hunk (ws id)
  "The hunk of WS that is called ID and its diff, (HUNK . DIFF), nil if it is gone."
  (catch 'found
    (maphash (lambda (_path diff)
               (seq-doseq (hunk (plist-get diff :hunks))
                 (when (equal id (plist-get hunk :id))
                   (throw 'found (cons hunk diff)))))
             (cursord-workspace-diffs ws))
    nil))

(defun cursord--check (ws hunks)
  "Say why HUNKS of WS are not what was seen, or return the rev of their diff.
The value is (PROBLEM . REV), each nil if there is none."
  (let ((rev 'none) problem present)
    ;; What there is, once: hunks may be many.
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
AFTER is called with whether it was done and the answer.  AGAIN says that this
is the second attempt."
  (pcase-let ((`(,problem . ,rev) (cursord--check ws seen)))
    (if problem
        (progn (cursord-say "%s" problem)
               (funcall after nil nil))
      (cursord-request
       ws method (append (and rev (list :rev rev)) params)
       :then (lambda (result)
               (if (cursord-protected #'cursord--take-decision ws method result
                                      seen)
                   (funcall after t result)
                 (cursord-say "the text changed at the same moment; decide again")
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
  "What is to be said of files of WS that a decision here has removed; \"\" for none."
  (let ((gone (seq-filter (lambda (document)
                            (and (eq ws (cursord-document-ws document))
                                 (eq (cursord-document-gone document) 'untold)))
                          (hash-table-values cursord--documents))))
    (dolist (document gone)
      (setf (cursord-document-gone document) t))
    (if gone (concat "; " (cursord-gone-text gone)) "")))

(defun cursord--say-decided (ws method applied skipped)
  "Say that METHOD was done with APPLIED hunks of WS, and SKIPPED left out."
  (cursord-say "%s %s; %s%s%s" (alist-get method cursord--done-words)
               (cursord-plural applied "hunk") (cursord-left ws)
               (cursord--skipped-text ws skipped)
               (cursord--gone-now ws)))

(defun cursord--skipped-text (ws skipped)
  "Say which hunks of WS were SKIPPED and why; \"\" for none."
  (let* ((yours-p (lambda (one) (equal (plist-get one :kind) "maybeYours")))
         (yours (seq-filter yours-p skipped))
         (others (seq-remove yours-p skipped))
         (most 10)
         (reasons (seq-uniq ; hunks of a file mostly have the same
                   (mapcar (lambda (one)
                             (or (plist-get one :message)
                                 (format "%s (%s)" (plist-get one :path)
                                         (plist-get one :kind))))
                           others))))
    (concat
     (and reasons
          (concat "; left out: " (string-join (take most reasons) ", and ")
                  (if (> (length reasons) most)
                      (format ", and %d more" (- (length reasons) most))
                    "")))
     (and yours
          (format "; left %s that may be yours: %s%s (reject each by itself)"
                  (cursord-plural (length yours) "hunk")
                  (mapconcat (lambda (one)
                               (if-let* ((hunk (car (cursord-find-hunk ws
                                                                       (plist-get one :hunk)))))
                                   (format "%s:%d" (plist-get one :path)
                                           (1+ (cursord-hunk-row hunk)))
                                 (plist-get one :path)))
                             (take most yours) ", ")
                  (if (> (length yours) most)
                      (format ", and %d more" (- (length yours) most))
                    ""))))))

;;;; Decisions

(defun cursord-decide-some (ws method parts comment)
  "Do METHOD with PARTS of hunks in WS; COMMENT goes to the agent.
If they are of several hunks a reject leaves those that may be a person's."
  (let ((left (make-hash-table :test #'equal)) rest skipped)
    (when (and (eq method :diff/reject) (cdr parts))
      (maphash (lambda (path diff)
                 (dolist (id (cursord-maybe-yours (plist-get diff :hunks)))
                   (puthash id path left)))
               (cursord-workspace-diffs ws)))
    (dolist (part parts)
      (let* ((id (plist-get (if (keywordp (car part)) part (car part)) :id))
             (path (gethash id left)))
        (if path
            (push (list :path path :hunk id :kind "maybeYours") skipped)
          (push part rest))))
    (cursord-decide ws method (nreverse rest) comment nil (nreverse skipped))))

(defun cursord-decide (ws method parts &optional comment after skipped)
  "Do METHOD, `:diff/accept' or `:diff/reject', with PARTS of hunks in WS.
A part is a hunk as it was seen, or (HUNK FROM . TO) for some of its changed
lines.  COMMENT goes to the agent; a plist is said of the decision as it is.
AFTER is called with whether it was done.
SKIPPED is what was chosen and is left, as in an answer."
  (let* ((comment (if (stringp comment) (list :comment comment) comment))
         (after (or after #'ignore))
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
       (let ((applied 0))
         (named-let step ((steps steps))
           (if (null steps)
               (progn
                 (cursord--say-decided ws method applied skipped)
                 (cursord-protected after t)
                 (funcall done))
             (cursord--send-decision
              ws method (caar steps) (cdar steps)
              (lambda (ok result)
                (if (not ok)
                    (progn (cursord-protected after nil) (funcall done))
                  (cl-incf applied (plist-get result :applied))
                  ;; What is known for the next one is as old as this one.
                  (cursord-flush ws (lambda () (step (cdr steps))))))))))))))

(defconst cursord--other-hunks
  "there are other hunks now, and nothing was decided; look at them first"
  "The message if hunks came or went while a person was asked about all.")

(defun cursord-decide-all (ws method &optional path seen after)
  "Do METHOD with all that is in the file PATH of WS, or with all of WS.
If SEEN is given it is all that a person has seen there: a list of hunks, or of
ids, as `cursord-confirm-all' returns it, where there is no PATH.
AFTER is called with whether it was done."
  (let ((after (or after #'ignore)))
    (cursord--in-turn
     ws
     (lambda (done)
       (let ((end (lambda (ok) (cursord-protected after ok) (funcall done)))
             (diff (and path (gethash path (cursord-workspace-diffs ws)))))
         (if (and seen
                  (if path
                      (not (eql (length seen) (length (plist-get diff :hunks))))
                    (not (equal seen (cursord--all-ids ws)))))
             (progn
               (if path
                   (cursord-say "%s has changed meanwhile; look at it again" path)
                 (cursord-say "%s" cursord--other-hunks))
               (funcall end nil))
           (cursord--send-decision
            ws method (if path (list :path path) (list :all t))
            (and path seen)
            (lambda (ok result)
              (when ok
                (cursord--say-decided ws method (plist-get result :applied)
                                      (plist-get result :skipped)))
              (funcall end ok)))))))))

(defun cursord--step (ws method word)
  "Do METHOD, `:diff/undo' or `:diff/redo', in WS; WORD is what people call it."
  (cursord--in-turn
   ws
   (lambda (done)
     (cursord-request ws method nil
                      :then (lambda (result)
                              (if (cursord-protected #'cursord--take-decision ws
                                                     method result)
                                  (cursord-say "%s: %s%s" word (cursord-left ws)
                                               (cursord--gone-now ws))
                                (cursord-say "the text changed at the same moment; try again"))
                              (funcall done))
                      :else (lambda (err)
                              (cursord-complain err)
                              (funcall done))))))

;;;###autoload
(defun cursord-undo ()
  "Take back the latest accept or reject of the workspace.
Again, it takes back the one before."
  (interactive)
  (cursord--step (cursord-workspace-open) :diff/undo "undone"))

;;;###autoload
(defun cursord-redo ()
  "Make again the decision that `cursord-undo' took back last."
  (interactive)
  (cursord--step (cursord-workspace-open) :diff/redo "done again"))

(defun cursord-dismiss-in (ws &optional path)
  "Take the file PATH, which is outside of WS, off the list; all such without it."
  (cursord-request ws :diff/dismiss (if path (list :path path) (list :all t))
                   :then (lambda (result)
                           (cursord-say "dismissed %s"
                                        (cursord-plural
                                         (plist-get result :dismissed) "file")))))

(defun cursord-comment (ws hunk text)
  "Tell the agent TEXT about HUNK of WS with the next prompt."
  (unless (string-blank-p text)
    (cursord-request ws
                     :diff/comment (list :hunk (plist-get hunk :id) :text text)
                     :then (lambda (_)
                             (cursord-say "the agent gets this with its next prompt")))))

(defun cursord-read-comment ()
  "Ask for a comment if there is a prefix argument; nil if it is empty."
  (when current-prefix-arg
    (let ((text (read-string "Comment for the agent: ")))
      (unless (string-blank-p text)
        text))))

(defun cursord--but-yours (ws)
  "Say how many hunks a reject of all of WS leaves; \"\" for none."
  (let ((count 0))
    (maphash (lambda (_path diff)
               (cl-incf count
                        (length (cursord-maybe-yours (plist-get diff :hunks)))))
             (cursord-workspace-diffs ws))
    (if (zerop count) "" (format ", but %d that may be yours" count))))

(defun cursord--all-ids (ws)
  "The ids of all hunks of WS, in an order."
  (let (ids)
    (maphash (lambda (_path diff)
               (seq-doseq (hunk (plist-get diff :hunks))
                 (push (plist-get hunk :id) ids)))
             (cursord-workspace-diffs ws))
    (sort ids #'string<)))

(defun cursord-confirm-all (ws method)
  "Ask whether METHOD is meant for all of WS; return what that is, or nil.
What came while it was asked was not meant."
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

(provide 'cursord-decide)
;;; cursord-decide.el ends here
