;;; cursord-document.el --- State of files' buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Each buffer of a file in a workspace in use has a document, which holds the
;; package's state of that buffer.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)

(cl-defstruct (cursord-document (:constructor cursord--document-make)
                                (:copier nil))
  "A buffer of a file in a workspace."
  buffer
  (file nil :documentation "The file's name without links.")
  (path nil :documentation "The file's path in diffs.")
  ws
  (reviewed nil :documentation "Whether the file has had hunks.")
  (open nil :documentation "Whether the daemon has the buffer's text.")
  (named nil
         :documentation
         "Whether the daemon knows that the buffer is as its file.")
  (mergeable 0
             :documentation
             "How many changes on disk can be merged into the buffer.")
  (merging nil
           :documentation "Whether a request for such changes is under way.")
  (merged nil :documentation "When the file was written that was merged last.")
  (version 0)
  (tick nil
        :documentation
        "`buffer-chars-modified-tick' of the text that the daemon has.")
  (answered nil
            :documentation
            "The tick of the unsaved text that the diff is about.")
  (asking 0 :documentation "How many requests for the diff are under way.")
  (refused nil
           :documentation "The error of the last such request, if it failed.")
  (cost 0 :documentation "Seconds that sending the text took.")
  (timer nil :documentation "The timer that sends the text.")
  (left nil
        :documentation
        "The text's hash before the buffer last followed the disk.")
  (followed nil :documentation "The seq of the diff at that time.")
  (edited nil
          :documentation
          "Decisions made as edits since the last save: (HASH . DECISION).")
  (rejects nil
           :documentation
           "Decisions that the buffer's undo can take back: (HASH . DECISION).")
  (accepted nil
            :documentation
            "`cursord-accepted' of conflicts in the text, the latest first.")
  (forgotten nil
             :documentation
             "Decisions of the lists above that the daemon has undone.")
  (steps nil
         :documentation
         "Changes by decisions: (HASH-BEFORE UNDO-BEFORE . UNDO-AFTER).")
  (undone nil
          :documentation
          "Decisions whose text undo has brought back, the latest first.")
  (noted nil
         :documentation
         "The tick of the text last compared with those before decisions.")
  (undoing nil :documentation "Whether requests to undo them are under way.")
  (deciding nil
            :documentation
            "The decision whose text is being read from the disk.")
  (reading nil
           :documentation "The `cursord-reading' that is under way, or nil.")
  (follows nil
           :documentation
           "Hashes of the texts before the buffer followed the disk.")
  (rewound nil :documentation "Hashes of the texts before rewinds.")
  (undid nil
         :documentation
         "Whether undo has changed the text since the last report.")
  (gone nil
        :documentation
        "Whether the file is gone; `untold' before a message said so.")
  (conflict nil
            :documentation
            "`written' or `deleted' if both buffer and file have changed."))

(defvar cursord--documents (make-hash-table :test #'equal)
  "Documents by file.")

(defvar-local cursord--document nil
  "The document of this buffer.")
(put 'cursord--document 'permanent-local t)

(defun cursord-document (&optional buffer)
  "Return the document of BUFFER, else of the current one; nil if it has none.
An indirect buffer has none, even if it was cloned with the variable."
  (let* ((buffer (or buffer (current-buffer)))
         (document (buffer-local-value 'cursord--document buffer)))
    (and document (eq buffer (cursord-document-buffer document)) document)))

(defun cursord-document-at (ws path)
  "Return the document of the file that diffs of WS call PATH, or nil."
  (gethash (cursord-file ws path) cursord--documents))

(defun cursord-file-buffer (ws path)
  "Return the buffer of the file that diffs of WS call PATH, made if needed.
For an existing buffer, `find-file-noselect' could ask a question."
  (if-let* ((document (cursord-document-at ws path)))
      (cursord-document-buffer document)
    (find-file-noselect (cursord-file ws path))))

(defun cursord-diff-of (document)
  "Return the diff of DOCUMENT; a clean one if it has no hunks."
  (or (gethash (cursord-document-path document)
               (cursord-workspace-diffs (cursord-document-ws document)))
      (list :path (cursord-document-path document) :state "clean"
            :kind "modified" :rev 0 :hunks [])))

(defun cursord--forget-rejects (document)
  "Forget the decisions of DOCUMENT that the daemon has undone.
They are those from the one whose text the daemon has just put into the buffer
of DOCUMENT, the current one."
  (let ((hash (buffer-hash)))
    (cl-flet ((before (decisions)
                (if-let* ((found (assoc hash decisions)))
                    (let ((older (cdr (memq found decisions))))
                      (setf (cursord-document-forgotten document)
                            (take 50
                                  (append
                                   (cl-ldiff decisions older)
                                   (cursord-document-forgotten document))))
                      older)
                  decisions)))
      (cl-callf before (cursord-document-edited document))
      (cl-callf before (cursord-document-rejects document)))))

(defun cursord--undo-top (list)
  "Return the undo LIST without the boundaries at its beginning."
  (while (and (consp list) (null (car list)))
    (setq list (cdr list)))
  list)

(defun cursord--as-step (document change)
  "Call CHANGE, which gives the current buffer, of DOCUMENT, its new text.
If that takes back the last decision, and nothing was changed in between, both
leave the undo list: undo then goes on with what was before the decision.
Return the value of CHANGE."
  (let ((hash (buffer-hash))
        (before (cursord--undo-top buffer-undo-list)))
    (prog1 (funcall change)
      (pcase-let ((now (buffer-hash))
                  (`(,was ,older . ,top)
                   (car (cursord-document-steps document))))
        (cond
         ((or (not (listp buffer-undo-list)) (equal hash now)))
         ((and (equal was now) (eq top before)
               (or (equal now (caar (cursord-document-edited document)))
                   (equal now (caar (cursord-document-rejects document)))))
          (pop (cursord-document-steps document))
          (setq buffer-undo-list older))
         (t
          (push (cons hash (cons before (cursord--undo-top buffer-undo-list)))
                (cursord-document-steps document))
          (cl-callf2 take 50 (cursord-document-steps document))))))))

(defun cursord--decision-at (document hash decision)
  "Return the number of DECISION, made when the text of DOCUMENT had HASH.
If DECISION is `redone', return that of the forgotten one with HASH, or nil."
  (if (eq decision 'redone)
      (cdr (assoc hash (cursord-document-forgotten document)))
    decision))

(defun cursord-tell-again (document)
  "Emit the diff of DOCUMENT again, so that it is drawn."
  (cursord--emit 'diff (cursord-document-ws document)
                 (cursord-diff-of document))
  (cursord--wake 0))

(defun cursord--whole-text ()
  "Return the text of the current buffer, widened."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun cursord--plain-p ()
  "Return non-nil if the current buffer has the text of its file, unconverted."
  (and (memq revert-buffer-function '(nil revert-buffer--default))
       (memq revert-buffer-insert-file-contents-function
             '(nil cursord--revert-contents
                   revert-buffer-insert-file-contents--default-function))
       enable-multibyte-characters
       (null buffer-file-format)
       (not (derived-mode-p 'special-mode 'tar-mode 'archive-mode))))

(provide 'cursord-document)
;;; cursord-document.el ends here
