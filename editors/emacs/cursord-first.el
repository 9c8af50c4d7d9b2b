;;; cursord-first.el --- Hunks before the first command  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; When a file is opened that has something to review, `cursord-mode' shows it.
;; Whether there is something is asked of the program, behind Emacs's back: it
;; starts no daemon to find out.

;;; Code:

(require 'seq)
(require 'subr-x)

(defcustom cursord-look-for-hunks t
  "Whether `cursord-mode' looks for something to review when files are opened.
Else the first command in a project does."
  :type 'boolean
  :group 'cursord)

(defvar cursord-program)
(defvar cursord-mode)
(declare-function cursord-workspace-find "cursord-workspace" (&optional buffer))
(declare-function cursord-workspace-at "cursord-root" (root))
(declare-function cursord-workspace-open "cursord-workspace" (&optional root))

(defconst cursord--look-pause 0.1
  "Seconds for which files that are opened are gathered.")

(defvar cursord--looking nil "Whether somebody looks, or will.")

;;;###autoload
(defun cursord-first-look ()
  "Look whether there is something to review in files, unless that is known.
It is called when one is opened, and does not wait."
  (when (and cursord-look-for-hunks (not cursord--looking)
             (not (and (featurep 'cursord-workspace) buffer-file-name
                       (cursord-workspace-find))))
    (setq cursord--looking t)
    (run-at-time cursord--look-pause nil #'cursord--look)))

(defun cursord--look ()
  "Ask the program where there is something to review."
  (setq cursord--looking nil)
  (when-let* ((program (executable-find (or (bound-and-true-p cursord-program)
                                            "cursord"))))
    (let ((default-directory (if (file-directory-p "~/") (expand-file-name "~/")
                               "/"))
          (out (generate-new-buffer " *cursord look*" t)))
      (condition-case nil
          (make-process
           :name "cursord look" :buffer out :noquery t :connection-type 'pipe
           :coding 'utf-8-unix :stderr (generate-new-buffer " *cursord look stderr*" t)
           :command (list program "workspaces" "--pending" "--json")
           :sentinel #'cursord--looked)
        (error (kill-buffer out))))))

(defun cursord--looked (process _event)
  "Take what PROCESS has found, once it has ended."
  (unless (process-live-p process)
    (let* ((buffer (process-buffer process))
           (found (and (buffer-live-p buffer)
                       (eql 0 (process-exit-status process))
                       (with-current-buffer buffer
                         (goto-char (point-min))
                         (ignore-errors (json-parse-buffer :array-type 'list))))))
      (when (buffer-live-p buffer) (kill-buffer buffer))
      (when-let* ((errors (get-buffer " *cursord look stderr*")))
        (let ((kill-buffer-query-functions nil)) (kill-buffer errors)))
      (when (and found cursord-mode)
        (cursord--open-found (mapcar #'file-name-as-directory found))))))

(defun cursord--open-found (roots)
  "Open those of ROOTS that files in buffers are in, each by its innermost."
  (require 'cursord-files)
  (dolist (buffer (buffer-list))
    (when-let* ((file (buffer-local-value 'buffer-file-truename buffer))
                (file (expand-file-name file))
                (root (car (sort (seq-filter (lambda (root) (string-prefix-p root file))
                                             roots)
                                 (lambda (a b) (> (length a) (length b))))))
                ((not (cursord-workspace-at root))))
      (with-current-buffer buffer
        (ignore-error user-error
          (cursord-workspace-open root))))))

(provide 'cursord-first)
;;; cursord-first.el ends here
