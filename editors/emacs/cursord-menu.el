;;; cursord-menu.el --- All commands at a glance  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-menu' is a transient; it is loaded when it is first used.

;;; Code:

(require 'transient)
(require 'cursord-workspace)
(require 'cursord)

(defun cursord--menu-title ()
  "What the menu says of the project."
  (if-let* ((ws (cursord-workspace-find)))
      (format "%s: %s, %s" (abbreviate-file-name (cursord-workspace-root ws))
              (cursord-state ws)
              (cursord-plural (car (cursord-pending ws)) "hunk"))
    "Not in use here yet"))

;;;###autoload (autoload 'cursord-menu "cursord-menu" nil t)
(transient-define-prefix cursord-menu ()
  "All commands of cursord."
  [:description cursord--menu-title
   ["Ask"
    ("SPC" "ask" cursord-ask)
    ("w" "write in a buffer" cursord-compose)
    ("+" "add what is here" cursord-add)
    ("I" "add an image" cursord-add-image)
    ("c" "chat" cursord)
    ("k" "cancel" cursord-cancel)
    ("o" "what waits for me" cursord-next-attention)]
   ["Review"
    ("v" "all hunks" cursord-review)
    ("a" "accept hunk" cursord-accept-hunk)
    ("r" "reject hunk" cursord-reject-hunk)
    ("u" "undo decision" cursord-undo)
    ("U" "redo decision" cursord-redo)
    ("n" "next hunk" cursord-next-hunk :transient t)
    ("p" "previous hunk" cursord-previous-hunk :transient t)]
   ["Session"
    ("s" "go on with another" cursord-resume)
    ("S" "those of all projects" cursord-sessions)
    ("N" "rename" cursord-rename-session)
    ("m" "model" cursord-set-model)
    ("M" "mode" cursord-set-mode)
    ("i" "isolation" cursord-set-isolation)
    ("b" "sandbox" cursord-set-sandbox)
    ("R" "auto-review" cursord-set-auto-review)
    ("d" "add a folder" cursord-add-directory)
    ("X" "delete one" cursord-delete-session)]
   ["Project"
    ("t" "trust" cursord-trust)
    ("D" "doctor" cursord-doctor)]])

(provide 'cursord-menu)
;;; cursord-menu.el ends here
