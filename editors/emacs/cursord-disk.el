;;; cursord-disk.el --- Buffers follow the disk  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A buffer without unsaved changes gets new text of its file; point, markers
;; and overlays stay at the text that stays.  A large buffer is compared with
;; its file a slice at a time, so that keys are heard, and then changed at once.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-replace)

(cl-defstruct (cursord-reading (:constructor cursord--reading-make)
                               (:copier nil))
  "The text of a file that a buffer is to get."
  (buffer nil :documentation "A temporary buffer with that text.")
  mtime
  coding
  (tick nil :documentation "The tick of the buffer that follows.")
  (left nil :documentation "The hash of that buffer's text.")
  comparison)

(defconst cursord--follow-at-once 300000
  "The most characters, of buffer and file, that are compared without slices.")

(defconst cursord--follow-slice 0.008
  "The most seconds of a slice.")

;;;; Reading

(defun cursord--insert-file (file coding)
  "Insert the text of FILE, decoded by CODING with the line ends that it has.
Return (MTIME CODING), or nil if FILE is no readable file."
  (when-let* ((attributes (file-attributes file))
              ((null (file-attribute-type attributes))))
    (let ((coding-system-for-read
           (and coding (coding-system-change-eol-conversion coding nil)))
          (after-insert-file-functions nil)
          (format-alist nil))
      (ignore-error file-error
        (insert-file-contents file)
        (list (file-attribute-modification-time attributes)
              last-coding-system-used)))))

(defun cursord--read-file (file coding)
  "Read FILE, decoded by CODING with the line ends that it has.
Return (TEXT MTIME CODING), or nil if FILE is no readable file."
  (with-temp-buffer
    (when-let* ((read (cursord--insert-file file coding)))
      (cons (buffer-string) read))))

(defun cursord--take-disk (mtime)
  "Mark the current buffer as unmodified, with the text of its file at MTIME."
  ;; Without a true name Emacs neither asks a question nor locks the file.
  (let ((buffer-file-truename nil))
    (set-visited-file-modtime mtime)
    (set-buffer-modified-p nil))
  (cursord--refresh-vc-soon))

