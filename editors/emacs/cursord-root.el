;;; cursord-root.el --- Which workspace a buffer is in  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A workspace is a directory that agents work in.  Here is what is kept of each,
;; and how directories and files are called by Emacs and by the daemon.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'seq)
(require 'url-util)

(defcustom cursord-root-function #'cursord-project-root
  "Returns the directory that the agent works in, for the current buffer."
  :type 'function
  :group 'cursord)

(cl-defstruct (cursord-workspace (:constructor cursord--workspace-make)
                                 (:copier nil))
  "A directory that agents work in."
  (root nil
        :documentation "The directory, for Emacs; with a slash, and with what reaches another machine.")
  (path nil :documentation "The directory, for the daemon.")
  (host nil
        :documentation "The machine that it is on, for ssh; nil for this one.")
  (seq nil :documentation "The latest that is known.")
  (epoch nil :documentation "The name of the store that seq belongs to.")
  (ready nil :documentation "Whether it is subscribed to.")
  (known nil :documentation "Whether all that is to be reviewed was told.")
  (sessions (make-hash-table :test #'equal) :documentation "Sessions by id.")
  (turns (make-hash-table :test #'equal)
         :documentation "Turns by id: those that run or wait, and the last of a session.")
  (diffs (make-hash-table :test #'equal)
         :documentation "Diffs by path, those with something to review.")
  (seqs (make-hash-table :test #'equal)
        :documentation "Seqs of the latest diffs, by path.")
  (current nil
           :documentation "The id of the session that is talked with; nil for a new one.")
  (chosen nil :documentation "Whether it is known which session that is.")
  (before nil
          :documentation "The session that was left for another isolation.")
  (next nil :documentation "What is chosen for a new session, a plist.")
  (images nil
          :documentation "Images that go with the next prompt, as contexts.")
  (sent nil
        :documentation "What was sent last: (PROMPT TURN-ID CONTEXT).")
  (mine (make-hash-table :test #'equal)
        :documentation "The turns that were started here.")
  (failed nil :documentation "Whether the latest turn to end has failed.")
  (trouble nil :documentation "Why it could not be subscribed to, an error.")
  (touched nil
           :documentation "Whether something was told or answered since the last `update'."))

(defvar cursord-workspaces nil "The workspaces that are in use.")

(defvar-local cursord-buffer-workspace nil
  "The workspace of a buffer that is no file: a chat, a review.")
(put 'cursord-buffer-workspace 'permanent-local t)

;;;; Which workspace

(declare-function cursord--known-root "cursord-workspace" (directory))

(defun cursord-project-root ()
  "Return the root of the current project.
Outside of projects, return the nearest directory around that is a workspace
already, else the current directory."
  (if-let* ((project (project-current)))
      (project-root project)
    (if-let* ((ws (cursord-workspace-find)))
        (cursord-workspace-root ws)
      (or (cursord--known-root default-directory) default-directory))))

(defun cursord--host-of (directory)
  "The host of DIRECTORY for ssh, nil for this machine.
It is an error where there is no way."
  (when-let* ((method (file-remote-p directory 'method)))
    (unless (member method '("ssh" "sshx" "scp" "scpx" "rsync" "sftp"))
      (user-error "Files by \"%s\" are not supported, only those by ssh: run Emacs where the files are" method))
    (let ((user (file-remote-p directory 'user))
          (host (file-remote-p directory 'host)))
      (when (string-match-p "[#%]" host)
        (user-error "Say port and domain of %s in ~/.ssh/config, and leave them out here" host))
      (if user (concat user "@" host) host))))

(defun cursord--true-root (directory)
  "DIRECTORY without links, as a directory name."
  (file-name-as-directory (file-truename (expand-file-name directory))))

(defun cursord-workspace-at (root)
  "The workspace in use whose directory is ROOT, nil if there is none."
  (seq-find (lambda (ws) (equal (cursord-workspace-root ws) root))
            cursord-workspaces))

(defun cursord--workspace-of-file (file)
  "The innermost workspace in use that FILE, a name without links, is in."
  (let (best)
    (dolist (ws cursord-workspaces best)
      (when (and (string-prefix-p (cursord-workspace-root ws) file)
                 (or (null best)
                     (> (length (cursord-workspace-root ws))
                        (length (cursord-workspace-root best)))))
        (setq best ws)))))

(defun cursord-workspace-find (&optional buffer)
  "The workspace of BUFFER, else of the current one, if it is in use.
This asks no file system, so that it can be called often."
  (let ((buffer (or buffer (current-buffer))))
    (or (buffer-local-value 'cursord-buffer-workspace buffer)
        (and cursord-workspaces
             (cursord--workspace-of-file
              ;; Both are abbreviated.
              (expand-file-name (or (buffer-local-value 'buffer-file-truename
                                                        buffer)
                                    (buffer-local-value 'default-directory
                                                        buffer)
                                    "/")))))))

;;;; Names of files

(defun cursord--prefix (ws)
  "What stands before the names of files of WS for Emacs to reach them."
  (or (file-remote-p (cursord-workspace-root ws)) ""))

(defun cursord-file (ws path)
  "The name for Emacs of the file that a Diff or a Tool of WS calls PATH."
  (if (file-name-absolute-p path)
      (concat (cursord--prefix ws) path)
    (concat (cursord-workspace-root ws) path)))

(defun cursord-path (ws file)
  "What a Diff of WS calls FILE, a name without links; nil if it is not in WS."
  (and (string-prefix-p (cursord-workspace-root ws) file)
       (substring file (length (cursord-workspace-root ws)))))

(defun cursord-uri (_ws file)
  "The URI by which the daemon knows FILE, a name without links."
  (concat "file://"
          (url-hexify-string (encode-coding-string (file-local-name file)
                                                   'utf-8-unix)
                             url-path-allowed-chars)))

(provide 'cursord-root)
;;; cursord-root.el ends here
