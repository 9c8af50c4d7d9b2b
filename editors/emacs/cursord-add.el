;;; cursord-add.el --- Put what is here into a prompt  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-add' adds what one looks at to the prompt that is written: an error,
;; files that are marked, the region or the file.

;;; Code:

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

(defun cursord--add-name (ws file)
  "The token for FILE, in WS or elsewhere."
  (let ((file (expand-file-name (file-truename file))))
    (concat "@" (or (cursord-path ws file) (file-local-name file)))))

(defun cursord--add-compilation (ws)
  "What is to be asked about the error at point of a compilation in WS."
  (let* ((said (string-trim (buffer-substring-no-properties (line-beginning-position)
                                                            (line-end-position))))
         (loc (compilation--message->loc (or (get-text-property (line-beginning-position)
                                                                'compilation-message)
                                             (compilation-next-error 0))))
         (spec (compilation--file-struct->file-spec (compilation--loc->file-struct loc)))
         (file (expand-file-name (car spec) (or (cadr spec) default-directory))))
    (format "Fix this error, %s:%d\n%s\n" (cursord--add-name ws file)
            (compilation--loc->line loc) said)))

(defun cursord--add-errors ()
  "What Flymake and Flycheck say at point, a list of texts."
  (append
   (and (bound-and-true-p flymake-mode)
        (mapcar #'flymake-diagnostic-text (flymake-diagnostics (point))))
   (and (bound-and-true-p flycheck-mode)
        (mapcar #'flycheck-error-message (flycheck-overlay-errors-at (point))))))

(defun cursord--add-text (ws)
  "What `cursord-add' adds to a prompt for WS; nil for the region."
  (cond
   ((derived-mode-p 'dired-mode)
    (concat (mapconcat (lambda (file) (cursord--add-name ws file))
                       (dired-get-marked-files) " ")
            " "))
   ((derived-mode-p 'compilation-mode) (cursord--add-compilation ws))
   ((use-region-p) nil)
   ((null buffer-file-name)
    (user-error "There is neither a file, a region nor an error here"))
   (t (let ((errors (cursord--add-errors)))
        (if errors
            (format "Fix this error, %s:%d\n%s\n"
                    (cursord--add-name ws buffer-file-name)
                    (line-number-at-pos nil t) (string-join errors "\n"))
          (concat (cursord--add-name ws buffer-file-name) " "))))))

;;;###autoload
(defun cursord-add ()
  "Add what is at point to the prompt that is written, and go there.
That is an error of a compilation, of Flymake or Flycheck; in Dired, the marked
files; else the region if it is active, or the file."
  (interactive)
  (let* ((ws (cursord-workspace-open))
         (origin (cursord-origin-here))
         (text (cursord--add-text ws)))
    (cursord--compose ws origin text)))

(provide 'cursord-add)
;;; cursord-add.el ends here
