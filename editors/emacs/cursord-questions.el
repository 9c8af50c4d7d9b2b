;;; cursord-questions.el --- Questions on the disk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Emacs asks before it edits or saves a buffer whose file has changed.  While
;; agents work, that is mostly so between an agent's write and the daemon's
;; report of it, and the answer would be a key that a person types for the text.

;;; Code:

(require 'cursord-workspace)
(require 'cursord-turns)
(require 'cursord-document)
(require 'cursord-report)

(defun cursord--written-by-agents-p (document)
  "Return non-nil if agents may have written the file of DOCUMENT just now."
  (and document
       (cursord-busy-turns (cursord-document-ws document))
       (cursord-connection-to
        (cursord-workspace-host (cursord-document-ws document)))
       (cursord--text-p)))

(defun cursord--edit-unasked-p (_file)
  "Return non-nil if the current buffer is to be edited without a question.
What is on disk then comes into it as into any buffer with unsaved changes."
  (and (not (buffer-modified-p))
       (cursord--written-by-agents-p (cursord-document))))

(defun cursord--await-disk (&rest _)
  "Wait until what agents have written is in the current buffer, modified.
Where another program has changed the person's lines, Emacs is to ask."
  (let ((document (cursord-document (or (buffer-base-buffer)
                                        (current-buffer)))))
    (when (and (buffer-modified-p)
               (cursord--written-by-agents-p document))
      (cursord--await
       cursord--tell-most
       (lambda ()
         (or (verify-visited-file-modtime)
             (> (or (plist-get (cursord-diff-of document) :overlaps) 0) 0)
             (progn
               (unless (cursord--in-sync-p document)
                 (cursord-report document))
               nil)))))))

(defun cursord-questions-leave-out ()
  "Leave out the questions that come from agents' writes."
  (advice-add 'ask-user-about-supersession-threat :before-until
              #'cursord--edit-unasked-p)
  (advice-add 'basic-save-buffer :before #'cursord--await-disk))

(provide 'cursord-questions)
;;; cursord-questions.el ends here
