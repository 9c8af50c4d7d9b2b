;;; cursord-doctor.el --- Versions and problems  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-doctor' shows the report of the command "cursord doctor", and adds
;; this Emacs, the package and the workspaces in use.

;;; Code:

(require 'cursord-workspace)

(defface cursord-good '((t :inherit success)) "Face of good news in a report."
  :group 'cursord)
(defface cursord-bad '((t :inherit error)) "Face of problems in a report."
  :group 'cursord)

(defun cursord--doctor-line (what value &optional bad)
  "Insert a line with WHAT and its VALUE, marked as a problem if BAD."
  (insert (propertize (if bad "✗ " "✓ ") 'face
                      (if bad 'cursord-bad 'cursord-good))
          (propertize (format "%-13s" what) 'face 'bold) " "
          (or value "unknown") "\n"))

(defun cursord--doctor-report (host)
  "Return the report of \"cursord doctor\" on HOST, a plist.
Return a string if the command fails."
  (if host
      (format "run \"cursord doctor\" on %s" host)
    (with-temp-buffer
      (let ((default-directory (expand-file-name "~/")))
        (call-process (car (cursord--command nil)) nil '(t nil) nil "doctor"
                      "--json"))
      (goto-char (point-min))
      (condition-case nil
          (json-parse-buffer :object-type 'plist :null-object nil
                             :false-object :json-false)
        (error (buffer-string))))))

(defun cursord--doctor-daemon (report)
  "Insert the lines of REPORT on program, daemon and agent."
  (let ((daemon (plist-get report :daemon))
        (agent (plist-get report :agent)))
    (cursord--doctor-line "program"
                          (format "%s, version %s"
                                  (executable-find cursord-program)
                                  (plist-get report :version)))
    (cursord--doctor-line "daemon" (if daemon
                                       (format "version %s, process %s, %s"
                                               (plist-get daemon :version)
                                               (plist-get daemon :pid)
                                               (cursord-plural
                                                (plist-get daemon :clients)
                                                "client"))
                                     "does not answer")
                          (not daemon))
    (cursord--doctor-line "agent"
                          (string-join
                           (delq nil
                                 (list (unless (plist-get agent :message)
                                         (plist-get agent :state))
                                       (plist-get agent :version)
                                       (plist-get agent :path)
                                       (plist-get agent :account)
                                       (plist-get agent :message)))
                           ", ")
                          (not (equal (plist-get agent :state) "ready")))
    (dolist (key '(:socket :database :log :config))
      (cursord--doctor-line (substring (symbol-name key) 1)
                            (plist-get report key)))
    (seq-doseq (problem (plist-get report :problems))
      (cursord--doctor-line "problem" problem t))))

(defun cursord--doctor-workspace (ws listed)
  "Insert a line on WS; LISTED is the daemon's entry of it."
  (let ((trusted (eq (plist-get listed :trusted) t))
        (trouble (cursord-workspace-trouble ws)))
    (cursord--doctor-line
     "workspace"
     (concat (abbreviate-file-name (cursord-workspace-root ws)) ": "
             (cond (trouble (cursord-error-text trouble))
                   ((not (cursord-connection-to (cursord-workspace-host ws)))
                    "not connected; M-x cursord connects again")
                   (t (format "%s, %s%s"
                              (cursord-plural (or (plist-get listed :sessions)
                                                  0) "session")
                              (cursord-plural (car (cursord-pending ws)) "hunk")
                              (if trusted
                                  ""
                                "; not trusted, see M-x cursord-trust")))))
     (or trouble (not trusted)))))

(defun cursord--doctor-package (report)
  "Insert the package's version, and whether it fits that in REPORT."
  (let* ((manifest (expand-file-name ".cursord.json"
                                     (file-name-directory
                                      (locate-library "cursord-doctor"))))
         (installed (and (file-readable-p manifest)
                         (with-temp-buffer
                           (insert-file-contents manifest)
                           (plist-get (json-parse-buffer :object-type 'plist)
                                      :version)))))
    (when installed
      (let ((fits (equal installed (plist-get report :version))))
        (cursord--doctor-line "package" (concat "version " installed
                                                (if fits
                                                    ""
                                                  (concat
                                                   ": run \"cursord editor"
                                                   " install emacs\""
                                                   " and restart Emacs")))
                              (not fits))))))

;;;###autoload
(defun cursord-doctor ()
  "Show versions, files and problems of cursord."
  (interactive)
  (let* ((program (executable-find cursord-program))
         (ws (and program (cursord-workspace-open)))
         (report (and program
                      (cursord--doctor-report (cursord-workspace-host ws))))
         (listed (and ws
                      (ignore-errors
                        (plist-get
                         (cursord-call ws :workspace/list nil :timeout 5)
                         :workspaces)))))
    (with-current-buffer (get-buffer-create "*cursord doctor*")
      (let ((inhibit-read-only t))
        (erase-buffer)
        (cursord--doctor-line "Emacs" emacs-version
                              (version< emacs-version "29.1"))
        (cond ((not program)
               (cursord--doctor-line
                "program"
                (format (concat "there is no \"%s\": install cursord,"
                                " or set cursord-program")
                        cursord-program)
                t))
              ((stringp report) (cursord--doctor-line "program" report t))
              (t (cursord--doctor-package report)
                 (cursord--doctor-daemon report)))
        (dolist (ws cursord-workspaces)
          (cursord--doctor-workspace
           ws
           (seq-find (lambda (one)
                       (equal (plist-get one :workspace)
                              (cursord-workspace-path ws))) listed)))
        (cursord--doctor-line "keys"
                              (let ((keys (where-is-internal 'cursord-ask
                                                             global-map)))
                                (if keys
                                    (concat "M-x cursord-ask is on "
                                            (mapconcat #'key-description keys
                                                       ", "))
                                  (concat "none; for example (keymap-global-set"
                                          " \"C-c a\" cursord-command-map)")))))
      (special-mode)
      (goto-char (point-min))
      (pop-to-buffer (current-buffer)))))

(provide 'cursord-doctor)
;;; cursord-doctor.el ends here
