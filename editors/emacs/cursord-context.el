;;; cursord-context.el --- The context of prompts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Tokens in a prompt, such as @region or @src/main.go, name its context.
;; `cursord-complete-token' completes tokens.

;;; Code:

(require 'cl-lib)
(require 'flymake)
(require 'cursord-workspace)

(cl-defstruct (cursord-origin (:constructor cursord--origin-make) (:copier nil))
  "The place from which a person asks."
  (buffer nil :documentation "A buffer of a file, or nil.")
  (region nil
          :documentation
          "The active region there, as markers (BEG . END), or nil.")
  (others nil
          :documentation
          "Origins of @region2, @buffer3 and so on, the first for 2."))

(defconst cursord--origin-tokens
  "@\\(?:region\\|buffer\\|diagnostics\\)[0-9]*\\_>"
  "A regexp for tokens about the place from which a person asks.")

(defun cursord--same-origin-p (a b)
  "Return non-nil if the origins A and B are the same place."
  (and (eq (cursord-origin-buffer a) (cursord-origin-buffer b))
       (equal (cursord-origin-region a) (cursord-origin-region b))))

(defun cursord--number-origin (origin other)
  "Add the origin OTHER to ORIGIN; return the number of its tokens, a string.
That is \"\" if OTHER is the same place as ORIGIN, else \"2\" or more."
  (if (cursord--same-origin-p origin other)
      ""
    (unless (seq-some (lambda (one) (cursord--same-origin-p one other))
                      (cursord-origin-others origin))
      (setf (cursord-origin-others origin)
            (append (cursord-origin-others origin) (list other))))
    (number-to-string
     (+ 2 (seq-position (cursord-origin-others origin) other
                        #'cursord--same-origin-p)))))

(defvar-local cursord-buffer-origin nil
  "The origin of the prompt in a compose buffer.")
(put 'cursord-buffer-origin 'permanent-local t)

(defun cursord-origin-here (&optional any)
  "Return the origin in the current buffer, else in a shown buffer of a file.
If ANY, the current buffer needs no file."
  (let ((buffer (if (or buffer-file-name any)
                    (current-buffer)
                  (seq-find (lambda (buffer)
                              (buffer-local-value 'buffer-file-name buffer))
                            (mapcar #'window-buffer
                                    (window-list nil 'no-minibuffer))))))
    (cursord--origin-make
     :buffer buffer
     :region (and (eq buffer (current-buffer)) (use-region-p)
                  (cons (copy-marker (region-beginning))
                        (copy-marker (region-end)))))))

(defun cursord--origin-path (ws origin)
  "Return the daemon's path of the file of ORIGIN, in WS."
  (let ((file (expand-file-name
               (buffer-local-value 'buffer-file-truename
                                   (cursord-origin-buffer origin)))))
    (or (cursord-path ws file) (file-local-name file))))

(defun cursord--position (pos)
  "Return POS in the current buffer in the protocol's form.
That is a line, counted from 0, and the UTF-16 units before POS in it."
  (save-excursion
    (goto-char pos)
    (let ((bol (line-beginning-position)))
      (list :line (1- (line-number-at-pos pos t))
            :character
            (/ (string-bytes
                (encode-coding-string
                 (buffer-substring-no-properties bol pos) 'utf-16le))
               2)))))

(defun cursord--range (beg end)
  "Return the range from BEG to END in the protocol's form."
  (list :start (cursord--position beg) :end (cursord--position end)))

(defun cursord--lines-range (first last)
  "Return the range of the lines FIRST to LAST, counted from 1."
  (list :start (list :line (1- first) :character 0)
        :end (list :line last :character 0)))

(defun cursord--context-buffer (ws origin)
  "Return the file of ORIGIN in WS; its text if it is unsaved or no file."
  (with-current-buffer (cursord-origin-buffer origin)
    (let ((path (if buffer-file-name
                    (cursord--origin-path ws origin)
                  (buffer-name))))
      (if (or (null buffer-file-name) (buffer-modified-p))
          (list :kind "text" :title (if buffer-file-name
                                        (concat path " (not saved)")
                                      path)
                :text (save-restriction
                        (widen)
                        (buffer-substring-no-properties
                         (point-min) (point-max))))
        (list :kind "file" :path path)))))

(defun cursord--context-region (ws origin)
  "Return the region of ORIGIN in WS."
  (pcase-let ((`(,beg . ,end)
               (or (cursord-origin-region origin)
                   (user-error "There is no @region: none was active in %s"
                               (buffer-name (cursord-origin-buffer origin))))))
    (with-current-buffer (cursord-origin-buffer origin)
      (if buffer-file-name
          (list :kind "selection" :path (cursord--origin-path ws origin)
                :range (cursord--range beg end)
                :text (buffer-substring-no-properties beg end))
        (list :kind "text" :title (concat "part of " (buffer-name))
              :text (buffer-substring-no-properties beg end))))))

(defun cursord--context-diagnostics (ws origin)
  "Return Flymake's diagnostics of the buffer of ORIGIN, in WS."
  (with-current-buffer (cursord-origin-buffer origin)
    (let ((diagnostics (and (bound-and-true-p flymake-mode)
                            (flymake-diagnostics))))
      (unless diagnostics
        (user-error "There are no @diagnostics: Flymake has none in %s"
                    (buffer-name)))
      (list :kind "diagnostics" :path (cursord--origin-path ws origin)
            :items (vconcat
                    (mapcar (lambda (one)
                              (list :range
                                    (cursord--range
                                     (flymake-diagnostic-beg one)
                                     (flymake-diagnostic-end one))
                                    :severity
                                    (pcase (symbol-name
                                            (flymake-diagnostic-type one))
                                      ((rx "error") 1)
                                      ((rx "warning") 2) (_ 3))
                                    :message (flymake-diagnostic-text one)))
                            diagnostics))))))

