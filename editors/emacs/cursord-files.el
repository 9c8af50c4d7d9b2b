;;; cursord-files.el --- Buffers and files  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; What an agent or a decision writes is in the buffers of those files at once: a buffer without changes of its own
;; follows the disk, without a question.  One with changes is never touched: its text is told to the daemon, which then
;; measures the file's diff against it, and what is rejected there comes back as edits.
;;
;; All that is known of a buffer is in a document.  There is one for each buffer of a file in a workspace in use.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-marks)
(require 'cursord-replace)

(cl-defstruct (cursord-document (:constructor cursord--document-make) (:copier nil))
  "A buffer of a file in a workspace."
  buffer
  (file nil :documentation "Its name without links.")
  (path nil :documentation "What diffs call it.")
  ws
  (reviewed nil :documentation "Whether there was something to review in it.")
  (open nil :documentation "Whether the daemon has it open.")
  (version 0)
  (tick nil :documentation "`buffer-chars-modified-tick' of the text that the daemon knows.")
  (cost 0 :documentation "Seconds that telling the text takes.")
  (timer nil :documentation "When the text will be told.")
  (left nil :documentation "Hash of the text before the disk was last followed.")
  (rejects nil :documentation "The decisions that can be taken back by undo: (HASH . DECISION).")
  (conflict nil :documentation "Whether both buffer and file have changed."))

(defvar cursord--documents (make-hash-table :test #'equal)
  "Documents by file.")

(defvar-local cursord--document nil
  "The document of this buffer.")
(put 'cursord--document 'permanent-local t)

(defun cursord-document (&optional buffer)
  "The document of BUFFER, else of the current one, nil if there is none."
  (buffer-local-value 'cursord--document (or buffer (current-buffer))))

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
  (or (gethash (cursord-document-path document) (cursord-workspace-diffs (cursord-document-ws document)))
      (list :path (cursord-document-path document) :state "clean" :kind "modified" :rev 0 :hunks [])))

;;;; The disk

(defun cursord--whole-text ()
  "The text of the current buffer."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun cursord--read-file (file coding)
  "What FILE holds, read as CODING with whatever line ends it has.
The value is (TEXT MTIME CODING), nil if it is no file that can be read."
  (when-let* ((attributes (file-attributes file))
              ((null (file-attribute-type attributes))))
    (with-temp-buffer
      (let ((coding-system-for-read (and coding (coding-system-change-eol-conversion coding nil)))
            (after-insert-file-functions nil)
            (format-alist nil))
        (ignore-error file-error
          (insert-file-contents file)
          (list (buffer-string) (file-attribute-modification-time attributes) last-coding-system-used))))))

(defun cursord--plain-p ()
  "Whether the current buffer just has the text of its file."
  (and (memq revert-buffer-function '(nil revert-buffer--default))
       (memq revert-buffer-insert-file-contents-function '(nil revert-buffer-insert-file-contents--default-function))
       enable-multibyte-characters
       (null buffer-file-format)
       (not (derived-mode-p 'special-mode 'tar-mode 'archive-mode))))

(defun cursord--take-disk (mtime)
  "Have Emacs know that the current buffer is as the file was at MTIME."
  ;; No question whether to edit it, no lock.
  (let ((buffer-file-truename nil))
    (set-visited-file-modtime mtime)
    (set-buffer-modified-p nil)))

(defvar cursord--following nil
  "Whether a buffer is brought to what is on disk.")

(defun cursord--follow (document)
  "Bring the current buffer, of DOCUMENT and without changes, to what is on disk."
  (unless (verify-visited-file-modtime)
    (let ((cursord--following t))
      (if (not (cursord--plain-p))
          (let ((inhibit-message t))
            (when (file-exists-p buffer-file-name)
              (revert-buffer t t t)))
        (cursord--follow-text document)))))

(defun cursord--follow-text (document)
  "Make the text of the file of DOCUMENT that of the current buffer."
  (when-let* ((disk (cursord--read-file (cursord-document-file document)
                                        (and (> (buffer-size) 0) buffer-file-coding-system))))
    (pcase-let ((`(,text ,mtime ,coding) disk)
                (left (buffer-hash))
                (changed nil))
      (let ((buffer-file-truename nil))
        ;; Undo of what follows then leaves a buffer with changes, and nothing is locked.
        (set-buffer-modified-p t)
        (unwind-protect
            (setq changed (cursord-as-one-step (cursord-replace-text text)))
          (setq buffer-file-coding-system coding)
          (cursord--take-disk mtime)))
      (when changed
        (setf (cursord-document-left document) left)
        (cursord-run-hook 'after-revert-hook)))))

(defun cursord--settle (document)
  "If the current buffer, of DOCUMENT, is as the disk, have Emacs know that."
  (when (cursord--plain-p)
    (let ((size (file-attribute-size (file-attributes (cursord-document-file document)))))
      (when (and size
                 ;; Anything else is read.
                 (or (not (eq (coding-system-eol-type buffer-file-coding-system) 0))
                     (coding-system-get buffer-file-coding-system :bom)
                     (eql size (1- (position-bytes (save-restriction (widen) (point-max)))))))
        (pcase (cursord--read-file (cursord-document-file document) buffer-file-coding-system)
          (`(,text ,mtime ,_)
           (when (string= text (cursord--whole-text))
             (cursord--take-disk mtime))))))))

;;;; Telling

(defconst cursord--tell-pause 0.08
  "Typing is told after so many seconds without any.")

(defconst cursord--tell-factor 8
  "Typing is told after a pause that is so many times as long as telling takes.")

(defun cursord--in-sync-p (document)
  "Whether the daemon knows the text of DOCUMENT."
  (with-current-buffer (cursord-document-buffer document)
    (if (or (buffer-modified-p) (cursord-document-open document))
        (and (cursord-document-open document)
             (eql (cursord-document-tick document) (buffer-chars-modified-tick)))
      t)))

(defun cursord--text-p ()
  "Whether the file of the current buffer is text, as the daemon knows it."
  (and (cursord--plain-p)
       (memq (coding-system-type (or buffer-file-coding-system 'undecided)) '(utf-8 undecided))
       (not (eql (coding-system-eol-type (or buffer-file-coding-system 'undecided)) 2))))

(defun cursord--taken-back (document)
  "The decision that undo in the current buffer, of DOCUMENT, has taken back."
  (when (and (cursord-document-rejects document) (buffer-modified-p))
    (let ((found (assoc (buffer-hash) (cursord-document-rejects document))))
      (setf (cursord-document-rejects document) (delq found (cursord-document-rejects document)))
      (cdr found))))

(defun cursord--tell-text (document)
  "Tell the daemon the text of the current buffer, of DOCUMENT."
  (let ((began (current-time))
        (ws (cursord-document-ws document)))
    (cl-incf (cursord-document-version document))
    (setf (cursord-document-tick document) (buffer-chars-modified-tick))
    (cursord-notify ws (if (cursord-document-open document) :document/didChange :document/didOpen)
                    (list :uri (cursord-uri ws (cursord-document-file document))
                          :version (cursord-document-version document)
                          :text (cursord--whole-text)))
    (setf (cursord-document-open document) (and (cursord-connection-to (cursord-workspace-host ws)) t)
          (cursord-document-cost document) (float-time (time-since began)))))

(defun cursord-report (document &optional done)
  "Tell the daemon the text of DOCUMENT if it does not know it.
DONE is called when the diff is there that fits it."
  (let ((buffer (cursord-document-buffer document))
        (ws (cursord-document-ws document))
        (done (or done #'ignore)))
    (if (not (and (buffer-live-p buffer)
                  (cursord-document-reviewed document)
                  (cursord-connection-to (cursord-workspace-host ws))
                  (not (cursord--in-sync-p document))
                  (with-current-buffer buffer (cursord--text-p))))
        (funcall done)
      (with-current-buffer buffer
        (if-let* ((decision (cursord--taken-back document)))
            (cursord-request
             ws :diff/undo (list :decision decision)
             :then (lambda (result)
                     (cursord--put-diffs ws (plist-get result :diffs))
                     (cursord-report document done))
             ;; Something else was decided meanwhile: it is just text.
             :else (lambda (_err) (cursord-report document done)))
          (cursord--tell-text document)
          (let ((tick (cursord-document-tick document)))
            (cursord-request
             ws :diff/list (list :path (cursord-document-path document))
             :then (lambda (result)
                     (when (and (eq document (and (buffer-live-p buffer) (cursord-document buffer)))
                                (eql tick (with-current-buffer buffer (buffer-chars-modified-tick))))
                       (let ((diffs (plist-get result :diffs)))
                         (cursord-put-diff ws (if (seq-empty-p diffs)
                                                  (list :path (cursord-document-path document) :state "clean" :kind "modified"
                                                        :rev 0 :hunks [])
                                                (seq-first diffs)))))
                     (funcall done))
             :else (lambda (_err) (funcall done)))))))))

(defun cursord--put-diffs (ws diffs)
  "Take DIFFS of an answer for what is so in WS, also in buffers."
  (seq-doseq (diff diffs)
    (cursord-put-diff ws diff)
    (when-let* ((document (cursord-document-at ws (plist-get diff :path))))
      (cursord--document-show document))))

(defun cursord--report-soon (document)
  "Tell the daemon the text of DOCUMENT when nobody types."
  (when (timerp (cursord-document-timer document))
    (cancel-timer (cursord-document-timer document)))
  (setf (cursord-document-timer document)
        (run-at-time (max cursord--tell-pause (* cursord--tell-factor (cursord-document-cost document))) nil
                     (lambda ()
                       (setf (cursord-document-timer document) nil)
                       (cursord-protected #'cursord-report document)))))

(defun cursord-flush (ws done)
  "Call DONE when the daemon knows the text of all buffers of WS under review."
  (let* ((left 1)
         (one (lambda () (when (zerop (cl-decf left)) (funcall done)))))
    (dolist (document (hash-table-values cursord--documents))
      (when (and (eq ws (cursord-document-ws document)) (cursord-document-reviewed document))
        (cl-incf left)
        (cursord-report document one)))
    (funcall one)))

;;;; Showing

(defun cursord--note-conflict (document)
  "Find out whether the buffer of DOCUMENT, the current one, has a conflict.
That is so if both it and its file have changed."
  (let ((conflict (and (buffer-modified-p) (not (verify-visited-file-modtime))))
        (was (cursord-document-conflict document)))
    (setf (cursord-document-conflict document) conflict)
    (unless (eq conflict was)
      (cursord--tell-again document)
      (when conflict
        (cursord-say "%s has unsaved changes, and was written meanwhile; nothing is lost, see M-x cursord-review"
                     (cursord-document-path document))))))

(defun cursord--tell-again (document)
  "Have the diff of DOCUMENT drawn again."
  (cursord--emit 'diff (cursord-document-ws document) (cursord-diff-of document))
  (cursord--wake 0))

(defun cursord--document-show (document)
  "Bring the buffer of DOCUMENT and its marks to what its diff says."
  (let ((diff (cursord-diff-of document))
        (buffer (cursord-document-buffer document)))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer
        (when (equal (plist-get diff :state) "pending")
          (setf (cursord-document-reviewed document) t))
        (when (buffer-modified-p)
          (cursord--settle document))
        (unless (buffer-modified-p)
          (cursord--follow document))
        (cursord--note-conflict document)
        (if (cursord--in-sync-p document)
            (cursord-marks-show diff)
          (cursord--report-soon document))))))

(defvar cursord--to-show nil
  "Documents whose buffers are to be brought to what is known, in order.")

(defconst cursord--show-slice 0.015
  "Seconds after which the rest waits.")

(defun cursord--show-some ()
  "Show the documents of `cursord--to-show', for `cursord--show-slice' at most."
  (let ((limit (time-add nil cursord--show-slice)))
    (while (and cursord--to-show (time-less-p nil limit))
      (cursord-protected #'cursord--document-show (pop cursord--to-show)))
    (when cursord--to-show
      (run-at-time 0.01 nil #'cursord--show-some))))

(defun cursord--files-event (event ws object _before)
  "Hear of EVENT in WS, with OBJECT."
  (pcase event
    ('diff
     (when-let* ((document (cursord-document-at ws (plist-get object :path))))
       (unless (memq document cursord--to-show)
         (setq cursord--to-show (nconc cursord--to-show (list document))))))
    ('update (cursord--show-some))
    ('down
     (dolist (document (hash-table-values cursord--documents))
       (when (eq ws (cursord-document-ws document))
         (setf (cursord-document-open document) nil
               (cursord-document-tick document) nil))))
    ('ready
     (add-hook 'find-file-hook #'cursord--attach)
     (add-hook 'after-set-visited-file-name-hook #'cursord--attach)
     (dolist (buffer (buffer-list))
       (cursord--attach buffer))
     (dolist (document (hash-table-values cursord--documents))
       (when (eq ws (cursord-document-ws document))
         (cursord-report document))))
    ('reset
     (maphash (lambda (path _diff)
                (when-let* ((document (cursord-document-at ws path))
                            ((buffer-live-p (cursord-document-buffer document))))
                  (with-current-buffer (cursord-document-buffer document)
                    (cursord-marks-clear))))
              object))))

(add-hook 'cursord-event-functions #'cursord--files-event)

;;;; Buffers

(defun cursord--attach (&optional buffer)
  "Make a document of BUFFER, else of the current one.
That is for files in a workspace in use."
  (with-current-buffer (or buffer (current-buffer))
    (let* ((file (and buffer-file-name buffer-file-truename (not (buffer-base-buffer))
                      (expand-file-name buffer-file-truename)))
           (ws (and file (cursord--workspace-of-file file)))
           (old cursord--document))
      (unless (and old (equal file (cursord-document-file old)) (eq ws (cursord-document-ws old)))
        (when old
          (cursord--detach))
        (when ws
          (let ((document (cursord--document-make :buffer (current-buffer) :file file :path (cursord-path ws file) :ws ws)))
            (setq cursord--document document)
            (puthash file document cursord--documents)
            (add-hook 'after-change-functions #'cursord--changed nil t)
            (add-hook 'before-save-hook #'cursord--before-save 90 t)
            (add-hook 'after-save-hook #'cursord--saved nil t)
            (add-hook 'after-revert-hook #'cursord--reverted nil t)
            (add-hook 'kill-buffer-hook #'cursord--detach nil t)
            (when (gethash (cursord-document-path document) (cursord-workspace-diffs ws))
              (cursord-protected #'cursord--document-show document))))))))

(defun cursord--detach ()
  "Forget the document of the current buffer."
  (when-let* ((document cursord--document))
    (let ((ws (cursord-document-ws document)))
      (when (timerp (cursord-document-timer document))
        (cancel-timer (cursord-document-timer document)))
      (when (cursord-document-open document)
        (setf (cursord-document-open document) nil)
        (cursord-notify ws :document/didClose (list :uri (cursord-uri ws (cursord-document-file document)))))
      (setq cursord--document nil)
      (when (eq document (gethash (cursord-document-file document) cursord--documents))
        (remhash (cursord-document-file document) cursord--documents))
      (when (cursord-document-conflict document)
        (cursord--tell-again document))
      (cursord-marks-clear))))

(defun cursord--changed (&rest _)
  "Have the daemon know of a change of the current buffer."
  (when (and cursord--document (cursord-document-reviewed cursord--document))
    (cursord--report-soon cursord--document)))

(defun cursord--before-save ()
  "Have the daemon know that what is saved is a person's."
  (when-let* ((document cursord--document)
              ((or (cursord-document-reviewed document)
                   (cursord-busy-turns (cursord-document-ws document))))
              ((not (cursord--in-sync-p document)))
              ((cursord--text-p)))
    (cursord-protected #'cursord--tell-text document)))

(defun cursord--saved ()
  "Hear that the current buffer was saved."
  (cursord--attach)
  (cursord-protected #'cursord--tell-saved))

(defun cursord--tell-saved ()
  "Tell the daemon that the current buffer was saved."
  (when-let* ((document cursord--document)
              (ws (cursord-document-ws document)))
    (when (cursord-document-open document)
      (unless (eql (cursord-document-tick document) (buffer-chars-modified-tick))
        (cursord--tell-text document))
      (cl-incf (cursord-document-version document))
      (cursord-notify ws :document/didSave (list :uri (cursord-uri ws (cursord-document-file document))
                                                 :version (cursord-document-version document))))
    (cursord--note-conflict document)))

(defun cursord--reverted ()
  "Show the hunks of the current buffer again, which was read again."
  (when (and cursord--document (not cursord--following))
    (cursord--note-conflict cursord--document)
    (when (cursord-document-reviewed cursord--document)
      (if (cursord--in-sync-p cursord--document)
          (cursord-marks-show (cursord-diff-of cursord--document))
        (cursord--report-soon cursord--document)))))

(dolist (hook '(cursord--changed cursord--before-save cursord--saved cursord--reverted cursord--detach))
  (put hook 'permanent-local-hook t))

(provide 'cursord-files)
;;; cursord-files.el ends here
