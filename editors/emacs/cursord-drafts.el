;;; cursord-drafts.el --- Drafts that outlive Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A draft in the buffer of a prompt is written to a file when Emacs ends or the
;; buffer is killed, and is there again when that buffer is made next.  A moment
;; after it is typed, it is in a file of this Emacs, which another takes once
;; this one has ended without writing the draft.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-workspace)

(defvar cursord-prompt-history)
(defvar cursord--history-at)
(defvar cursord--draft)
(defvar cursord--former)

(defun cursord--draft-file (ws)
  "Return the name of the file for the draft of WS."
  (expand-file-name (secure-hash 'sha256 (cursord-workspace-root ws))
                    (locate-user-emacs-file "cursord/drafts/")))

(defun cursord--draft-here ()
  "Return the draft of the current buffer, which may show an earlier prompt."
  (let ((text (buffer-substring-no-properties (point-min) (point-max))))
    (if (or (equal text cursord--former)
            (and (>= cursord--history-at 0)
                 (equal text (nth cursord--history-at cursord-prompt-history))))
        (or cursord--draft "")
      text)))

(defun cursord--live-draft-file (ws)
  "Return the name of the file for the draft of WS while this Emacs lives."
  (format "%s.%d" (cursord--draft-file ws) (emacs-pid)))

(defun cursord--write-draft (file)
  "Write the draft of the current buffer to FILE.
Return nil if there is none."
  (let ((draft (cursord--draft-here))
        (fresh (concat file "~"))
        (coding-system-for-write 'utf-8-unix))
    (unless (string-blank-p draft)
      (with-file-modes #o700
        (make-directory (file-name-directory file) t))
      (with-file-modes #o600
        (write-region draft nil fresh nil 'silent))
      (rename-file fresh file t)
      t)))

(defun cursord--leave-draft ()
  "Write the draft of the current buffer for the next buffer.
Return nil if there is none."
  (prog1 (cursord--write-draft (cursord--draft-file cursord-buffer-workspace))
    (cursord--forget-live-draft)))

(defun cursord--forget-live-draft ()
  "Delete the file of this Emacs for the draft of the current buffer."
  (delete-file (cursord--live-draft-file cursord-buffer-workspace)))

(defun cursord--each-draft (act)
  "Call ACT in the buffers of prompts."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (derived-mode-p 'cursord-compose-mode)
                 cursord-buffer-workspace)
        (with-demoted-errors "cursord: the draft was not written: %S"
          (funcall act))))))

(defun cursord--write-drafts ()
  "Write the drafts in the buffers of prompts to files."
  (cursord--each-draft #'cursord--leave-draft))

(defconst cursord--draft-delay 2
  "Seconds after which a change of a draft is on disk.")

(defvar cursord--draft-timer nil "Whether a timer is set to write the drafts.")

(defun cursord--write-draft-soon (&rest _)
  "Write the drafts in a moment, for the case that Emacs is killed."
  (unless cursord--draft-timer
    (setq cursord--draft-timer
          (run-at-time cursord--draft-delay nil #'cursord--write-live-drafts))))

(defun cursord--write-live-drafts ()
  "Write the drafts to the files of this Emacs."
  (setq cursord--draft-timer nil)
  (cursord--each-draft
   (lambda ()
     (unless (cursord--write-draft
              (cursord--live-draft-file cursord-buffer-workspace))
       (cursord--forget-live-draft)))))

(defun cursord--left-draft (ws)
  "Return the file with the draft of WS that a buffer or an Emacs has left."
  (let ((file (cursord--draft-file ws)))
    (if (file-readable-p file)
        file
      (seq-find (lambda (name)
                  (let ((pid (string-to-number (file-name-extension name))))
                    (or (= pid (emacs-pid))
                        (not (eql 0 (signal-process pid 0))))))
                (file-expand-wildcards (concat file ".*[0-9]"))))))

(defun cursord--keep-draft ()
  "Keep the draft of the current buffer, which is being killed."
  (condition-case err
      (when (cursord--leave-draft)
        (cursord-say "the draft is kept: M-x cursord-compose shows it"))
    (file-error
     (user-error "The draft cannot be kept (%s): empty the buffer, then kill it"
                 (error-message-string err)))))

(defun cursord-draft-take (ws)
  "Insert the draft of WS that the last buffer of its prompts has left.
Have the current one leave its own."
  (add-hook 'kill-emacs-hook #'cursord--write-drafts)
  (add-hook 'kill-buffer-hook #'cursord--keep-draft nil t)
  (add-hook 'after-change-functions #'cursord--write-draft-soon nil t)
  (let ((file (cursord--left-draft ws))
        (live (cursord--live-draft-file ws))
        (coding-system-for-read 'utf-8-unix))
    (when file
      (with-demoted-errors "cursord: the draft was not read: %S"
        (insert-file-contents file)
        (cursord--write-draft live)
        (unless (equal file live) (delete-file file))))))

(defun cursord-draft-after-send ()
  "Empty the current buffer, whose prompt was sent.
If that was an earlier prompt, the draft behind it comes back."
  (let ((draft (and (>= cursord--history-at 0) cursord--draft)))
    (erase-buffer)
    (when draft (insert draft))
    (setq cursord--history-at -1
          cursord--draft nil
          cursord--former nil)
    (cursord--write-live-drafts)))

(provide 'cursord-drafts)
;;; cursord-drafts.el ends here