(defun cursord--context-changes (ws _origin)
  "Return the pending hunks of WS, as a patch."
  (let ((patch (plist-get (cursord-call ws :diff/unified nil) :patch)))
    (when (string-empty-p (or patch ""))
      (user-error "There are no @changes: there is nothing to review"))
    (list :kind "text" :title "changes under review" :text patch)))

(defconst cursord--tokens
  '(("buffer" cursord--context-buffer
     "the file or buffer that you ask from" t)
    ("region" cursord--context-region "the region there" t)
    ("diagnostics" cursord--context-diagnostics "Flymake's diagnostics there" t)
    ("changes" cursord--context-changes "the pending hunks" nil))
  "Tokens: a name, a function, a description, and whether it needs a buffer.")

(defun cursord--token-context (ws origin name)
  "Return the context of the token NAME in WS, asked at ORIGIN; nil for none."
  (when-let* (((string-match "\\`\\(region\\|buffer\\)\\([0-9]+\\)\\'" name))
              (token (match-string 1 name))
              (other (nth (- (string-to-number (match-string 2 name)) 2)
                          (cursord-origin-others origin))))
    (setq name token
          origin other))
  (pcase (assoc name cursord--tokens)
    (`(,_ ,function ,_ ,needs)
     (when (and needs (not (buffer-live-p (cursord-origin-buffer origin))))
       (user-error "There is no @%s: you were in no file" name))
     (funcall function ws origin))
    (_
     (string-match "\\`\\(.*?\\)\\(?::\\([0-9]+\\)\\(?:-\\([0-9]+\\)\\)?\\)?\\'"
                   name)
     (let ((path (match-string 1 name))
           (first (match-string 2 name))
           (last (match-string 3 name)))
       (and (not (string-empty-p path))
            (file-exists-p (cursord-file ws path))
            (cond
             (first
              (list :kind "file" :path path
                    :range (cursord--lines-range
                            (string-to-number first)
                            (string-to-number (or last first)))))
             ((string-match-p "\\.\\(?:png\\|jpe?g\\|gif\\|webp\\)\\'"
                              (downcase path))
              (list :kind "image" :path path))
             (t (list :kind "file" :path path))))))))

(defun cursord-context (ws prompt origin)
  "Return the context of the tokens of PROMPT in WS, a list; asked at ORIGIN.
A word with @ that is neither a token nor a file is just text."
  (let (all names)
    (with-temp-buffer
      (insert prompt)
      (goto-char (point-min))
      (while (re-search-forward "\\(?:\\`\\|[ \t\n(]\\)@\\([^ \t\n]+\\)" nil t)
        (let ((name (string-trim-right (match-string 1) "[],;:.)?!]+")))
          (unless (or (string-empty-p name) (member name names))
            (push name names)))))
    (dolist (name names)
      (when-let* ((one (cursord--token-context ws origin name)))
        (push one all)))
    all))

;;;; Completion

(defvar cursord--files nil "The files of a workspace: (WS TIME . NAMES).")

(defconst cursord--files-most 5000
  "The most files that are found outside of projects.")

(defun cursord--some-files (root)
  "Return names of the files below ROOT, the nearest first, but no hidden ones."
  (let ((folders (list "")) (n 0) all)
    (while (and folders (< n cursord--files-most))
      (let ((folder (pop folders)))
        (dolist (entry (ignore-errors
                         (directory-files-and-attributes
                          (concat root folder) nil "\\`[^.]" t)))
          (let ((name (concat folder (car entry))))
            (if (eq (file-attribute-type (cdr entry)) t)
                (setq folders (nconc folders (list (concat name "/"))))
              (cl-incf n)
              (push name all))))))
    (nreverse all)))

(defun cursord--project-files (ws)
  "Return names of the files of WS; the list may be some seconds old."
  (unless (and (eq (car cursord--files) ws)
               (time-less-p nil (time-add (cadr cursord--files) 10)))
    (let* ((default-directory (cursord-workspace-root ws))
           (project (project-current))
           (root (cursord-workspace-root ws)))
      (setq cursord--files
            `(,ws ,(current-time)
                  ,@(if project
                        (delq nil
                              (mapcar (lambda (file)
                                        (cursord-path ws
                                                      (expand-file-name file
                                                                        root)))
                                      (ignore-errors (project-files project))))
                      (cursord--some-files root))))))
  (cddr cursord--files))

(defun cursord-complete-token ()
  "Complete the token at point, in `completion-at-point-functions'."
  (when-let* ((ws cursord-buffer-workspace)
              (beg (save-excursion
                     (skip-chars-backward "^ \t\n@")
                     (and (eq (char-before) ?@)
                          (memq (char-before (1- (point)))
                                '(nil ?\s ?\t ?\n ?\())
                          (point)))))
    (list beg (save-excursion (skip-chars-forward "^ \t\n") (point))
          (completion-table-dynamic
           (lambda (_)
             (append (mapcar #'car cursord--tokens)
                     (cursord--project-files ws)))
           t)
          :annotation-function (lambda (name)
                                 (if-let* ((token (assoc name cursord--tokens)))
                                     (concat "  " (nth 2 token))
                                   "")))))

(provide 'cursord-context)
;;; cursord-context.el ends here
