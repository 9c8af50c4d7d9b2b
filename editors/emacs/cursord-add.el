;;; cursord-add.el --- Add files and errors  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-add' adds to the draft of a prompt: an error at point, marked files,
;; the region or the file.

;;; Code:

(require 'flymake)
(require 'seq)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-context)
(require 'cursord-ask)

(declare-function dired-get-marked-files "dired")
(declare-function compilation-next-error "compile" (n &optional msg pt))
(declare-function compilation--message->loc "compile" (msg))
(declare-function compilation--loc->line "compile" (loc))
(declare-function compilation--loc->file-struct "compile" (loc))
(declare-function compilation--file-struct->file-spec "compile" (file-struct))
(declare-function flycheck-overlay-errors-at "ext:flycheck" (pos))
(declare-function flycheck-error-message "ext:flycheck" (err))
(declare-function flycheck-error-buffer "ext:flycheck" (err))
(declare-function flycheck-error-pos "ext:flycheck" (err))
(declare-function tabulated-list-get-id "tabulated-list" (&optional pos))

(defun cursord--add-name (ws file)
  "Return the token for FILE, in WS or elsewhere."
  (let ((file (expand-file-name (file-truename file))))
    (concat "@" (or (cursord-path ws file) (file-local-name file)))))

(defun cursord--add-compilation (ws)
  "Return a prompt about the error at point of a compilation in WS."
  (let* ((bol (line-beginning-position))
         (said (string-trim (buffer-substring-no-properties
                             bol (line-end-position))))
         (loc (compilation--message->loc
               (or (get-text-property bol 'compilation-message)
                   (compilation-next-error 0))))
         (spec (compilation--file-struct->file-spec
                (compilation--loc->file-struct loc)))
         (file (expand-file-name (car spec)
                                 (or (cadr spec) default-directory))))
    (format "Fix this error, %s:%d\n%s\n" (cursord--add-name ws file)
            (compilation--loc->line loc) said)))

(defun cursord--add-errors ()
  "Return the messages of Flymake and Flycheck at point, a list."
  (append
   (and (bound-and-true-p flymake-mode)
        (mapcar #'flymake-diagnostic-text (flymake-diagnostics (point))))
   (and (bound-and-true-p flycheck-mode)
        (mapcar #'flycheck-error-message
                (flycheck-overlay-errors-at (point))))))

(defun cursord--add-listed ()
  "Go to the place of the error in the line at point; return its message.
Return nil if the current buffer is no list of errors."
  (cond
   ((derived-mode-p 'flymake-diagnostics-buffer-mode
                    'flymake-project-diagnostics-mode)
    (let* ((found (plist-get (or (tabulated-list-get-id)
                                 (user-error "There is no error in this line"))
                             :diagnostic))
           (where (flymake-diagnostic-buffer found)))
      (set-buffer (if (bufferp where) where (find-file-noselect where)))
      (let ((beg (flymake-diagnostic-beg found)))
        (goto-char (if (consp beg)
                       (save-excursion
                         (goto-char (point-min))
                         (forward-line (1- (car beg)))
                         (point))
                     beg)))
      (flymake-diagnostic-text found)))
   ((derived-mode-p 'flycheck-error-list-mode)
    (let ((found (or (tabulated-list-get-id)
                     (user-error "There is no error in this line"))))
      (set-buffer (flycheck-error-buffer found))
      (goto-char (flycheck-error-pos found))
      (flycheck-error-message found)))))

(defun cursord--add-here (ws errors)
  "Return a prompt about ERRORS, messages, at point of a file in WS."
  (format "Fix this error, %s:%d\n%s\n"
          (cursord--add-name ws buffer-file-name)
          (line-number-at-pos nil t) (string-join errors "\n")))

(defun cursord--add-text (ws)
  "Return the text that `cursord-add' adds for WS.
Return nil for the region, and `buffer' for the text of a buffer without a
file."
  (cond
   ((derived-mode-p 'dired-mode)
    (concat (mapconcat (lambda (file) (cursord--add-name ws file))
                       (dired-get-marked-files) " ")
            " "))
   ((use-region-p) nil)
   ((derived-mode-p 'compilation-mode) (cursord--add-compilation ws))
   ((save-current-buffer
      (when-let* ((text (cursord--add-listed)))
        (cursord--add-here ws (list text)))))
   ((null buffer-file-name) 'buffer)
   (t (let ((errors (cursord--add-errors)))
        (if errors
            (cursord--add-here ws errors)
          (concat (cursord--add-name ws buffer-file-name) " "))))))

;;;###autoload
(defun cursord-add ()
  "Add the thing at point to the draft of a prompt, and go there.
In Dired, add the marked files; else the region if it is active; else the error
at point, also in a compilation or in a list of Flymake or Flycheck; else the
file or, in a buffer without one, its text."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (origin (cursord-origin-here t))
         (text (cursord--add-text ws)))
    (cursord--compose ws origin text)))

(provide 'cursord-add)
;;; cursord-add.el ends here
