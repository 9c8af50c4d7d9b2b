;;; cursord-steps.el --- Decisions as undo steps  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Some decisions leave the text of a buffer as it is: an accept of lines that
;; are there already, a conflict that is decided for the person's lines, and a
;; reject of a deletion or a rename.  Each of them is an entry of its own in the
;; buffer's undo list.  So `undo' takes it back in its place, and does not take
;; out the agent's lines instead.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-groups)

(declare-function cursord--in-turn "cursord-decide" (ws run))
(declare-function cursord--check "cursord-decide" (ws hunks))
(declare-function cursord--take-decision "cursord-decide" (ws method result))
(declare-function cursord-left "cursord-decide" (ws))
(declare-function cursord--step-name "cursord-decide" (step))
(declare-function cursord-hunk-places "cursord-places" ())
(declare-function cursord--say-decided "cursord-decide")

(cl-defstruct (cursord-decided (:constructor cursord--decided-make)
                               (:copier nil))
  "A decision that left the text of a buffer as it was."
  ws
  method
  (number nil :documentation "The daemon's number of the decision.")
  (hunks nil :documentation "The decided hunks, as they were before.")
  (params nil :documentation "The request that makes the decision again.")
  (buffers nil :documentation "The buffers whose text it has left."))

(defvar cursord--decided-by-key (make-hash-table :test #'eq :weakness 'key)
  "Decisions by the strings that stand for them in undo lists.
An undo list holds no structures, because packages write such lists to files.")

(defun cursord--diffs-by-path (ws)
  "Return the diffs of WS, an alist from their paths."
  (let (all)
    (maphash (lambda (path diff) (push (cons path diff) all))
             (cursord-workspace-diffs ws))
    all))

(defun cursord--same-text-p (method hunks diff)
  "Return non-nil if METHOD with HUNKS of DIFF leaves the text in a buffer.
A deletion or a rename that is rejected does so."
  (cond
   ((eq method :diff/accept)
    (not (seq-some #'cursord-isolated-p hunks)))
   ((cursord-diff-deleted-p diff))
   ((member (plist-get diff :kind) '("renamed" "mode"))
    (not (seq-some (lambda (hunk) (equal (plist-get hunk :kind) "text"))
                   hunks)))
   (t (seq-every-p #'cursord-conflict-p hunks))))

(defun cursord--hunks-gone (ws before)
  "Return the hunks of BEFORE, diffs by path, that WS does not have any more.
The value is an alist from paths to hunks.  A hunk that lost lines counts."
  (let (all)
    (pcase-dolist (`(,path . ,diff) before all)
      (let ((now (make-hash-table :test #'equal)))
        (seq-doseq (hunk (plist-get (gethash path (cursord-workspace-diffs ws))
                                    :hunks))
          (puthash (plist-get hunk :id) hunk now))
        (when-let* ((gone (seq-remove
                           (lambda (hunk)
                             (when-let* ((is (gethash (plist-get hunk :id)
                                                      now)))
                               (equal (cursord-changed-lines is)
                                      (cursord-changed-lines hunk))))
                           (plist-get diff :hunks))))
          (push (cons path gone) all))))))

(defun cursord--push-step (function key)
  "Have undo in the current buffer call FUNCTION with KEY, as its own step."
  (when (listp buffer-undo-list)
    (undo-boundary)
    (push (list 'apply function key) buffer-undo-list)
    ;; Emacs adds boundaries only after changes of the text.
    (undo-boundary)))

(defun cursord-steps-add (ws method params result before)
  "Make a decision a step of undo in the buffers whose text it has left.
METHOD and PARAMS are its request in WS, RESULT is the answer, and BEFORE are
the diffs of WS before it, an alist from paths."
  (let* ((paths (mapcar (lambda (diff) (plist-get diff :path))
                        (plist-get result :diffs)))
         (edited (mapcar (lambda (one) (plist-get one :path))
                         (plist-get result :edits)))
         (gone (cursord--hunks-gone ws (seq-filter (lambda (one)
                                                     (member (car one) paths))
                                                   before)))
         (hunks (seq-mapcat #'cdr gone))
         (number (plist-get result :decision))
         (key (format "%s" number)))
    (when (and number hunks)
      (puthash key (cursord--decided-make
                    :ws ws :method method :number number :hunks hunks
                    :params (if (plist-member params :lines)
                                params
                              (list :hunks
                                    (vconcat (mapcar (lambda (hunk)
                                                       (plist-get hunk :id))
                                                     hunks)))))
               cursord--decided-by-key)
      (pcase-dolist (`(,path . ,its) gone)
        (when-let* ((diff (cdr (assoc path before)))
                    (old (or (plist-get diff :oldPath) path))
                    (document (or (cursord-document-at ws path)
                                  (cursord-document-at ws old)))
                    ((buffer-live-p (cursord-document-buffer document)))
                    ((not (or (member path edited) (member old edited))))
                    ((cursord--same-text-p method its diff)))
          (with-current-buffer (cursord-document-buffer document)
            (push (current-buffer)
                  (cursord-decided-buffers
                   (gethash key cursord--decided-by-key)))
            (cursord--push-step #'cursord--undo-decided key)))))))

(defvar cursord--steps-back nil
  "Keys of decisions that `cursord-undo' has taken back, the latest first.")

(defun cursord-steps-moved (ws method step)
  "Take STEP, a decision of WS, out of undo lists, or put it there again.
`cursord-undo' has taken it back if METHOD is `:diff/undo'; else `cursord-redo'
has made it again."
  (let ((number (plist-get step :decision)))
    (cl-flet ((its-p (key)
                (when-let* ((decided (gethash key cursord--decided-by-key)))
                  (and (eq ws (cursord-decided-ws decided))
                       (eql number (cursord-decided-number decided))))))
      (if (eq method :diff/undo)
          (when-let* ((key (seq-find
                            #'its-p
                            (hash-table-keys cursord--decided-by-key))))
            (setq cursord--steps-back (cons key (take 50 cursord--steps-back)))
            (cursord--each-buffer-of key #'cursord--drop-step))
        (when-let* ((key (seq-find #'its-p cursord--steps-back)))
          (setq cursord--steps-back (delq key cursord--steps-back))
          (cursord--each-buffer-of
           key (lambda (key)
                 (cursord--push-step #'cursord--undo-decided key))))))))

(defun cursord--each-buffer-of (key function)
  "Call FUNCTION with KEY in each buffer whose text the decision KEY has left."
  (dolist (buffer (cursord-decided-buffers
                   (gethash key cursord--decided-by-key)))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (funcall function key)))))

(defun cursord--drop-step (key)
  "Take the step KEY out of the undo list of the current buffer."
  (when (consp buffer-undo-list)
    (setq buffer-undo-list
          (seq-drop-while #'null
                          (delete (list 'apply #'cursord--undo-decided key)
                                  buffer-undo-list)))
    (undo-boundary)))

(defun cursord-steps-forget ()
  "Take decisions that a save makes out of the current buffer's undo list.
They are those of conflicts that undo has brought back.  The save decides these
conflicts for the person's lines, and undo goes on to what was before them."
  (when (consp buffer-undo-list)
    (undo-boundary)
    (let ((tail buffer-undo-list))
      (while (cdr tail)
        (if (or (and (null (car tail)) (null (cadr tail)))
                (cursord--step-saved-p (cadr tail)))
            (setcdr tail (cddr tail))
          (setq tail (cdr tail)))))))

(defun cursord--step-saved-p (entry)
  "Return non-nil if ENTRY of an undo list decides conflicts that are pending."
  (pcase entry
    (`(apply ,(or 'cursord--undo-decided 'cursord--redo-decided) ,key)
     (when-let* ((decided (gethash key cursord--decided-by-key))
                 (hunks (cursord-decided-hunks decided)))
       (and (seq-every-p #'cursord-conflict-p hunks)
            (null (car (cursord--check (cursord-decided-ws decided)
                                       hunks))))))))

;;;; Undo and redo

;; `undo' calls these two functions.  They begin later, after its own message.

(defun cursord--undo-decided (key)
  "Take back the decision with KEY, in the daemon."
  (cursord--push-step #'cursord--redo-decided key)
  (run-at-time 0 nil #'cursord-protected #'cursord--undo-decided-now
               (gethash key cursord--decided-by-key) (current-buffer)
               (point-marker)))

(defun cursord--redo-decided (key)
  "Make the decision with KEY again, in the daemon."
  (cursord--push-step #'cursord--undo-decided key)
  (run-at-time 0 nil #'cursord-protected #'cursord--redo-decided-now
               (gethash key cursord--decided-by-key)))

(defconst cursord--go-back-most 5
  "Seconds in which the mark of a hunk that undo brings back may come.")

(defun cursord--go-back-to (hunks buffer point &optional limit)
  "Go to the first of HUNKS in BUFFER unless its point has left POINT, a marker.
The answer to an undo may come before the marks: wait for them until LIMIT, a
time; nil means `cursord--go-back-most' seconds."
  (when (and (buffer-live-p buffer)
             (eql (with-current-buffer buffer (point)) (marker-position point)))
    (with-current-buffer buffer
      (let* ((limit (or limit (time-add nil cursord--go-back-most)))
             (ids (mapcar (lambda (hunk) (plist-get hunk :id)) hunks))
             (place (seq-find (lambda (place)
                                (member (plist-get (car place) :id) ids))
                              (cursord-hunk-places))))
        (cond
         ((and place (<= (point-min) (cadr place) (point-max)))
          (goto-char (cadr place))
          (when (eq buffer (window-buffer))
            (set-window-point nil (point))))
         ((and (null place) (time-less-p nil limit))
          (run-at-time 0.05 nil #'cursord-protected #'cursord--go-back-to
                       hunks buffer point limit)))))))

(defun cursord--undo-decided-now (decided buffer point)
  "Take back DECIDED, in the daemon; nil is a decision of an earlier Emacs.
Undo in BUFFER wants it, with point at the marker POINT: go to the hunk."
  (if (null decided)
      (cursord-say (concat "undo does not know this decision any more;"
                           " M-x cursord-undo takes back the latest one"))
    (let ((ws (cursord-decided-ws decided)))
      (cursord--in-turn
       ws
       (lambda (done)
         (if (null (car (cursord--check ws (cursord-decided-hunks decided))))
             (progn (cursord-say "that is undone already: %s" (cursord-left ws))
                    (funcall done))
           (cursord-request
            ws :diff/undo (list :decision (cursord-decided-number decided))
            :then (lambda (result)
                    (cursord-protected #'cursord--take-decision ws :diff/undo
                                       result)
                    (cursord-protected #'cursord--go-back-to
                                       (cursord-decided-hunks decided) buffer
                                       point)
                    (cursord-say "undone: %s%s"
                                 (cursord--step-name (plist-get result :step))
                                 (cursord-left ws))
                    (funcall done))
            :else (lambda (err)
                    (cursord-say "the text is as before, but not its hunks: %s"
                                 (cursord-undo-problem err))
                    (funcall done)))))))))

(defun cursord--redo-decided-now (decided)
  "Make DECIDED again, in the daemon, if its hunks are as they were."
  (when decided
    (let ((ws (cursord-decided-ws decided))
          (method (cursord-decided-method decided)))
      (cursord--in-turn
       ws
       (lambda (done)
         (pcase-let ((`(,problem . ,rev)
                      (cursord--check ws (cursord-decided-hunks decided))))
           (if problem
               (progn (cursord-say "%s" problem)
                      (funcall done))
             (cursord-request
              ws method (append (and rev (list :rev rev))
                                (cursord-decided-params decided))
              :then (lambda (result)
                      (setf (cursord-decided-number decided)
                            (plist-get result :decision))
                      (cursord-protected #'cursord--take-decision ws method
                                         result)
                      (cursord--say-decided ws method
                                            (plist-get result :applied) nil)
                      (funcall done))
              :else (lambda (err)
                      (cursord-complain err)
                      (funcall done))))))))))

(defun cursord-undo-problem (err)
  "Return why the daemon did not undo a decision, by its error ERR, and a hint."
  (if (member (cursord-error-kind err) '("conflict" "notFound"))
      "something else was decided since; M-x cursord-undo takes back that first"
    (cursord-error-text err)))

(defun cursord-find-hunk (ws id)
  "Return the hunk of WS with ID and its diff, (HUNK . DIFF), or nil."
  (catch 'found
    (maphash (lambda (_path diff)
               (seq-doseq (hunk (plist-get diff :hunks))
                 (when (equal id (plist-get hunk :id))
                   (throw 'found (cons hunk diff)))))
             (cursord-workspace-diffs ws))
    nil))

(defun cursord--skipped-text (ws skipped)
  "Return which hunks of WS were SKIPPED and why, as text; \"\" for none."
  (let* ((yours-p (lambda (one) (equal (plist-get one :kind) "maybeYours")))
         (yours (seq-filter yours-p skipped))
         (others (seq-remove yours-p skipped))
         (most 10)
         (reasons (seq-uniq ; mostly one for all hunks of a file
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
                               (if-let* ((hunk (car (cursord-find-hunk
                                                     ws
                                                     (plist-get one :hunk)))))
                                   (format "%s:%d" (plist-get one :path)
                                           (1+ (cursord-hunk-row hunk)))
                                 (plist-get one :path)))
                             (take most yours) ", ")
                  (if (> (length yours) most)
                      (format ", and %d more" (- (length yours) most))
                    ""))))))

(provide 'cursord-steps)
;;; cursord-steps.el ends here