(defun cursord--settle (document)
  "Mark the current buffer, of DOCUMENT, as unmodified if it is as its file."
  (when (cursord--plain-p)
    (let ((size (file-attribute-size
                 (file-attributes (cursord-document-file document)))))
      (when (and size
                 ;; Compare sizes first, where characters are bytes.
                 (or (not (eq (coding-system-eol-type buffer-file-coding-system)
                              0))
                     (coding-system-get buffer-file-coding-system :bom)
                     (eql size
                          (1- (position-bytes
                               (save-restriction (widen) (point-max)))))))
        (pcase (cursord--read-file (cursord-document-file document)
                                   buffer-file-coding-system)
          (`(,text ,mtime ,_)
           (when (string= text (cursord--whole-text))
             ;; Emacs had locked it at its first change.
             (unlock-buffer)
             (cursord--take-disk mtime))))))))

;;;; Following

(defvar cursord--following nil
  "Whether the package is changing a buffer to the text of its file.")

(defvar cursord--deciding)

(defun cursord--tramp-busy-p (document)
  "Return non-nil if DOCUMENT is on another machine and TRAMP waits for it.
Timers run while TRAMP waits, and a second request would get the wrong answer."
  (and (cursord-workspace-host (cursord-document-ws document))
       (let ((busy nil))
         (mapbacktrace (lambda (_evald function &rest _)
                         (when (eq function 'tramp-file-name-handler)
                           (setq busy t))))
         busy)))

(defun cursord--disk-known-p (document)
  "Return non-nil if the current buffer, of DOCUMENT, is as its file."
  (and (verify-visited-file-modtime)
       ;; TRAMP takes times for equal that are two seconds apart.  So the seq
       ;; must be that of the last reading, too.
       (or (null (cursord-workspace-host (cursord-document-ws document)))
           (eql (cursord-document-followed document)
                (cursord--seq-of document)))))

(defun cursord--seq-of (document)
  "Return the seq of the latest diff of DOCUMENT."
  (cursord-diff-seq (cursord-document-ws document)
                    (cursord-document-path document)))

(defun cursord--follow (document)
  "Give the current buffer, of DOCUMENT, the text of its file.
The buffer has no unsaved changes.  Return non-nil if that goes on later; then
the document is shown again in the end."
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
  "Give the current buffer the text of the file of DOCUMENT.
Return non-nil if that goes on later."
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
  "Read the file of DOCUMENT, whose buffer is current; return nil on failure."
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
                             :comparison (cursord-compare-buffers
                                          (current-buffer) buffer)))))

(defun cursord--take-reading (document reading &optional reverting)
  "Give the current buffer, of DOCUMENT, the text of READING, which is compared.
Run `after-revert-hook', unless REVERTING: then `revert-buffer' runs it."
  (let ((cursord--following t)
        (changed nil))
    (let ((buffer-file-truename nil))
      ;; So that a later undo leaves a modified buffer.
      (set-buffer-modified-p t)
      (unwind-protect
          (setq changed
                (cursord--as-step
                 document
                 (lambda ()
                   (cursord-as-one-step
                     (cursord-compared-replace
                      (cursord-reading-comparison reading))))))
        (setq buffer-file-coding-system (cursord-reading-coding reading))
        (cursord--take-disk (cursord-reading-mtime reading))))
    (setf (cursord-document-gone document) nil)
    (when changed
      (cursord--forget-rejects document)
      (setf (cursord-document-left document) (cursord-reading-left reading)
            (cursord-document-follows document)
            (cons (cursord-reading-left reading)
                  (take 20 (cursord-document-follows document))))
      (unless reverting
        (cursord-run-hook 'after-revert-hook)))))

;;;; Reverts by others

(defun cursord--revert-contents (file auto-save)
  "Insert the text of FILE, unless AUTO-SAVE, and keep point, markers and undo.
Auto Revert may come before the daemon's notification, and shall do no harm."
  (let ((document (cursord-document)))
    (if-let* (((not (or auto-save coding-system-for-read)))
              (document)
              ((equal (expand-file-name file)
                      (expand-file-name buffer-file-name)))
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
  "Buffers whose state in version control may have changed.")

(defun cursord--refresh-vc-soon (&optional renamed)
  "Refresh the version control state of the current buffer soon.
If it has none, do so only if its file was RENAMED.
That runs a program, so it waits for keys, and several changes share one run."
  (when (and (or renamed (bound-and-true-p vc-mode))
             (not (file-remote-p buffer-file-name)))
    (unless cursord--to-refresh
      (run-at-time 0.3 nil #'cursord--refresh-vc))
    (cl-pushnew (current-buffer) cursord--to-refresh)))

(defun cursord--refresh-vc ()
  "Refresh the version control state of `cursord--to-refresh'."
  (while (and cursord--to-refresh (not (input-pending-p)))
    (let ((buffer (pop cursord--to-refresh)))
      (when (buffer-live-p buffer)
        (with-current-buffer buffer
          ;; `vc-refresh-state' fails if the file is gone.
          (when (and buffer-file-name (file-exists-p buffer-file-name))
            (cursord-protected #'vc-refresh-state))))))
  (when cursord--to-refresh
    (run-at-time 0.3 nil #'cursord--refresh-vc)))

;;;; A slice at a time

(defun cursord--follow-later (document)
  "Go on with the reading of DOCUMENT after keys were heard."
  (run-at-time 0.01 nil #'cursord-protected #'cursord--follow-on document))

(defun cursord--reading-fits-p (document reading)
  "Return non-nil if buffer and file of DOCUMENT are as READING has found them."
  (and (eq document (cursord-document))
       (eql (cursord-reading-tick reading) (buffer-chars-modified-tick))
       (not (buffer-modified-p))
       (time-equal-p (cursord-reading-mtime reading)
                     (file-attribute-modification-time
                      (file-attributes (cursord-document-file document))))))

(defun cursord--follow-on (document)
  "Go on with the reading of DOCUMENT, for `cursord--follow-slice' at most."
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
  "End the reading of DOCUMENT, and show the document."
  (kill-buffer (cursord-reading-buffer (cursord-document-reading document)))
  (setf (cursord-document-reading document) nil
        (cursord-document-deciding document) nil)
  (when (buffer-live-p (cursord-document-buffer document))
    (cursord-tell-again document)))

(defun cursord--undo-leads-to (document decision)
  "Let undo in the buffer of DOCUMENT take back DECISION, a number or `redone'.
The buffer has just got its text, or will get it when a reading ends."
  (when decision
    (if (cursord-document-reading document)
        (setf (cursord-document-deciding document) decision)
      (when-let* ((left (cursord-document-left document))
                  (decision (cursord--decision-at document left decision)))
        (setf (cursord-document-left document) nil
              (cursord-document-rejects document)
              (cons (cons left decision)
                    (take 50 (cursord-document-rejects document))))))))

;;;; Deleted files

(defun cursord-gone-text (documents)
  "Return the message about DOCUMENTS whose files are gone."
  (format "%s not on disk any more; to write %s again, save %s"
          (if (cdr documents) (format "%d files are" (length documents))
            (concat (cursord-document-path (car documents)) " is"))
          (if (cdr documents) "them" "it")
          (if (cdr documents) "their buffers" "its buffer")))

(defun cursord--note-gone (document)
  "Note that the file of DOCUMENT, whose buffer is current, is gone, and say so.
The buffer stays as it is, and unmodified: only saving it writes the file."
  ;; So that Emacs asks no question before an edit.
  (set-visited-file-modtime -1)
  (setf (cursord-document-gone document) 'untold)
  ;; The message of a decision that is under way says it, too.
  (unless (assq (cursord-document-ws document)
                (bound-and-true-p cursord--deciding))
    (setf (cursord-document-gone document) t)
    (cursord-say "%s" (cursord-gone-text (list document)))))

(provide 'cursord-disk)
;;; cursord-disk.el ends here
