;;; cursord-document.el --- What is known of the buffers of files  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; All that is known of a buffer is in a document.  There is one for each buffer
;; of a file in a workspace in use.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)

(cl-defstruct (cursord-document (:constructor cursord--document-make)
                                (:copier nil))
  "A buffer of a file in a workspace."
  buffer
  (file nil :documentation "Its name without links.")
  (path nil :documentation "What diffs call it.")
  ws
  (reviewed nil :documentation "Whether there was something to review in it.")
  (open nil :documentation "Whether the daemon has it open.")
  (named nil
         :documentation "Whether the daemon knows that it is what its file holds.")
  (mergeable 0 :documentation "How many changes on disk could come into it.")
  (merging nil
           :documentation "Whether what an agent wrote beneath it is on its way into it.")
  (version 0)
  (tick nil
        :documentation "`buffer-chars-modified-tick' of the text that the daemon knows.")
  (answered nil
            :documentation "The tick of the text that the diff is about, where that is not the disk's.")
  (cost 0 :documentation "Seconds that telling the text takes.")
  (timer nil :documentation "When the text will be told.")
  (left nil
        :documentation "Hash of the text before the disk was last followed.")
  (followed nil :documentation "The seq of the diff then.")
  (edited nil
          :documentation "Decisions that were made as edits since the last save, as `rejects' has them.")
  (rejects nil
           :documentation "The decisions that can be taken back by undo: (HASH . DECISION).")
  (forgotten nil
             :documentation "Those of them that the daemon has undone; it may redo them.")
  (undone nil
          :documentation "Decisions whose text undo has brought back, the latest first.")
  (deciding nil
            :documentation "The decision that the disk is being followed to.")
  (reading nil
           :documentation "How far the disk is being followed, if that takes a while.")
  (gone nil
        :documentation "Whether the file is not there any more; `untold' if that is still to be said.")
  (conflict nil :documentation "Whether both buffer and file have changed."))

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
  "The document of the file that diffs of WS call PATH, nil if there is none."
  (gethash (cursord-file ws path) cursord--documents))

(defun cursord-file-buffer (ws path)
  "The buffer of the file that diffs of WS call PATH, made if there is none.
Of one that is there, Emacs would ask whether to read it again."
  (if-let* ((document (cursord-document-at ws path)))
      (cursord-document-buffer document)
    (find-file-noselect (cursord-file ws path))))

(defun cursord-diff-of (document)
  "The diff of DOCUMENT; one that is clean if there is nothing to review."
  (or (gethash (cursord-document-path document)
               (cursord-workspace-diffs (cursord-document-ws document)))
      (list :path (cursord-document-path document) :state "clean"
            :kind "modified" :rev 0 :hunks [])))

(defun cursord--forget-rejects (document)
  "Forget decisions of DOCUMENT that the daemon has undone, as its text tells.
The buffer of DOCUMENT is current, and has just got that text from the daemon."
  (let ((hash (buffer-hash)))
    (cl-flet ((before (decisions)
                (if-let* ((found (assoc hash decisions)))
                    (let ((older (cdr (memq found decisions))))
                      (setf (cursord-document-forgotten document)
                            (take 50 (append (cl-ldiff decisions older)
                                             (cursord-document-forgotten document))))
                      older)
                  decisions)))
      (cl-callf before (cursord-document-edited document))
      (cl-callf before (cursord-document-rejects document)))))

(defun cursord--decision-at (document hash decision)
  "DECISION, made where the text of DOCUMENT had HASH; a number, or nil.
If it is `redone', it is the one that was undone there."
  (if (eq decision 'redone)
      (cdr (assoc hash (cursord-document-forgotten document)))
    decision))

(defun cursord-tell-again (document)
  "Have the diff of DOCUMENT drawn again."
  (cursord--emit 'diff (cursord-document-ws document)
                 (cursord-diff-of document))
  (cursord--wake 0))

(defun cursord--whole-text ()
  "The text of the current buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun cursord--plain-p ()
  "Whether the current buffer just has the text of its file."
  (and (memq revert-buffer-function '(nil revert-buffer--default))
       (memq revert-buffer-insert-file-contents-function
             '(nil cursord--revert-contents
                   revert-buffer-insert-file-contents--default-function))
       enable-multibyte-characters
       (null buffer-file-format)
       (not (derived-mode-p 'special-mode 'tar-mode 'archive-mode))))

(provide 'cursord-document)
;;; cursord-document.el ends here
