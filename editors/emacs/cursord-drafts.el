;;; cursord-drafts.el --- Drafts of prompts that outlive Emacs  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A draft in the buffer of a prompt is written to a file when Emacs ends or the
;; buffer is killed, and is there again when that buffer is made next.

;;; Code:

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

(defun cursord--write-draft ()
  "Write the draft of the current buffer to its file; return nil if there is none."
  (let ((draft (cursord--draft-here))
        (file (cursord--draft-file cursord-buffer-workspace))
        (coding-system-for-write 'utf-8-unix))
    (unless (string-blank-p draft)
      (with-file-modes #o700
        (make-directory (file-name-directory file) t))
      (with-file-modes #o600
        (write-region draft nil file nil 'silent))
      t)))

(defun cursord--write-drafts ()
  "Write the drafts in the buffers of prompts to files."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when (and (derived-mode-p 'cursord-compose-mode) cursord-buffer-workspace)
        (with-demoted-errors "cursord: the draft was not written: %S"
          (cursord--write-draft))))))

(defun cursord--keep-draft ()
  "Keep the draft of the current buffer, which is being killed."
  (condition-case err
      (when (cursord--write-draft)
        (cursord-say "the draft is kept: M-x cursord-compose shows it"))
    (file-error
     (user-error "The draft cannot be kept (%s): empty the buffer, then kill it"
                 (error-message-string err)))))

(defun cursord-draft-take (ws)
  "Insert the draft of WS that the last buffer of its prompts has left.
Have the current one leave its own."
  (add-hook 'kill-emacs-hook #'cursord--write-drafts)
  (add-hook 'kill-buffer-hook #'cursord--keep-draft nil t)
  (let ((file (cursord--draft-file ws))
        (coding-system-for-read 'utf-8-unix))
    (when (file-readable-p file)
      (with-demoted-errors "cursord: the draft was not read: %S"
        (insert-file-contents file)
        (delete-file file)))))

(defun cursord-draft-after-send ()
  "Empty the current buffer, whose prompt was sent.
If that was an earlier prompt, the draft behind it comes back."
  (let ((draft (and (>= cursord--history-at 0) cursord--draft)))
    (erase-buffer)
    (when draft (insert draft))
    (setq cursord--history-at -1
          cursord--draft nil
          cursord--former nil)))

(provide 'cursord-drafts)
;;; cursord-drafts.el ends here
