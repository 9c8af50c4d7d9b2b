;;; cursord-report.el --- Reports of unsaved text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The daemon gets the text of each buffer with unsaved changes, and places the
;; file's hunks in that text.  Rejects in such a buffer come back as edits, and
;; so do the agent's new lines, where the person has not changed the same lines.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-marks)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-replace)
(require 'cursord-steps)
(require 'cursord-back)

(declare-function cursord--document-show "cursord-files" (document))

(defconst cursord--tell-pause 0.08
  "Seconds without typing after which the text is reported.")

(defconst cursord--tell-factor 8
  "The pause before a report is at least so many times as long as a report.")

(defun cursord--in-sync-p (document)
  "Return non-nil if the daemon knows the text of DOCUMENT."
  (with-current-buffer (cursord-document-buffer document)
    (if (or (buffer-modified-p) (cursord-document-open document))
        (and (cursord-document-open document)
             (eql (cursord-document-tick document)
                  (buffer-chars-modified-tick)))
      t)))

(defun cursord--text-p ()
  "Return non-nil if the current buffer is UTF-8 text, which the daemon takes."
  (and (cursord--plain-p)
       (memq (coding-system-type (or buffer-file-coding-system 'undecided))
             '(utf-8 undecided))
       (not (eql (coding-system-eol-type (or buffer-file-coding-system
                                             'undecided)) 2))))

(defun cursord--await (seconds arrived)
  "Take messages until ARRIVED returns non-nil, for SECONDS at most.
Return whether it did."
  (let ((limit (time-add nil seconds)) value)
    (while (not (or (setq value (funcall arrived)) (time-less-p limit nil)))
      (accept-process-output nil 0.01))
    value))

(defconst cursord--tell-most 1
  "The most seconds for which a save waits until the daemon knows its text.")

(defvar cursord-decided-now nil
  "Whether what follows a decision is being done, such as a save.")

(defvar cursord--late nil
  "Whether the daemon did not answer within `cursord--tell-most'.
Saves do not wait until it has answered.")

(defun cursord--await-text (document &optional first)
  "Wait until the daemon knows the text of DOCUMENT, which is about to be saved.
If FIRST, the daemon may have been told of the file alone.
If the daemon saw the file first, it would take the text for that of an agent's
command, or lines that were rejected and are there again for a person's."
  (let ((ws (cursord-document-ws document)) known)
    (when (and (or first (cursord-document-open document))
               (not (eql (cursord-document-answered document)
                         (buffer-chars-modified-tick))))
      (cl-flet ((heard (&rest _) (setq known t cursord--late nil)))
        (cursord-request ws :diff/list
                         (list :path (cursord-document-path document))
                         :then #'heard :else #'heard))
      (unless (or cursord--late
                  (cursord--await cursord--tell-most (lambda () known)))
        (setq cursord--late t)))))

(defun cursord--tell-text (document)
  "Tell the daemon the text of the current buffer, of DOCUMENT."
  (let ((began (current-time))
        (ws (cursord-document-ws document)))
    (cl-incf (cursord-document-version document))
    (setf (cursord-document-tick document) (buffer-chars-modified-tick))
    (cursord-notify ws
                    (if (cursord-document-open document)
                        :document/didChange
                      :document/didOpen)
                    (list :uri (cursord-uri ws (cursord-document-file document))
                          :version (cursord-document-version document)
                          :text (cursord--whole-text)))
    (setf (cursord-document-open document)
          (and (cursord-connection-to (cursord-workspace-host ws)) t)
          (cursord-document-cost document) (float-time (time-since began)))))

(defun cursord--say-taken-out (document)
  "Say so if undo has taken the agent's lines out of the buffer of DOCUMENT.
The buffer is current."
  (when (cursord-document-undid document)
    (setf (cursord-document-undid document) nil)
    (when (buffer-modified-p)
      (let ((hash (buffer-hash)))
        (cond
         ((member hash (cursord-document-rewound document))
          (cursord-say (concat "what the rewind took back is here again, and"
                               " not on disk; M-x cursord-undo takes back the"
                               " rewind")))
         ((and (gethash (cursord-document-path document)
                        (cursord-workspace-diffs
                         (cursord-document-ws document)))
               (member hash (cursord-document-follows document)))
          (cursord-say
           "the agent's changes are undone; redo brings them back")))))))

(defun cursord-report (document &optional done)
  "Tell the daemon the text of DOCUMENT if it does not know it.
Call DONE when the diff of that text is there."
  (let ((buffer (cursord-document-buffer document))
        (ws (cursord-document-ws document))
        (done (or done #'ignore)))
    (cond
     ((not (and (buffer-live-p buffer)
                (cursord-document-reviewed document)
                (cursord-connection-to (cursord-workspace-host ws))
                (not (cursord--in-sync-p document))
                (with-current-buffer buffer (cursord--text-p))))
      (funcall done))
     ((cursord-document-undoing document)
      (run-at-time 0.02 nil #'cursord-protected #'cursord-report document done))
     (t
      (with-current-buffer buffer
        (if-let* ((decisions (cursord--taken-back document)))
            (cursord--take-back-shown document decisions done)
          (cursord--say-taken-out document)
          (cursord--tell-text document)
          (cursord--list-diff document done)))))))

(defun cursord--tell-holds (document &optional had)
  "Tell the daemon that the current buffer, of DOCUMENT, is as its file.
If HAD, it was before it was changed.  The daemon needs that text to merge later
changes of buffer and file."
  (let ((ws (cursord-document-ws document)))
    (when (and (or had (not (buffer-modified-p)))
               (not (cursord-document-open document))
               (cursord-connection-to (cursord-workspace-host ws)))
      (setf (cursord-document-named document) t)
      (cursord-notify ws :document/didOpen
                      (list :uri (cursord-uri
                                  ws (cursord-document-file document))
                            :version (cursord-document-version document))))))

(defun cursord--say-merged (document mtime diff)
  "Say that changes on disk came into the buffer of DOCUMENT.
Unless DIFF says that another program has changed the same lines as the person,
Emacs then knows the file as it was at MTIME."
  (let ((path (cursord-document-path document)))
    (cursord--refresh-vc-soon)
    (cursord--settle document)
    (cond
     ((not (buffer-modified-p))
      (cursord-say "changes on disk came into %s; undo takes them out" path))
     ((> (or (plist-get diff :overlaps) 0) 0)
      (cursord-say (concat "changes on disk came into %s, but not those of your"
                           " unsaved lines; M-x ediff-current-file compares")
                   path))
     (t
      (set-visited-file-modtime mtime)
      (cursord-say (concat "changes on disk came into %s, which is not saved;"
                           " undo takes them out")
                   path)))))

(defun cursord--merge-due-p (document)
  "Return non-nil if what is on disk shall be merged into DOCUMENT's buffer.
The buffer is current and unsaved.  Where its only differences are conflicts,
which are shown, nothing is merged, but Emacs comes to know the file."
  (or (> (cursord-document-mergeable document) 0)
      (let ((diff (cursord-diff-of document)))
        (and (seq-some #'cursord-conflict-p (plist-get diff :hunks))
             (zerop (or (plist-get diff :overlaps) 0))
             (not (verify-visited-file-modtime))
             (not (equal (cursord-document-merged document)
                         (cursord--disk-time document)))))))

(defun cursord--disk-time (document)
  "Return when the file of DOCUMENT was written; nil if it is not there."
  (file-attribute-modification-time
   (file-attributes (cursord-document-file document))))

(defun cursord--merge (document)
  "Merge new lines on disk into the unsaved buffer of DOCUMENT.
If another program has changed the same lines as the person, Emacs goes on to
ask before it saves the buffer over them."
  (let* ((buffer (cursord-document-buffer document))
         (ws (cursord-document-ws document))
         ;; The daemon reads the file later than this.
         (mtime (cursord--disk-time document))
         (tick (buffer-chars-modified-tick buffer))
         (end (lambda () (setf (cursord-document-merging document) nil))))
    (setf (cursord-document-merging document) t
          (cursord-document-merged document) mtime
          (cursord-document-mergeable document) 0)
    (cursord-request
     ws :diff/merge (list :path (cursord-document-path document))
     :then (lambda (result)
             (funcall end)
             (when (buffer-live-p buffer)
               (with-current-buffer buffer
                 (let ((diff (seq-first (plist-get result :diffs)))
                       (edits (plist-get result :edits)))
                   (seq-doseq (one edits)
                     (when (and (eql (cursord-document-version document)
                                     (plist-get one :version))
                                (cursord--in-sync-p document))
                       (cursord-apply-edits (plist-get one :edits))
                       (cursord--say-merged document mtime diff)))
                   (when (and (seq-empty-p edits) diff mtime
                              (eql tick (buffer-chars-modified-tick))
                              (seq-every-p (lambda (key)
                                             (zerop
                                              (or (plist-get diff key) 0)))
                                           '(:mergeable :overlaps)))
                     (set-visited-file-modtime mtime)
                     (cursord--document-show document)))
                 (cursord-report document))))
     :else (lambda (_err) (funcall end)))))

(defun cursord--list-diff (document done)
  "Ask for the diff of the reported text of DOCUMENT; call DONE in the end.
The buffer of DOCUMENT is current."
  (let* ((buffer (current-buffer))
         (ws (cursord-document-ws document))
         (path (cursord-document-path document))
         (tick (cursord-document-tick document))
         (seq (cursord-diff-seq ws path))
         (fits (lambda ()
                 (and (buffer-live-p buffer)
                      (eq document (cursord-document buffer))
                      (eql tick
                           (with-current-buffer buffer
                             (buffer-chars-modified-tick)))))))
    (cl-incf (cursord-document-asking document))
    (cursord-request
     ws :diff/list (list :path path)
     :then (lambda (result)
             (let ((diffs (plist-get result :diffs)))
               (cl-decf (cursord-document-asking document))
               (cond
                ((not (funcall fits)) (funcall done))
                ((not (seq-empty-p diffs))
                 (setf (cursord-document-answered document) tick)
                 (cursord-put-diff ws (seq-first diffs))
                 (funcall done))
                ;; An empty answer has no seq: did a notification come since?
                ((eql seq (cursord-diff-seq ws path))
                 (setf (cursord-document-answered document) tick)
                 (cursord-put-diff ws
                                   (list :path path :state "clean"
                                         :kind "modified" :rev 0 :hunks []))
                 (funcall done))
                (t (with-current-buffer buffer
                     (cursord--list-diff document done))))))
     :else (lambda (err)
             (cl-decf (cursord-document-asking document))
             (unless (equal (cursord-error-kind err) "disconnected")
               (setf (cursord-document-refused document) err))
             (funcall done)))))

(defun cursord--diff-fits-p (document)
  "Return non-nil if the diff of DOCUMENT is about its buffer's present text."
  (with-current-buffer (cursord-document-buffer document)
    (or (not (buffer-modified-p))
        (eql (cursord-document-answered document)
             (buffer-chars-modified-tick)))))

(defun cursord--put-diffs (ws diffs)
  "Store DIFFS of an answer in WS, and show them in buffers."
  (seq-doseq (diff diffs)
    (cursord-put-diff ws diff)
    (when-let* ((document (cursord-document-at ws (plist-get diff :path))))
      (cursord--document-show document))))

(defun cursord--report-soon (document)
  "Tell the daemon the text of DOCUMENT after a pause in typing."
  (when (timerp (cursord-document-timer document))
    (cancel-timer (cursord-document-timer document)))
  (setf (cursord-document-timer document)
        (run-at-time (max cursord--tell-pause
                          (* cursord--tell-factor
                             (cursord-document-cost document))) nil
                             (lambda ()
                               (setf (cursord-document-timer document) nil)
                               (cursord-protected #'cursord-report document)))))

(defun cursord-flush (ws done)
  "Call DONE when the daemon knows the texts of all reviewed buffers of WS."
  (let* ((left 1)
         (one (lambda () (when (zerop (cl-decf left)) (funcall done)))))
    (dolist (document (hash-table-values cursord--documents))
      (when (and (eq ws (cursord-document-ws document))
                 (cursord-document-reviewed document))
        (cl-incf left)
        (cursord-report document one)))
    (funcall one)))

(provide 'cursord-report)
;;; cursord-report.el ends here
