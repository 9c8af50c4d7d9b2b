;;; cursord-await.el --- Commands wait for hunks  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A command for hunks waits until the daemon has placed them in the text that
;; the person sees, and until all marks are there.  Keys that are typed
;; meanwhile are read after it, as in all commands of Emacs.  Waiting goes on
;; when the connection is lost and made again; C-g ends it.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-marks)
(require 'cursord-report)
(require 'cursord-files)

(defconst cursord--await-quietly 1
  "Seconds after which a command says that it waits.")

(defconst cursord--await-most 30
  "Seconds after which a command gives up.")

(defvar cursord--await-since nil
  "When the present command began to wait; nil if each wait has its own time.")

(defun cursord--await-known (what known)
  "Take messages until KNOWN, a function, returns non-nil.
Say that the daemon has to WHAT if that takes long, and in the end signal a
`user-error'."
  (let ((begin (or cursord--await-since (current-time))) said)
    (cl-flet ((late-p (seconds) (time-less-p seconds (time-since begin))))
      (unwind-protect
          (while (not (funcall known))
            (when (late-p cursord--await-most)
              (user-error (concat "Nothing was done: in %d seconds the daemon"
                                  " did not %s; see M-x cursord-doctor")
                          cursord--await-most what))
            (when (and (not said) (late-p cursord--await-quietly))
              (setq said (format "waiting for the daemon to %s; C-g gives up"
                                 what))
              (cursord-say "%s" said))
            (accept-process-output nil 0.01))
        (when (and said (string-suffix-p said (or (current-message) "")))
          (message nil))))))

;;;; The workspace

(defun cursord--load-diffs (ws done)
  "Load all pending diffs of WS, and call DONE in the end."
  (cursord-request
   ws :diff/list nil
   :then (lambda (result)
           (cursord--put-diffs ws (plist-get result :diffs))
           (setf (cursord-workspace-known ws) t)
           (funcall done nil))
   :else done))

(defun cursord--await-diffs (ws)
  "Wait until the pending diffs of WS are loaded."
  (let (loading failed)
    (cursord--await-known
     "send the pending changes"
     (lambda ()
       (when-let* ((trouble (or failed (cursord-workspace-trouble ws))))
         (user-error "%s" (cursord-error-text trouble)))
       (cond
        ((cursord-workspace-known ws))
        ((and (cursord-workspace-ready ws) (not loading))
         (setq loading t)
         (cursord--load-diffs ws
                              (lambda (err)
                                (setq loading nil)
                                (unless (equal (cursord-error-kind err)
                                               "disconnected")
                                  (setq failed err))))
         nil))))))

;;;; A buffer

(defun cursord--settled (document)
  "Return t if the marks of the current buffer, of DOCUMENT, are right.
The value is nil if something is under way, `report' if the daemon has to place
the hunks, `show' if they are not shown, and `missing' if the text lacks lines
of them."
  (let* ((ws (cursord-document-ws document))
         (diff (gethash (cursord-document-path document)
                        (cursord-workspace-diffs ws))))
    (cond
     ((not (or diff (cursord-document-reviewed document))))
     ((or (cursord-document-reading document)
          (cursord-document-undoing document)
          (cursord-document-merging document)
          (> (cursord-document-asking document) 0)
          (memq document cursord--to-show)
          (cursord--tramp-busy-p document))
      nil)
     ;; Such a text is never reported.
     ((and (buffer-modified-p) (not (cursord--text-p))))
     ((or (not (cursord--in-sync-p document))
          (and (cursord-document-open document)
               (not (eql (cursord-document-answered document)
                         (buffer-chars-modified-tick)))))
      'report)
     ((null diff) (or (null cursord--marks) 'show))
     (t (pcase (cursord-marks-state diff)
          ('nil 'show)
          ('begun nil)
          (state state))))))

(defun cursord--settle-marks (document)
  "Wait until the marks in the buffer of DOCUMENT are right, or void."
  (setf (cursord-document-refused document) nil)
  (let (looked)
    (cursord--await-known
     (format "place the hunks in %s" (cursord-document-path document))
     (lambda ()
       (when-let* ((err (cursord-document-refused document)))
         (user-error "%s" (cursord-error-text err)))
       (or (not (buffer-live-p (cursord-document-buffer document)))
           (not (cursord-workspace-known (cursord-document-ws document)))
           (with-current-buffer (cursord-document-buffer document)
             (pcase (cursord--settled document)
               ('report
                (if (cursord--in-sync-p document)
                    (cursord--list-diff document #'ignore)
                  (cursord-report document))
                nil)
               ('show (cursord--document-show document) nil)
               ;; The file may have changed just now.  The daemon's answer to
               ;; one question is newer than that.
               ('missing (or looked
                             (progn (setq looked t)
                                    (cursord--list-diff document #'ignore)
                                    nil)))
               (state state))))))))

(defun cursord-await-marks (&optional document)
  "Wait until the marks of DOCUMENT, or of the current buffer, are right."
  (when-let* ((document (or document (cursord-document)))
              (ws (cursord-document-ws document)))
    (while (progn
             (cursord--await-diffs ws)
             (cursord--settle-marks document)
             ;; Another daemon has come, with objects of its own.
             (not (cursord-workspace-known ws))))))

(defun cursord-workspace-reviewed ()
  "Return the current buffer's workspace, with its pending changes loaded.
If the buffer is that of a file, the marks of its hunks are right."
  (let ((ws (cursord-workspace-open))
        (cursord--await-since (or cursord--await-since (current-time))))
    (cursord--await-diffs ws)
    (cursord-await-marks)
    ws))

(defun cursord-workspace-settled ()
  "Return the current buffer's workspace, with its pending changes loaded.
The marks in all its buffers are right."
  (let* ((cursord--await-since (current-time))
         (ws (cursord-workspace-reviewed)))
    (dolist (document (hash-table-values cursord--documents))
      (when (eq ws (cursord-document-ws document))
        (cursord-await-marks document)))
    ws))

(provide 'cursord-await)
;;; cursord-await.el ends here
