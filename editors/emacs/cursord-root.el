;;; cursord-root.el --- Workspaces of buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A workspace is a directory that agents work in.  This file has the state of
;; each, and translates between Emacs's names of files and the daemon's.

;;; Code:

(require 'cl-lib)
(require 'project)
(require 'seq)
(require 'url-util)

(defcustom cursord-root-function #'cursord-project-root
  "Function that returns the agent's directory for the current buffer."
  :type 'function
  :group 'cursord)

(cl-defstruct (cursord-workspace (:constructor cursord--workspace-make)
                                 (:copier nil))
  "A directory that agents work in."
  (root nil
        :documentation
        "The directory as Emacs names it, with a slash and a remote prefix.")
  (path nil :documentation "The directory as the daemon names it.")
  (host nil
        :documentation "The directory's machine, for ssh; nil for this one.")
  (seq nil :documentation "The latest seq that the daemon has told.")
  (epoch nil :documentation "The name of the store that seq belongs to.")
  (ready nil :documentation "Whether the workspace is subscribed to.")
  (known nil :documentation "Whether all pending diffs were loaded.")
  (sessions (make-hash-table :test #'equal) :documentation "Sessions by id.")
  (turns (make-hash-table :test #'equal)
         :documentation
         "Turns by id: those that run or wait, and each session's last.")
  (diffs (make-hash-table :test #'equal)
         :documentation "Pending diffs by path.")
  (seqs (make-hash-table :test #'equal)
        :documentation "Seqs of the latest diffs, by path.")
  (approvals (make-hash-table :test #'equal)
             :documentation "What agents ask, while it is pending, by id.")
  (current nil
           :documentation "The id of the current session; nil for a new one.")
  (chosen nil :documentation "Whether the current session is known.")
  (before nil
          :documentation "The session that was left for another isolation.")
  (next nil :documentation "The options of the next new session, a plist.")
  (images nil
          :documentation "The images of the next prompt, as contexts.")
  (sent nil
        :documentation
        "The latest prompts of this Emacs: (TURN-ID PROMPT . CONTEXT).")
  (mine (make-hash-table :test #'equal)
        :documentation "The turns that this Emacs has started, by id.")
  (failed nil :documentation "Whether the turn that ended last has failed.")
  (trouble nil
           :documentation "The error of the last subscription, if it failed.")
  (touched nil
           :documentation
           "Whether messages came since the last event `update'."))

(defvar cursord-workspaces nil "The workspaces that are in use.")

(defun cursord-directory-name (ws)
  "Return the name of the directory of WS."
  (file-name-nondirectory (directory-file-name (cursord-workspace-root ws))))

(defvar-local cursord-buffer-workspace nil
  "The workspace of a buffer without a file, such as a chat or a review.")
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
  "Return the ssh host of DIRECTORY; nil for this machine.
It is a `user-error' if DIRECTORY is not reached by ssh alone."
  (when-let* ((method (file-remote-p directory 'method)))
    (unless (member method '("ssh" "sshx" "scp" "scpx" "rsync" "sftp"))
      (user-error (concat "Files by \"%s\" are not supported, only those by"
                          " ssh: run Emacs where the files are")
                  method))
    (let ((user (file-remote-p directory 'user))
          (host (file-remote-p directory 'host)))
      (when (string-match-p "[#%]" host)
        (user-error (concat "Say port and domain of %s in ~/.ssh/config,"
                            " and leave them out here")
                    host))
      (if user (concat user "@" host) host))))

(defun cursord--true-root (directory)
  "Return DIRECTORY without links, as a directory name."
  (file-name-as-directory (file-truename (expand-file-name directory))))

(defun cursord-workspace-at (root)
  "Return the workspace in use whose directory is ROOT, or nil."
  (seq-find (lambda (ws) (equal (cursord-workspace-root ws) root))
            cursord-workspaces))

(defun cursord--workspace-of-file (file)
  "Return the innermost workspace in use around FILE, a name without links."
  (let (best)
    (dolist (ws cursord-workspaces best)
      (when (and (string-prefix-p (cursord-workspace-root ws) file)
                 (or (null best)
                     (> (length (cursord-workspace-root ws))
                        (length (cursord-workspace-root best)))))
        (setq best ws)))))

(defun cursord-workspace-find (&optional buffer)
  "Return the workspace of BUFFER, else of the current one, if it is in use.
It asks no file system, and can be called often."
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
  "Return the remote prefix of the files of WS; \"\" for this machine."
  (or (file-remote-p (cursord-workspace-root ws)) ""))

(defun cursord-file (ws path)
  "Return Emacs's name of the file that a Diff or a Tool of WS calls PATH."
  (if (file-name-absolute-p path)
      (concat (cursord--prefix ws) path)
    (concat (cursord-workspace-root ws) path)))

(defun cursord-path (ws file)
  "Return the path in WS of FILE, a name without links; nil if it is not in WS."
  (and (string-prefix-p (cursord-workspace-root ws) file)
       (substring file (length (cursord-workspace-root ws)))))

(defun cursord-uri (_ws file)
  "Return the daemon's URI of FILE, a name without links."
  (concat "file://"
          (url-hexify-string (encode-coding-string (file-local-name file)
                                                   'utf-8-unix)
                             url-path-allowed-chars)))

(provide 'cursord-root)
;;; cursord-root.el ends here
