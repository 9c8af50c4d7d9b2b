;;; cursord-disk.el --- Buffers that follow the disk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer without changes of its own gets what was written to its file, and
;; keeps what is at the text that stays.  A large one is compared with its file
;; a slice at a time, so that keys are heard, and is changed at once in the end.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-replace)

(cl-defstruct (cursord-reading (:constructor cursord--reading-make)
                               (:copier nil))
  "What was read of a file that a buffer is to follow."
  (buffer nil :documentation "A buffer that has it.")
  mtime
  coding
  (tick nil :documentation "Of the buffer that follows.")
  (left nil :documentation "Hash of that buffer's text.")
  comparison)

(defconst cursord--follow-at-once 300000
  "Up to so many characters, of buffer and file, are followed at once.")

(defconst cursord--follow-slice 0.008
  "Seconds after which the rest waits.")

;;;; Reading

(defun cursord--insert-file (file coding)
  "Insert what FILE holds, read as CODING with whatever line ends it has.
The value is (MTIME CODING), nil if it is no file that can be read."
  (when-let* ((attributes (file-attributes file))
              ((null (file-attribute-type attributes))))
    (let ((coding-system-for-read (and coding
                                       (coding-system-change-eol-conversion coding nil)))
          (after-insert-file-functions nil)
          (format-alist nil))
      (ignore-error file-error
        (insert-file-contents file)
        (list (file-attribute-modification-time attributes)
              last-coding-system-used)))))

(defun cursord--read-file (file coding)
  "What FILE holds, read as CODING with whatever line ends it has.
The value is (TEXT MTIME CODING), nil if it is no file that can be read."
  (with-temp-buffer
    (when-let* ((read (cursord--insert-file file coding)))
      (cons (buffer-string) read))))

(defun cursord--take-disk (mtime)
  "Have Emacs know that the current buffer is as the file was at MTIME."
  ;; No question whether to edit it, no lock.
  (let ((buffer-file-truename nil))
    (set-visited-file-modtime mtime)
    (set-buffer-modified-p nil))
  (cursord--refresh-vc-soon))

