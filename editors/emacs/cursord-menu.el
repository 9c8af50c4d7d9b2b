;;; cursord-menu.el --- All commands at a glance  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-menu' is a transient.  Its infixes are the options of the session,
;; and show their values, which the daemon keeps with the session.

;;; Code:

(require 'eieio)
(require 'transient)
(require 'cursord-workspace)
(require 'cursord)
(require 'cursord-options)

;;;; Options

(defclass cursord--option (transient-variable)
  ((member :initarg :member)            ; the session's member
   (choices :initarg :choices :initform nil)
   (absent :initarg :absent)            ; the value if none is chosen
   (change :initarg :change)            ; the function that sets the value
   (format :initform " %k %d %v"))
  "An option of the current session, or of the next one.")

(cl-defmethod transient-init-value ((obj cursord--option))
  "Give OBJ the session's value."
  (oset obj value
        (when-let* ((ws (cursord-workspace-find)))
          (cursord-option ws (oref obj member)))))

(cl-defmethod transient-infix-read ((obj cursord--option))
  "Return the next choice for OBJ, or read one if it has no choices."
  (let ((choices (oref obj choices))
        (ws (cursord-workspace-open)))
    (if (null choices)
        ;; In a small frame there is no room for completions beside the menu.
        (let ((transient-hide-during-minibuffer-read t))
          (cursord--read-model ws))
      (or (cadr (member (or (oref obj value) (oref obj absent)) choices))
          (car choices)))))

(cl-defmethod transient-infix-set ((obj cursord--option) value)
  "Set the option OBJ of the session to VALUE."
  (funcall (oref obj change) value)
  (transient-init-value obj))

(cl-defmethod transient-format-value ((obj cursord--option))
  "Return the value of OBJ as text; a default is in parentheses."
  (let* ((value (oref obj value))
         (ws (cursord-workspace-find))
         (absent (or (and ws (eq (oref obj member) :model)
                          (cursord--model-word ws nil))
                     (oref obj absent))))
    (if value
        (propertize (if (eq value t) "on"
                      (truncate-string-to-width value 16 nil nil "…"))
                    'face 'transient-value)
      (propertize (format "(%s)" absent) 'face 'transient-inactive-value))))

(defun cursord--next-auto-review (value)
  "Let a classifier decide on commands if VALUE is \"on\"."
  (cursord-set-auto-review (equal value "on")))

(transient-define-infix cursord--menu-model ()
  :class 'cursord--option :description "model" :member :model
  :absent "auto" :change #'cursord-set-model)
(transient-define-infix cursord--menu-mode ()
  :class 'cursord--option :description "mode" :member :mode
  :choices '("agent" "ask" "plan") :absent "agent" :change #'cursord-set-mode)
(transient-define-infix cursord--menu-isolation ()
  :class 'cursord--option :description "isolation" :member :isolation
  :choices '("none" "copy") :absent "none" :change #'cursord-set-isolation)
(transient-define-infix cursord--menu-sandbox ()
  :class 'cursord--option :description "sandbox" :member :sandbox
  :choices '("default" "enabled" "disabled") :absent "default"
  :change #'cursord-set-sandbox)
(transient-define-infix cursord--menu-auto-review ()
  :class 'cursord--option :description "auto-review" :member :autoReview
  :choices '("off" "on") :absent "off" :change #'cursord--next-auto-review)

;;;; The menu

(defun cursord--menu-title ()
  "Return the title of the menu."
  (if-let* ((ws (cursord-workspace-find)))
      (format "%s: %s, %s" (abbreviate-file-name (cursord-workspace-root ws))
              (cursord-state ws)
              (cursord-plural (car (cursord-pending ws)) "hunk"))
    "Not in use here yet"))

(defun cursord--menu-again ()
  "Return what asking the last prompt again is called here."
  (let ((ws (cursord-workspace-find)))
    (if (and ws (cursord-recap-due-p ws)) "ask with a recap" "ask again")))

(defun cursord--menu-fork ()
  "Return what a fork is called here; in a chat it ends with the turn at point."
  (if (derived-mode-p 'cursord-chat-mode) "fork up to here" "fork of this"))

(defun cursord--menu-wide-p ()
  "Return non-nil if the frame has room for four columns."
  (>= (frame-width) 78))

(defun cursord--menu-session ()
  "Return the title of the session's options."
  (let ((title (and (cursord-workspace-find)
                    (plist-get (cursord-session (cursord-workspace-find))
                               :title))))
    (if title
        (format "Session: %s"
                (truncate-string-to-width (cursord-one-line title)
                                          (if (cursord--menu-wide-p) 17 12)
                                          nil nil "…"))
      "The next session")))

;; 24 rows with two windows have room for 14 lines of a menu.
;;;###autoload (autoload 'cursord-menu "cursord-menu" nil t)
(transient-define-prefix cursord-menu ()
  "The commands of cursord.
Keys after `=' are those of `cursord-hunk-command-map', which `C-c =' has in
files."
  [:description cursord--menu-title
   ["Ask"
    ("SPC" "ask" cursord-ask)
    ("w" "write in a buffer" cursord-compose)
    ("+" "add what is here" cursord-add)
    ("I" "add an image" cursord-add-image)
    ("k" "cancel" cursord-cancel)
    ("y" cursord-retry :description cursord--menu-again)
    ("e" "edit the prompt" cursord-edit-prompt)]
   ["Review"
    ("v" "all hunks" cursord-review)
    ("a" "accept hunk" cursord-accept-hunk)
    ("r" "reject hunk" cursord-reject-hunk)
    ("u" "undo decision" cursord-undo)
    ("U" "redo decision" cursord-redo)
    ("n" "next hunk" cursord-next-hunk :transient t)
    ("p" "previous hunk" cursord-previous-hunk :transient t)]
   ["Hunk or file"
    :if cursord--menu-wide-p
    ("= s" "conflicts" cursord-smerge-file)
    ("= e" "Ediff" cursord-ediff-file)
    ("= E" "edit proposal" cursord-edit-proposal)
    ("= m" "tell the agent" cursord-comment-hunk)
    ("= A" "accept file" cursord-accept-file)
    ("= R" "reject file" cursord-reject-file)
    ("?" "why this line" cursord-why)]
   ["Go to"
    :if cursord--menu-wide-p
    ("c" "chat (C-u: new)" cursord)
    ("s" "another session" cursord-resume)
    ("S" "all sessions" cursord-sessions)
    ("/" "search sessions" cursord-search)
    ("f" cursord-fork-session :description cursord--menu-fork)
    ("o" "what waits" cursord-next-attention)
    ("D" "doctor" cursord-doctor)]]
  [:if cursord--menu-wide-p
   [:description cursord--menu-session
    ("-m" cursord--menu-model)
    ("-M" cursord--menu-mode)
    ("-i" cursord--menu-isolation)]
   [""
    ("-s" cursord--menu-sandbox)
    ("-a" cursord--menu-auto-review)
    ("-k" "keep for new ones" cursord-keep-options :transient t)]
   [""
    ("N" "rename" cursord-rename-session)
    ("x" "export" cursord-export)
    ("R" "rewind" cursord-rewind)]
   ["Project"
    ("t" "trust here" cursord-trust)
    ("d" "add folder" cursord-add-directory)
    ("P" "projects" cursord-projects)]]
  [:if-not cursord--menu-wide-p
   [:description cursord--menu-session
    ("-m" cursord--menu-model)
    ("-M" cursord--menu-mode)
    ("-i" cursord--menu-isolation)
    ("-s" cursord--menu-sandbox)
    ("-a" cursord--menu-auto-review)
    ("-k" "keep for new ones" cursord-keep-options :transient t)]
   [""
    ("N" "rename" cursord-rename-session)
    ("x" "export" cursord-export)
    ("t" "trust here" cursord-trust)
    ("c" "chat" cursord)
    ("S" "all sessions" cursord-sessions)
    ("P" "projects" cursord-projects)]]
  ;; There is no room for these, but their keys are those of wide frames.
  [:if-not cursord--menu-wide-p :hide always
   [""
    ("= s" "conflicts" cursord-smerge-file)
    ("= e" "Ediff" cursord-ediff-file)
    ("= E" "edit proposal" cursord-edit-proposal)
    ("= m" "tell the agent" cursord-comment-hunk)
    ("= A" "accept file" cursord-accept-file)
    ("= R" "reject file" cursord-reject-file)
    ("?" "why this line" cursord-why)
    ("s" "another session" cursord-resume)
    ("/" "search sessions" cursord-search)
    ("f" cursord-fork-session :description cursord--menu-fork)
    ("o" "what waits" cursord-next-attention)
    ("D" "doctor" cursord-doctor)
    ("R" "rewind" cursord-rewind)
    ("d" "add folder" cursord-add-directory)]]
  (interactive)
  ;; Without a daemon the menu still has the doctor.
  (ignore-error user-error
    (let ((ws (cursord-workspace-open)))
      (cursord--know-session ws)
      (cursord--ask-default-model ws)))
  (transient-setup 'cursord-menu))

(provide 'cursord-menu)
;;; cursord-menu.el ends here
