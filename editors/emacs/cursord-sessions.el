;;; cursord-sessions.el --- All projects' sessions  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-sessions' lists the sessions that the daemon of this machine has, of
;; all projects, the latest first.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-lists)
(require 'cursord-session)
(require 'cursord-ask)
(require 'cursord-options)

(defvar-keymap cursord-sessions-mode-map
  :doc "Keys in the list of sessions."
  :parent cursord-list-mode-map
  "RET" #'cursord-sessions-go
  "SPC" #'cursord-sessions-preview
  "j" #'cursord-sessions-jump
  "F" #'cursord-sessions-fork
  "R" #'cursord-sessions-rename
  "D" #'cursord-sessions-delete)

(define-derived-mode cursord-sessions-mode cursord-list-mode "Cursord-Sessions"
  "The sessions of all projects.
The column Hunks counts the pending hunks in which a session had a part.
\\{cursord-sessions-mode-map}"
  :interactive nil
  (setq cursord--list-entries #'cursord--sessions-entries
        cursord--list-columns #'cursord--sessions-columns))

(defun cursord--sessions-columns (narrow)
  "Return the columns of the list, fewer if NARROW."
  (vconcat
   (list (list "State" 7 t)
         (list "Hunks" 5 (cursord--list-hunks< 1) :right-align t)
         '("Age" 7 nil))
   (unless narrow '(("Project" 16 t)))
   '(("Title" 0 t))))

(defvar cursord--counted nil
  "By folder, its pending hunks and those of its sessions when last asked.
An alist of (FOLDER COUNT . SESSIONS), where SESSIONS is one of (ID . COUNT).")

(defun cursord--count-sessions (diffs)
  "Return how many hunks of DIFFS each session had a part in: (ID . COUNT)."
  (let (counts)
    (seq-doseq (diff diffs)
      (seq-doseq (hunk (plist-get diff :hunks))
        (dolist (id (seq-uniq (mapcar (lambda (source)
                                        (plist-get source :sessionId))
                                      (plist-get hunk :sources))))
          (cl-incf (alist-get id counts 0 nil #'equal)))))
    counts))

(defun cursord--session-hunks (project)
  "Return how many hunks the sessions of PROJECT have pending: (ID . COUNT)."
  (let* ((root (plist-get project :workspace))
         (pending (plist-get project :pendingHunks))
         (ws (seq-find (lambda (ws)
                         (and (null (cursord-workspace-host ws))
                              (cursord-workspace-ready ws)
                              (equal root (cursord-workspace-path ws))))
                       cursord-workspaces))
         (known (alist-get root cursord--counted nil nil #'equal)))
    (cond ((not (> pending 0)) nil)
          (ws (cursord--count-sessions
               (hash-table-values (cursord-workspace-diffs ws))))
          ((eql pending (car known)) (cdr known))
          (t (let ((counts (cursord--count-sessions
                            (plist-get (cursord-call-host
                                        nil :diff/list (list :workspace root))
                                       :diffs))))
               (setf (alist-get root cursord--counted nil nil #'equal)
                     (cons pending counts))
               counts)))))

;;;; Forks

(defun cursord--session-origin (session known)
  "Return the session of KNOWN, by id, that SESSION was forked from, or nil.
It is nil if SESSION comes from itself in the end, as imported ones may say."
  (let ((origin (lambda (session)
                  (gethash (plist-get (plist-get session :forkedFrom)
                                      :sessionId)
                           known)))
        (at session) seen)
    (while (and at (not (memq at seen)))
      (push at seen)
      (setq at (funcall origin at)))
    (and (null at) (funcall origin session))))

(defun cursord--session-tree (sessions)
  "Return SESSIONS, the latest first, with forks below theirs.
Each is (SESSION . BRANCH).  BRANCH is what stands in front of a title.  The
tree of the latest session is first.  Forks are in the order of their making."
  (let ((known (make-hash-table :test #'equal))
        (forks (make-hash-table :test #'eq))
        (origins (make-hash-table :test #'eq))
        (grown (make-hash-table :test #'eq))
        nodes)
    (dolist (session sessions)
      (puthash (plist-get session :id) session known))
    (dolist (session sessions)
      (when-let* ((origin (cursord--session-origin session known)))
        (puthash session origin origins)
        (push session (gethash origin forks))))
    (cl-labels ((grow (session branch)
                  (puthash session t grown)
                  (push (cons session branch) nodes)
                  (let ((more (sort (gethash session forks)
                                    (lambda (a b)
                                      (string< (cursord--session-order a)
                                               (cursord--session-order b))))))
                    (while more
                      (grow (car more)
                            (cursord--session-branch branch (null (cdr more))))
                      (setq more (cdr more))))))
      (dolist (session sessions)
        (while-let ((origin (gethash session origins)))
          (setq session origin))
        (unless (gethash session grown)
          (grow session ""))))
    (nreverse nodes)))

(defun cursord--session-order (session)
  "Return a text by which SESSION sorts: when it was made."
  (concat (plist-get session :createdAt) (plist-get session :id)))

(defun cursord--session-branch (branch last)
  "Return what is in front of the title of a fork of a session with BRANCH.
LAST is non-nil if no other fork of that session follows."
  (concat (subst-char-in-string
           ?├ ?│ (subst-char-in-string
                  ?└ ?\s (substring branch 0 (min (length branch) 38))))
          (if last "└ " "├ ")))

(defun cursord--sessions-entries (narrow)
  "Return the entries of the list, with fewer columns if NARROW."
  (let ((hunks (make-hash-table :test #'equal)))
    (dolist (project (cursord--all-projects))
      (pcase-dolist (`(,id . ,count) (cursord--session-hunks project))
        (puthash id count hunks)))
    (mapcar
     (lambda (node)
       (let* ((session (car node))
              (root (plist-get session :workspace))
              (project (file-name-nondirectory root))
              (title (concat (cdr node)
                             (cursord--session-title session))))
         (list session
               (vconcat
                (list (cursord-face-of-state (plist-get session :state))
                      (cursord--list-count (gethash (plist-get session :id)
                                                    hunks 0))
                      (cursord--age (plist-get session :updatedAt)))
                (if narrow (list (concat project ": " title))
                  (list project title))))))
     (cursord--session-tree (cursord--all-sessions)))))

(defun cursord--session-title (session)
  "Return the title of SESSION as one line."
  (let ((title (cursord-one-line (plist-get session :title))))
    (if (string-empty-p title) "(no title)" title)))

;;;###autoload
(defun cursord-sessions ()
  "List the sessions of all projects of this machine."
  (interactive)
  (cursord--list-open "*cursord sessions*" 'cursord-sessions-mode))

(defun cursord--sessions-talk (session &optional place)
  "Go on with SESSION in its project's chat; go to PLACE if it is non-nil."
  (let ((root (plist-get session :workspace)))
    (unless (file-directory-p root)
      (user-error "%s is not there any more; %s shows the session"
                  (abbreviate-file-name root)
                  (substitute-command-keys
                   (concat "\\<cursord-sessions-mode-map>"
                           "\\[cursord-sessions-preview]"))))
    (let ((ws (cursord-workspace-open root)))
      (if place
          (cursord-chat-go-to ws session place)
        (cursord-talk-with ws session)
        (pop-to-buffer (cursord--chat-buffer-create ws))))))

(defun cursord--sessions-place ()
  "Return the place in its session that the row at point is about, or nil."
  (let ((here (cursord--list-here)))
    (cursord-chat-place (plist-get here :turn) (plist-get here :item))))

(defun cursord-sessions-go ()
  "Go on with the session at point, in the chat of its project.
If a search has found a place of it, go there."
  (interactive (cursord-only-in 'cursord-sessions-mode 'cursord-search-mode)
               cursord-sessions-mode cursord-search-mode)
  (cursord--sessions-talk (cursord--list-here) (cursord--sessions-place)))

(defun cursord-sessions-jump ()
  "Choose one of the sessions of all projects and go on with it."
  (interactive (cursord-only-in 'cursord-sessions-mode) cursord-sessions-mode)
  (cursord--sessions-talk
   (cursord--choose-session (cursord--all-sessions) "Go on with: " t)))

(defun cursord--fork (host session turn isolation)
  "Return a fork of SESSION at HOST up to and with TURN; both are ids.
Without TURN it has all turns until one that has not ended.  ISOLATION, if
non-nil, is that of the fork."
  (plist-get (cursord-call-host
              host :session/fork
              `(:sessionId ,session ,@(and turn (list :turnId turn))
                           ,@(and isolation (list :isolation isolation)))
              :timeout 60)
             :session))

(defun cursord--fork-isolation ()
  "Read the isolation of a fork if there is a prefix argument; else return nil."
  (and current-prefix-arg
       (cursord--read-isolation "Isolation of the fork: ")))

(defun cursord--fork-said (fork)
  "Say that FORK is the session of the chat now."
  (cursord-say (concat "the next prompt goes to the fork \"%s\";"
                       " M-x cursord-resume goes back")
               (cursord--session-title fork)))

(defun cursord-sessions-fork (&optional isolation)
  "Begin another session with what was said in the one at point.
In a list of places that a search has found, it has what was said until the end
of the turn of the place at point.  With a prefix argument, choose the ISOLATION
of the fork: whether its agent works in a copy of the project or in the project
itself.  Otherwise it is that of the session."
  (interactive (progn
                 (cursord-only-in 'cursord-sessions-mode 'cursord-search-mode)
                 (cursord--list-here)
                 (list (cursord--fork-isolation)))
               cursord-sessions-mode cursord-search-mode)
  (let* ((here (cursord--list-here))
         (fork (cursord--fork nil (plist-get here :id) (plist-get here :turn)
                              isolation)))
    (cursord--sessions-talk fork)
    (cursord--fork-said fork)))

(defun cursord--fork-here ()
  "Return what to fork in the current buffer: (WS SESSION TURN).
Of a chat or a preview, TURN is the turn at point; it is nil if that has not
ended, and elsewhere."
  (let* ((ws (cursord-workspace-open))
         (tr (and (derived-mode-p 'cursord-chat-mode) cursord-transcript))
         (id (and tr (cursord-transcript-turn-at tr (point))))
         (turn (gethash id (cursord-workspace-turns ws))))
    (if (and tr (cursord-transcript-session tr))
        (progn
          (unless (or id (hash-table-empty-p (cursord-transcript-turns tr)))
            (user-error "There is no turn here to fork at"))
          (list ws (cursord-transcript-session tr)
                (and (or (null turn) (cursord-turn-ended-p turn)) id)))
      (cursord--know-session ws)
      (list ws (or (cursord-workspace-current ws)
                   (user-error "There is no session yet"))
            nil))))

;;;###autoload
(defun cursord-fork-session (&optional isolation)
  "Begin another session with what was said in the current one so far.
In a chat, and in the preview of a session, it has what was said until the end
of the turn at point.  The session stays as it is.  With a prefix argument,
choose the ISOLATION of the fork: whether its agent works in a copy of the
project or in the project itself.  Otherwise it is that of the session."
  (interactive (progn (cursord--fork-here)
                      (list (cursord--fork-isolation))))
  (pcase-let* ((`(,ws ,session ,turn) (cursord--fork-here))
               (fork (cursord--fork (cursord-workspace-host ws) session turn
                                    isolation)))
    (cursord-talk-with ws fork)
    (pop-to-buffer (cursord--chat-buffer-create ws))
    (cursord--fork-said fork)))

(defun cursord-sessions-rename (title)
  "Give the session at point the TITLE."
  (interactive
   (progn
     (cursord-only-in 'cursord-sessions-mode)
     (list (read-string "Title: " (plist-get (cursord--list-here) :title))))
   cursord-sessions-mode)
  (cursord-call-host nil :session/update
                     (list :sessionId (plist-get (cursord--list-here) :id)
                           :title title))
  (cursord--list-show))

(defun cursord-sessions-delete ()
  "Delete the session at point for good, after a question."
  (interactive (cursord-only-in 'cursord-sessions-mode) cursord-sessions-mode)
  (let ((session (cursord--list-here)))
    (when (cursord-may-delete-p session)
      (cursord-call-host nil :session/delete
                         (list :sessionId (plist-get session :id)))
      (cursord--list-show))))

;;;; Previews

(defvar-keymap cursord-preview-mode-map
  :doc "Keys in the preview of a session."
  :parent special-mode-map
  "RET" #'cursord-visit
  "TAB" #'cursord-toggle
  "n" #'cursord-next-message
  "p" #'cursord-previous-message
  "F" #'cursord-fork-session
  "o" #'cursord-older)

(define-derived-mode cursord-preview-mode cursord-chat-mode "Cursord-Preview"
  "The preview of a session.
\\{cursord-preview-mode-map}"
  :interactive nil
  (setq header-line-format
        (cursord-key-text
         (concat " preview · \\<cursord-preview-mode-map>"
                 "\\[cursord-toggle] unfold · \\[quit-window] quit"))))

(defvar-local cursord--previewed nil
  "The id of the session and the place that a preview shows.")

(defun cursord-sessions-preview ()
  "Show the end of the session at point in another window.
If a search has found a place of it, show that place.  If that window shows it
already, scroll it: behind its end comes the beginning, if no place was found.
With a place, this begins with the second of two keys for it."
  (interactive (cursord-only-in 'cursord-sessions-mode 'cursord-search-mode)
               cursord-sessions-mode cursord-search-mode)
  (let* ((session (cursord--list-here))
         (place (cursord--sessions-place))
         (shown (list (plist-get session :id) place))
         (buffer (get-buffer-create "*cursord preview*"))
         (window (get-buffer-window buffer)))
    (if (and window
             (equal shown (buffer-local-value 'cursord--previewed buffer)))
        (with-selected-window window
          (cond
           ((and place
                 (or cursord--chat-goal ; it is not there yet
                     ;; Another command may have left the place.
                     (not (memq last-command '(cursord-sessions-preview
                                               cursord--search-preview)))))
            (cursord-chat-seek place))
           ((not (pos-visible-in-window-p (point-max))) (scroll-up-command))
           (place (cursord-say "this is the end of the session"))
           (t (goto-char (point-min)))))
      (with-current-buffer buffer
        (cursord-preview-mode)
        ;; Its project may not be there any more.
        (let ((root (file-name-as-directory (plist-get session :workspace))))
          (setq cursord--previewed shown
                cursord-buffer-workspace
                (or (cursord-workspace-at root)
                    (cursord--workspace-make
                     :root root :path (plist-get session :workspace)))))
        (cursord-transcript-clear cursord-buffer-workspace
                                  (plist-get session :id))
        (cursord-chat-seek place))
      (display-buffer buffer '(nil (inhibit-same-window . t))))))

(provide 'cursord-sessions)
;;; cursord-sessions.el ends here