(defun cursord--settle (document)
  "If the current buffer, of DOCUMENT, is as the disk, have Emacs know that."
  (when (cursord--plain-p)
    (let ((size (file-attribute-size (file-attributes (cursord-document-file document)))))
      (when (and size
                 ;; Anything else is read.
                 (or (not (eq (coding-system-eol-type buffer-file-coding-system)
                              0))
                     (coding-system-get buffer-file-coding-system :bom)
                     (eql size
                          (1- (position-bytes (save-restriction (widen)
                                                                (point-max)))))))
        (pcase (cursord--read-file (cursord-document-file document)
                                   buffer-file-coding-system)
          (`(,text ,mtime ,_)
           (when (string= text (cursord--whole-text))
             ;; It was locked when it was changed.
             (unlock-buffer)
             (cursord--take-disk mtime))))))))

;;;; Following

(defvar cursord--following nil
  "Whether a buffer is brought to what is on disk.")

(defvar cursord--deciding)              ; what is decided here now

(defun cursord--tramp-busy-p (document)
  "Whether DOCUMENT is TRAMP's, and TRAMP is in the middle of something.
Timers run then too, and it would take one answer for the other."
  (and (cursord-workspace-host (cursord-document-ws document))
       (let ((busy nil))
         (mapbacktrace (lambda (_evald function &rest _)
                         (when (eq function 'tramp-file-name-handler)
                           (setq busy t))))
         busy)))

(defun cursord--disk-known-p (document)
  "Whether the current buffer, of DOCUMENT, has what is on disk."
  (and (verify-visited-file-modtime)
       ;; TRAMP takes times for equal that are two seconds apart: what was told
       ;; since then is looked at.
       (or (null (cursord-workspace-host (cursord-document-ws document)))
           (eql (cursord-document-followed document)
                (cursord--seq-of document)))))

(defun cursord--seq-of (document)
  "The seq of the latest diff of DOCUMENT."
  (cursord-diff-seq (cursord-document-ws document)
                    (cursord-document-path document)))

(defun cursord--follow (document)
  "Bring the current buffer, of DOCUMENT and without changes, to what is on disk.
Return whether that takes a while; in the end the document is shown again."
  (cond
   ((cursord-document-reading document))
   ((cursord--disk-known-p document) nil)
   ((cursord--plain-p) (cursord--follow-text document))
   ((file-exists-p buffer-file-name)
    (let ((cursord--following t)
          (inhibit-message t))
      (revert-buffer t t t))
    nil)))

(defun cursord--follow-text (document)
  "Make the text of the file of DOCUMENT that of the current buffer.
Return whether that takes a while."
  (if-let* ((reading (cursord--begin-reading document)))
      (if (<= (+ (buffer-size) (buffer-size (cursord-reading-buffer reading)))
              cursord--follow-at-once)
          (progn
            (unwind-protect
                (progn
                  (setf (cursord-reading-left reading) (buffer-hash))
                  (cursord-compare-on (cursord-reading-comparison reading))
                  (cursord--take-reading document reading))
              (kill-buffer (cursord-reading-buffer reading)))
            nil)
        (setf (cursord-document-reading document) reading)
        (cursord--follow-later document)
        t)
    (unless (or (cursord-document-gone document)
                (file-exists-p buffer-file-name))
      (cursord--note-gone document))
    nil))

(defun cursord--begin-reading (document)
  "Read the file of DOCUMENT, whose buffer is current; nil if that cannot be."
  (setf (cursord-document-followed document) (cursord--seq-of document))
  (let* ((coding (and (> (buffer-size) 0) buffer-file-coding-system))
         (buffer (generate-new-buffer " *cursord disk*" t))
         (read (with-current-buffer buffer
                 (buffer-disable-undo)
                 (cursord--insert-file (cursord-document-file document)
                                       coding))))
    (if (null read)
        (progn (kill-buffer buffer) nil)
      (cursord--reading-make :buffer buffer :mtime (car read)
                             :coding (cadr read)
                             :tick (buffer-chars-modified-tick)
                             :comparison (cursord-compare-buffers (current-buffer) buffer)))))

(defun cursord--take-reading (document reading &optional reverting)
  "Have the current buffer, of DOCUMENT, be what READING has, which is compared.
Hooks are run, unless somebody is REVERTING the buffer, who does that."
  (let ((cursord--following t)
        (changed nil))
    (let ((buffer-file-truename nil))
      ;; Undo of what follows then leaves a buffer with changes, and nothing is
      ;; locked.
      (set-buffer-modified-p t)
      (unwind-protect
          (setq changed
                (cursord-as-one-step (cursord-compared-replace (cursord-reading-comparison reading))))
        (setq buffer-file-coding-system (cursord-reading-coding reading))
        (cursord--take-disk (cursord-reading-mtime reading))))
    (setf (cursord-document-gone document) nil)
    (when changed
      (cursord--forget-rejects document)
      (setf (cursord-document-left document) (cursord-reading-left reading))
      (unless reverting
        (cursord-run-hook 'after-revert-hook)))))

;;;; Others that read files again

(defun cursord--revert-contents (file auto-save)
  "Insert what FILE holds, unless AUTO-SAVE, and keep what is at text that stays.
Auto Revert may be earlier than what the daemon tells; point and undo are to be
where they would be else."
  (let ((document (cursord-document)))
    (if-let* (((not (or auto-save coding-system-for-read)))
              (document)
              ((equal (expand-file-name file) (expand-file-name buffer-file-name)))
              ((not (cursord-document-reading document)))
              (reading (cursord--begin-reading document)))
        (unwind-protect
            (if (> (+ (buffer-size)
                      (buffer-size (cursord-reading-buffer reading)))
                   cursord--follow-at-once)
                (revert-buffer-insert-file-contents--default-function file nil)
              (unlock-buffer)
              (widen)
              (setf (cursord-reading-left reading) (buffer-hash))
              (cursord-compare-on (cursord-reading-comparison reading))
              (cursord--take-reading document reading t))
          (kill-buffer (cursord-reading-buffer reading)))
      (revert-buffer-insert-file-contents--default-function file auto-save))))

;;;; Version control

(defvar cursord--to-refresh nil
  "Buffers of which version control may say something else now.")

(defun cursord--refresh-vc-soon ()
  "Have version control look at the file of the current buffer again.
That runs a program, so it is done when no keys wait, and once for several
changes."
  (when (and (bound-and-true-p vc-mode) (not (file-remote-p buffer-file-name)))
    (unless cursord--to-refresh
      (run-at-time 0.3 nil #'cursord--refresh-vc))
    (cl-pushnew (current-buffer) cursord--to-refresh)))

(defun cursord--refresh-vc ()
  "Have version control look at the files of `cursord--to-refresh' again."
  (while (and cursord--to-refresh (not (input-pending-p)))
    (let ((buffer (pop cursord--to-refresh)))
      (when (buffer-live-p buffer)
        (with-current-buffer buffer
          (cursord-protected #'vc-refresh-state)))))
  (when cursord--to-refresh
    (run-at-time 0.3 nil #'cursord--refresh-vc)))

;;;; A slice at a time

(defun cursord--follow-later (document)
  "Go on with what was read for DOCUMENT when keys were heard."
  (run-at-time 0.01 nil #'cursord-protected #'cursord--follow-on document))

(defun cursord--reading-fits-p (document reading)
  "Whether neither the buffer of DOCUMENT nor the file has changed since READING."
  (and (eq document (cursord-document))
       (eql (cursord-reading-tick reading) (buffer-chars-modified-tick))
       (not (buffer-modified-p))
       (time-equal-p (cursord-reading-mtime reading)
                     (file-attribute-modification-time (file-attributes (cursord-document-file document))))))

(defun cursord--follow-on (document)
  "Go on with what was read for DOCUMENT, for `cursord--follow-slice' at most."
  (let* ((reading (cursord-document-reading document))
         (buffer (cursord-document-buffer document))
         (remote-file-name-inhibit-cache t)
         (fits (cond ((not (buffer-live-p buffer)) nil)
                     ((cursord--tramp-busy-p document) 'busy)
                     (t (with-current-buffer buffer
                          (cursord--reading-fits-p document reading))))))
    (cond
     ((eq fits 'busy) (cursord--follow-later document))
     ((not fits) (cursord--end-reading document))
     ((null (cursord-reading-left reading))
      (setf (cursord-reading-left reading) (buffer-hash buffer))
      (cursord--follow-later document))
     ((not (cursord-compare-on (cursord-reading-comparison reading)
                               (time-add nil cursord--follow-slice)))
      (cursord--follow-later document))
     (t
      (unwind-protect
          (with-current-buffer buffer
            (cursord--take-reading document reading))
        (let ((decision (cursord-document-deciding document)))
          (cursord--end-reading document)
          (cursord--undo-leads-to document decision)))))))

(defun cursord--end-reading (document)
  "Forget what was read for DOCUMENT, and show it."
  (kill-buffer (cursord-reading-buffer (cursord-document-reading document)))
  (setf (cursord-document-reading document) nil
        (cursord-document-deciding document) nil)
  (when (buffer-live-p (cursord-document-buffer document))
    (cursord-tell-again document)))

(defun cursord--undo-leads-to (document decision)
  "Have undo in the buffer of DOCUMENT take back DECISION, or one `redone'.
Its text was read from the disk; if that goes on, do so in the end."
  (when decision
    (if (cursord-document-reading document)
        (setf (cursord-document-deciding document) decision)
      (when-let* ((left (cursord-document-left document))
                  (decision (cursord--decision-at document left decision)))
        (setf (cursord-document-left document) nil
              (cursord-document-rejects document)
              (cons (cons left decision)
                    (take 50 (cursord-document-rejects document))))))))

;;;; Files that are gone

(defun cursord-gone-text (documents)
  "What is said of DOCUMENTS whose files are gone."
  (format "%s not on disk any more; to write %s again, save %s"
          (if (cdr documents) (format "%d files are" (length documents))
            (concat (cursord-document-path (car documents)) " is"))
          (if (cdr documents) "them" "it")
          (if (cdr documents) "their buffers" "its buffer")))

(defun cursord--note-gone (document)
  "Say that the file of DOCUMENT, whose buffer is current, is not there any more.
The buffer stays as it is.  Saving it writes the file again, as always, and
nothing else does: its text is not wanted."
  ;; Nobody is asked whether to edit it.
  (set-visited-file-modtime -1)
  (setf (cursord-document-gone document) 'untold)
  ;; A decision that is being made here says it with its own words.
  (unless (assq (cursord-document-ws document)
                (bound-and-true-p cursord--deciding))
    (setf (cursord-document-gone document) t)
    (cursord-say "%s" (cursord-gone-text (list document)))))

(provide 'cursord-disk)
;;; cursord-disk.el ends here
