;;; cursord-files.el --- Buffers that follow files  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Text that an agent or a decision writes is in the files' buffers at once: a
;; buffer without unsaved changes follows its file, without a question.
;; cursord-report.el tells the daemon the texts of the others.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-marks)
(require 'cursord-places)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-replace)
(require 'cursord-report)
(require 'cursord-back)
(require 'cursord-steps)
(require 'cursord-questions)

;;;; Showing

(defun cursord--note-conflict (document)
  "Note whether the buffer of DOCUMENT, the current one, has a conflict.
It has one if both it and its file have changed."
  (let ((conflict (and (buffer-modified-p) (not (verify-visited-file-modtime))
                       (if (file-exists-p (cursord-document-file document))
                           'written
                         'deleted)))
        (was (cursord-document-conflict document)))
    (setf (cursord-document-conflict document) conflict)
    (unless (eq conflict was)
      (cursord-tell-again document)
      (when conflict
        (cursord--refresh-vc-soon)
        (cursord-say (concat "%s has unsaved changes, and was %s meanwhile;"
                             " nothing is lost%s")
                     (cursord-document-path document) conflict
                     (if (cursord-diff-deleted-p (cursord-diff-of document))
                         ": M-x cursord-reject-hunk brings the file back"
                       ", see M-x cursord-review"))))))

(defun cursord--note-back (document diff)
  "Note that the file of DOCUMENT, which was deleted, may be back, as DIFF says.
If the daemon has found nothing on disk that the unsaved text was not based on,
Emacs shall not ask before it saves that text."
  (let ((buffer (cursord-document-buffer document)))
    (when (and (eq (cursord-document-conflict document) 'deleted)
               (buffer-live-p buffer)
               (not (cursord-diff-deleted-p diff))
               (seq-every-p (lambda (key) (zerop (or (plist-get diff key) 0)))
                            '(:mergeable :overlaps))
               (not (seq-some #'cursord-conflict-p (plist-get diff :hunks)))
               (file-exists-p (cursord-document-file document)))
      (with-current-buffer buffer
        (set-visited-file-modtime)))))

(defun cursord--document-show (document)
  "Bring the buffer of DOCUMENT and its marks up to date with its diff."
  (let ((diff (cursord-diff-of document))
        (buffer (cursord-document-buffer document))
        ;; TRAMP's cache may be seconds old.
        (remote-file-name-inhibit-cache t))
    (cond
     ((not (buffer-live-p buffer)))
     ((cursord--tramp-busy-p document)
      (run-at-time 0.1 nil #'cursord-protected #'cursord--document-show
                   document))
     (t
      (with-current-buffer buffer
        (when (equal (plist-get diff :state) "pending")
          (setf (cursord-document-reviewed document) t))
        (when (buffer-modified-p)
          (cursord--settle document))
        ;; If the reading goes on later, its end calls this again.
        (unless (and (not (buffer-modified-p)) (cursord--follow document))
          (cursord--tell-holds document)
          (if (not (cursord--in-sync-p document))
              (cursord--report-soon document)
            (cond
             ((not (buffer-modified-p)) (cursord--note-conflict document))
             ((cursord-document-merging document))
             ((cursord--merge-due-p document)
              (when (zerop (cursord-document-mergeable document))
                (cursord--note-conflict document))
              (cursord--merge document))
             (t (cursord--note-conflict document)))
            ;; If it does not fit, a newer diff is on its way.
            (when (cursord--diff-fits-p document)
              (cursord-marks-show diff)))))))))

(defvar cursord--to-show nil
  "Documents that are to be shown, in order.")

(defconst cursord--show-slice 0.01
  "The most seconds for which documents are shown at once.")

(defun cursord--show-some ()
  "Show the documents of `cursord--to-show', for `cursord--show-slice' at most."
  (let ((limit (time-add nil cursord--show-slice)))
    (while (and cursord--to-show (time-less-p nil limit))
      (cursord-protected #'cursord--document-show (pop cursord--to-show)))
    (when cursord--to-show
      (run-at-time 0.01 nil #'cursord--show-some))))

;; The daemon tells of files with something to review only.
(defconst cursord--reread-pause 1
  "The seconds between two looks at the files of unchanged buffers.")

(defvar cursord--rereading nil
  "The timer of the looks at files, or nil.")

(defun cursord--reread ()
  "Have buffers without unsaved changes follow files that were written.
Files on other machines are left out, and so are files that are gone."
  (if (null cursord--connections)
      (when cursord--rereading
        (cancel-timer cursord--rereading)
        (setq cursord--rereading nil))
    (dolist (document (hash-table-values cursord--documents))
      (let ((buffer (cursord-document-buffer document))
            (ws (cursord-document-ws document)))
        (when (and (buffer-live-p buffer)
                   (not (buffer-modified-p buffer))
                   (null (cursord-workspace-host ws))
                   (cursord-connection-to nil)
                   (null (assq ws (bound-and-true-p cursord--deciding)))
                   (not (verify-visited-file-modtime buffer))
                   (file-exists-p (cursord-document-file document)))
          (cursord-protected #'cursord--document-show document))))))

(defun cursord--rename-buffer (ws from to)
  "Rename the buffer of the file FROM of WS if the file was renamed to TO."
  (when-let* ((document (cursord-document-at ws from))
              (buffer (cursord-document-buffer document))
              ((buffer-live-p buffer))
              ((not (or (cursord-document-at ws to)
                        (cursord--tramp-busy-p document))))
              (file (cursord-file ws to))
              ((file-exists-p file))
              ((not (file-exists-p (cursord-document-file document)))))
    (with-current-buffer buffer
      (let ((modified (buffer-modified-p))
            (create-lockfiles nil))
        (set-visited-file-name file t t)
        (set-buffer-modified-p modified)
        (unless modified
          (set-visited-file-modtime
           (file-attribute-modification-time (file-attributes file))))
        ;; The new name may be one that version control does not know.
        (cursord--refresh-vc-soon t))
      (cursord-say "%s → %s: the file was renamed, and its buffer with it"
                   from to))))

(defun cursord--files-event (event ws object before)
  "Take EVENT in WS, with OBJECT, which was BEFORE."
  (pcase event
    ('diff
     (when-let* ((old (or (plist-get object :oldPath)
                          (plist-get before :oldPath)))
                 (new (plist-get object :path)))
       (cursord--rename-buffer ws old new)
       (cursord--rename-buffer ws new old))
     (when-let* ((document (cursord-document-at ws (plist-get object :path))))
       (when (cursord-diff-deleted-p before)
         (cursord--note-back document object))
       (when (plist-get object :seq)    ; else :mergeable is not told
         (setf (cursord-document-mergeable document)
               (or (plist-get object :mergeable) 0)))
       (unless (memq document cursord--to-show)
         (setq cursord--to-show (nconc cursord--to-show (list document))))))
    ('update (cursord--show-some))
    ('down
     (dolist (document (hash-table-values cursord--documents))
       (when (eq ws (cursord-document-ws document))
         (setf (cursord-document-open document) nil
               (cursord-document-named document) nil
               (cursord-document-tick document) nil))))
    ('ready
     (unless cursord--rereading
       (setq cursord--rereading
             (run-at-time cursord--reread-pause cursord--reread-pause
                          #'cursord--reread)))
     (cursord-questions-leave-out)
     (add-hook 'find-file-hook #'cursord--attach)
     (add-hook 'after-set-visited-file-name-hook #'cursord--attach)
     (add-hook 'clone-indirect-buffer-hook #'cursord-marks-drop)
     (dolist (buffer (buffer-list))
       (cursord--attach buffer))
     (dolist (document (hash-table-values cursord--documents))
       (when (eq ws (cursord-document-ws document))
         (when (buffer-live-p (cursord-document-buffer document))
           (with-current-buffer (cursord-document-buffer document)
             (cursord--tell-holds document)))
         (cursord-report document))))
    ('reset
     (maphash (lambda (path _diff)
                (when-let* ((document (cursord-document-at ws path))
                            ((buffer-live-p
                              (cursord-document-buffer document))))
                  (with-current-buffer (cursord-document-buffer document)
                    (cursord-marks-clear))))
              object))))

;;;; Buffers

(defun cursord--attach (&optional buffer)
  "Make a document of BUFFER, else of the current one.
Do so only for files in a workspace in use."
  (with-current-buffer (or buffer (current-buffer))
    (let* ((file (and buffer-file-name buffer-file-truename
                      (not (buffer-base-buffer))
                      (expand-file-name buffer-file-truename)))
           (ws (and file (cursord--workspace-of-file file)))
           (old (cursord-document)))
      (unless (and old (equal file (cursord-document-file old))
                   (eq ws (cursord-document-ws old)))
        (when old
          (cursord--detach))
        (when ws
          (let ((document (cursord--document-make :buffer (current-buffer)
                                                  :file file
                                                  :path (cursord-path ws file)
                                                  :ws ws)))
            (setq cursord--document document)
            (puthash file document cursord--documents)
            (when (cursord--plain-p)
              (setq-local revert-buffer-insert-file-contents-function
                          #'cursord--revert-contents))
            ;; What the agent writes from now on is new to the text.
            (cursord-protected #'cursord--tell-holds document
                               (and (consp (visited-file-modtime))
                                    (verify-visited-file-modtime)))
            (add-hook 'after-change-functions #'cursord--changed nil t)
            (add-hook 'before-save-hook #'cursord--before-save 90 t)
            (add-hook 'after-save-hook #'cursord--saved nil t)
            (add-hook 'after-revert-hook #'cursord--reverted nil t)
            (add-hook 'kill-buffer-hook #'cursord--detach nil t)
            (when (gethash (cursord-document-path document)
                           (cursord-workspace-diffs ws))
              (cursord-protected #'cursord--document-show document))))))))

(defun cursord--detach ()
  "Forget the document of the current buffer."
  (when-let* ((document (cursord-document)))
    (let ((ws (cursord-document-ws document)))
      (when (timerp (cursord-document-timer document))
        (cancel-timer (cursord-document-timer document)))
      ;; Of several buffers of a file, the latest is the one in the table.
      (when (and (or (cursord-document-open document)
                     (cursord-document-named document))
                 (eq document
                     (gethash (cursord-document-file document)
                              cursord--documents)))
        (setf (cursord-document-open document) nil
              (cursord-document-named document) nil)
        (cursord-notify ws
                        :document/didClose
                        (list :uri (cursord-uri
                                    ws (cursord-document-file document)))))
      (setq cursord--document nil)
      (when (eq revert-buffer-insert-file-contents-function
                #'cursord--revert-contents)
        (kill-local-variable 'revert-buffer-insert-file-contents-function))
      (when (eq document
                (gethash (cursord-document-file document) cursord--documents))
        (remhash (cursord-document-file document) cursord--documents))
      (when (cursord-document-conflict document)
        (cursord-tell-again document))
      (cursord-marks-clear))))

(defconst cursord--undo-most 1000000
  "The most characters of a buffer in which each step of undo is looked at.")

(defun cursord--changed (&rest _)
  "Report a change of the current buffer to the daemon soon.
A change in a clone, an indirect buffer, is one of its base buffer."
  (when-let* ((buffer (or (buffer-base-buffer) (current-buffer)))
              (document (cursord-document buffer))
              ((cursord-document-reviewed document)))
    (when (and undo-in-progress (<= (buffer-size) cursord--undo-most))
      (setf (cursord-document-undid document) t)
      (with-current-buffer buffer
        (cursord--note-undone document)))
    (cursord--report-soon document)))

(defun cursord--before-save ()
  "Tell the daemon the text before it is saved, so that it is a person's.
First undo the decisions that the buffer's undo has taken back, and wait for
decisions that are on their way: their edits belong to what is saved."
  (when-let* ((document (cursord-document))
              ((or (cursord-document-reviewed document)
                   (cursord-busy-turns (cursord-document-ws document))))
              ((cursord--text-p)))
    (unless (or cursord--late cursord-decided-now)
      (cursord--await cursord--tell-most
                      (lambda ()
                        (null (assq (cursord-document-ws document)
                                    (bound-and-true-p cursord--deciding))))))
    (unless (cursord--in-sync-p document)
      (let ((then #'ignore))
        (when-let* ((decisions (cursord--taken-back document)))
          (setq then (or (cursord-protected #'cursord--take-back-now document
                                            decisions)
                         #'ignore)))
        (unless (cursord--in-sync-p document)
          (cursord-protected #'cursord--tell-text document))
        (funcall then)))
    (cursord-protected #'cursord--await-text document)
    ;; An agent may have written while that was told.
    (cursord-protected #'cursord--await-disk)))

(defun cursord--before-first-save ()
  "Tell the daemon the text before it is saved, as a connection is new."
  (when-let* ((document (cursord-document))
              ((not (cursord-document-open document))))
    (if (cursord--text-p)
        (cursord--tell-text document)
      (cursord--tell-holds document t))
    (cursord--await-text document t)))

(defun cursord--saved ()
  "Tell the daemon that the current buffer was saved, also under a new name."
  (cursord--attach)
  (cursord-protected #'cursord--tell-saved))

(defun cursord--tell-saved ()
  "Tell the daemon that the current buffer was saved."
  (when-let* ((document (cursord-document))
              (ws (cursord-document-ws document)))
    (setf (cursord-document-gone document) nil
          (cursord-document-rejects document)
          (append (cursord-document-edited document)
                  (take 50 (cursord-document-rejects document)))
          (cursord-document-edited document) nil)
    (cursord--accepted-saved document)
    (when (eq (cursord-document-conflict document) 'deleted)
      (cursord-say "wrote %s again, which was deleted meanwhile"
                   (cursord-document-path document)))
    (let ((over (seq-count #'cursord-conflict-p
                           (plist-get (cursord-diff-of document) :hunks))))
      (unless (zerop over)
        (cursord-steps-forget)
        (cursord-say (concat "saved your lines over the agent's in %s;"
                             " M-x cursord-undo brings the agent's back")
                     (cursord-plural over "conflict"))))
    ;; A higher version than that of the last text says that the file has a
    ;; text that the daemon does not know.
    (unless (and (cursord-document-open document)
                 (eql (cursord-document-tick document)
                      (buffer-chars-modified-tick)))
      (cl-incf (cursord-document-version document))
      (when (cursord-document-open document)
        (setf (cursord-document-tick document) (buffer-chars-modified-tick))))
    (cursord-notify ws
                    :document/didSave
                    (list :uri (cursord-uri ws (cursord-document-file document))
                          :version (cursord-document-version document)))
    ;; Later: the daemon takes a text that it first hears of by this for the
    ;; file's, and not for a person's.
    (cursord--tell-holds document)
    (cursord--note-conflict document)))

(defun cursord--reverted ()
  "Show the hunks of the current buffer again after a revert."
  (when-let* (((not cursord--following))
              (document (cursord-document)))
    (cursord--note-conflict document)
    (when (cursord-document-reviewed document)
      (if (cursord--in-sync-p document)
          (cursord-marks-show (cursord-diff-of document))
        (cursord--report-soon document)))))

(dolist (hook '(cursord--changed cursord--before-save cursord--saved
                                 cursord--reverted cursord--detach))
  (put hook 'permanent-local-hook t))

(provide 'cursord-files)
;;; cursord-files.el ends here
