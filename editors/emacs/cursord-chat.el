;;; cursord-chat.el --- The chat of a project  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Each workspace has a chat, a read-only buffer that shows its current session.
;; Prompts are written elsewhere, see cursord-ask.el.

;;; Code:

(require 'cl-lib)
(require 'cursord-workspace)
(require 'cursord-transcript)
(require 'cursord-ask)
(require 'cursord-edits)
(require 'cursord-groups)
(require 'cursord-header)

(declare-function cursord-review "cursord-review")
(declare-function cursord-menu "cursord-menu")
(autoload 'cursord-bookmark-record "cursord-restore")
(autoload 'cursord-desktop-data "cursord-restore")
(defvar desktop-save-buffer)
(declare-function cursord-cancel "cursord-session")
(declare-function cursord-resume "cursord-session")
(declare-function cursord-set-model "cursord-options")
(autoload 'cursord-retry "cursord-again" nil t)
(autoload 'cursord-rewind "cursord-rewind" nil t)
(autoload 'cursord-edit-prompt "cursord-again" nil t)
(autoload 'cursord-fork-session "cursord-sessions" nil t)

(defvar-keymap cursord-chat-mode-map
  :doc "Keys in a chat."
  "RET" #'cursord-visit
  "<mouse-2>" #'cursord-visit-mouse
  "TAB" #'cursord-toggle
  "n" #'cursord-next-message
  "p" #'cursord-previous-message
  "c" #'cursord-compose
  "Y" #'cursord-retry ; not `y', which answers questions
  "e" #'cursord-edit-prompt
  "R" #'cursord-rewind
  "F" #'cursord-fork-session
  "C-c C-c" #'cursord-compose
  "i" #'cursord-steer
  "k" #'cursord-cancel
  "a" #'cursord-approvals
  "C-c C-k" #'cursord-cancel
  "r" #'cursord-review
  "o" #'cursord-older
  "s" #'cursord-resume
  "m" #'cursord-set-model
  "g" #'cursord-chat-resync
  "?" #'cursord-menu)

(define-derived-mode cursord-chat-mode special-mode "Cursord-Chat"
  "Mode of the chat with Cursor's agent.
\\{cursord-chat-mode-map}"
  :interactive nil
  (buffer-disable-undo)
  (setq-local scroll-conservatively 101
              truncate-lines nil
              word-wrap t
              bidi-paragraph-direction 'left-to-right
              bidi-inhibit-bpa t
              outline-regexp "## \\|[◌✓✗∴] "
              outline-level (lambda () (if (eq (char-after) ?#) 1 2))
              imenu-generic-expression '((nil "^## You\n\n\\(.*\\)" 1)))
  (add-to-invisibility-spec '(cursord-fold . t))
  (add-hook 'cursord-transcript-page-hook #'cursord--chat-reach nil t)
  (setq-local bookmark-make-record-function #'cursord-bookmark-record
              desktop-save-buffer #'cursord-desktop-data)
  (setq header-line-format '(:eval (cursord--chat-header))))

;;;; The buffer

(defun cursord-chat-buffer (ws)
  "Return the buffer of the chat of WS, or nil."
  (seq-find (lambda (buffer)
              (and (eq (buffer-local-value 'major-mode buffer)
                       'cursord-chat-mode)
                   (eq (buffer-local-value 'cursord-buffer-workspace buffer)
                       ws)))
            (buffer-list)))

(defun cursord--chat-buffer-create (ws)
  "Return the buffer of the chat of WS, made if there is none."
  (require 'cursord-session)            ; for messages at turns' ends
  (or (cursord-chat-buffer ws)
      (with-current-buffer
          (generate-new-buffer
           (format "*cursord: %s*" (cursord-directory-name ws)))
        (cursord-chat-mode)
        (setq cursord-buffer-workspace ws
              default-directory (cursord-workspace-root ws))
        (cursord-transcript-clear ws (cursord-workspace-current ws))
        (cursord-choose-session ws #'ignore)
        (cursord--ask-default-model ws)
        (current-buffer))))

(defun cursord-show-chat (ws)
  "Show the end of the chat of WS in another window, which is not selected."
  (let ((buffer (cursord--chat-buffer-create ws)))
    (with-current-buffer buffer
      (goto-char (point-max))
      (dolist (window (get-buffer-window-list buffer 'no-minibuffer t))
        (set-window-point window (point-max))))
    (unless (get-buffer-window buffer)
      (save-selected-window
        (display-buffer buffer
                        '((display-buffer-reuse-window
                           display-buffer-use-some-window
                           display-buffer-pop-up-window)
                          (inhibit-same-window . t)))))))

;;;###autoload
(defun cursord (&optional new)
  "Go to the chat of this project.
With a prefix argument NEW, begin a new session."
  (interactive "P")
  (let ((ws (cursord-workspace-open)))
    (when new
      (cursord-talk-with ws nil))
    (pop-to-buffer (cursord--chat-buffer-create ws))))

;;;; Going to a turn

(defvar-local cursord--chat-goal nil
  "The id of the block that point goes to once the chat has it, or nil.")

(defun cursord-chat-place (turn item)
  "Return the id of the block of ITEM, or of the prompt of TURN if ITEM is nil.
Both are ids."
  (or item (and turn (concat "prompt " turn))))

(defun cursord-chat-go-to (ws session place)
  "Go to the chat of WS with SESSION, and to PLACE, see `cursord-chat-place'.
Older messages are read until it is there."
  (cursord-talk-with ws session)
  (pop-to-buffer (cursord--chat-buffer-create ws))
  (cursord-chat-seek place))

(defun cursord-chat-seek (place)
  "Go to PLACE in the current chat or preview, once it is there."
  (setq cursord--chat-goal place)
  (cursord--chat-reach))

(defun cursord--chat-reach ()
  "Go to the goal of the current chat, or read on for it."
  (when cursord--chat-goal
    (let* ((tr cursord-transcript)
           (block (gethash cursord--chat-goal (cursord-transcript-by-id tr))))
      (cond
       (block
        (setq cursord--chat-goal nil)
        (goto-char (cursord--block-start block))
        (dolist (window (get-buffer-window-list nil 'no-minibuffer t))
          (set-window-point window (point))
          (unless (pos-visible-in-window-p (cursord--block-end block) window)
            (set-window-start window (point)))))
       ((cursord-transcript-loading tr))
       ((cursord-transcript-oldest tr) (cursord-transcript-load tr))
       (t (setq cursord--chat-goal nil)
          (cursord-say "the session does not have that turn any more"))))))

(defun cursord-recap-due-p (ws)
  "Return non-nil if the agent had lost the chat of WS in its last turn.
It is known where the chat shows that turn."
  (when-let* ((buffer (cursord-chat-buffer ws))
              (tr (buffer-local-value 'cursord-transcript buffer))
              (turns (seq-filter (lambda (turn)
                                   (equal (cursord-transcript-session tr)
                                          (plist-get turn :sessionId)))
                                 (hash-table-values
                                  (cursord-workspace-turns ws)))))
    ;; Beside its last turn that has ended there are those that run or wait.
    (seq-every-p (lambda (turn)
                   (member (plist-get turn :id) (cursord-transcript-lost tr)))
                 turns)))

;;;; Events

(defun cursord--show-session (ws turn)
  "Show the current session of WS in the current buffer, a chat.
TURN is the turn that it was made for, if it is new."
  (let ((session (cursord-workspace-current ws)))
    (unless (equal session (cursord-transcript-session cursord-transcript))
      ;; A queued turn has no items yet that could be read.
      (cursord-transcript-clear ws session
                                (and (equal (plist-get turn :status) "queued")
                                     turn)))))

(defun cursord--chat-event (event ws object _before)
  "Show EVENT in WS with OBJECT in the chat."
  (when (and (memq event '(turn update)) (not cursord--clock)
             (cursord-busy-turns ws))
    (setq cursord--clock (run-at-time 1 1 #'cursord--tick)))
  (when-let* ((buffer (cursord-chat-buffer ws)))
    (with-current-buffer buffer
      (let* ((tr cursord-transcript)
             (mine (and (memq event '(turn item delta))
                        (equal (plist-get object :sessionId)
                               (cursord-transcript-session tr)))))
        (pcase event
          ('delta (when mine (cursord-transcript-delta tr object)))
          ('item (when mine (cursord-transcript-item tr object)))
          ('turn (when mine (cursord-transcript-turn tr object)))
          ('turn-removed (cursord-transcript-turn-removed tr object))
          ('current (cursord--show-session ws object))
          ('reset (cursord-transcript-clear ws (cursord-transcript-session tr)))
          ('update (cursord-transcript-flush tr)
                   (cursord--chat-reach)
                   (cursord--chat-in-sight)
                   (force-mode-line-update)))))))

(defun cursord--chat-in-sight ()
  "Have the windows of the current chat show text.
They begin at its end if what they showed was taken out of it."
  (dolist (window (get-buffer-window-list nil 'no-minibuffer t))
    (save-excursion
      (goto-char (window-start window))
      (skip-chars-forward " \t\n")
      (when (and (eobp) (> (window-start window) (point-min)))
        (forward-line (- 2 (window-body-height window)))
        (set-window-start window (point) t)))))

;;;; Commands

(defun cursord-chat-resync ()
  "Read everything of this project from the daemon again."
  (interactive (cursord-only-in 'cursord-chat-mode) cursord-chat-mode)
  (cursord-resync (cursord-workspace-open)))

(defun cursord-older ()
  "Show older messages."
  (interactive (cursord-only-in 'cursord-chat-mode) cursord-chat-mode)
  (if (cursord-transcript-oldest cursord-transcript)
      (cursord-transcript-load cursord-transcript)
    (user-error "This is the beginning")))

(defun cursord-toggle ()
  "Unfold or fold the output, the edit or the thoughts at point."
  (interactive (cursord-only-in 'cursord-chat-mode) cursord-chat-mode)
  (let* ((block (cursord--block-at (point)))
         (start (and block (cursord--block-start block))))
    (cond
     ((and start (get-text-property start 'cursord-fold)
           (< (save-excursion (goto-char start) (line-end-position))
              (1- (cursord--block-end block))))
      (cursord--set-fold block (cursord--unfolded-p block))
      (when (invisible-p (point))
        (goto-char start))
      (when (cursord--unfolded-p block)
        (cursord--show-block block)))
     ((when-let* ((item (and start (get-text-property start 'cursord-item)))
                  ((cursord-edit-cut-p (plist-get item :tool))))
        (cursord--read-edit block item)
        t))
     (t (user-error "There is nothing to show or hide here")))))

(defun cursord--show-block (block)
  "Scroll the selected window if it does not show all of BLOCK, just unfolded."
  (let ((start (cursord--block-start block))
        (end (1- (cursord--block-end block))))
    (when (and (eq (current-buffer) (window-buffer))
               (not (pos-visible-in-window-p end)))
      ;; The first line stays in sight.
      (let ((height (window-body-height)))
        (recenter (min (1- height)
                       (+ (max 0 (- height (count-screen-lines start end)))
                          (max 0 (1- (count-screen-lines start (point)))))))))))

(defun cursord--read-edit (block item)
  "Read all of ITEM, an edit that was cut, and unfold it in BLOCK."
  (let ((buffer (current-buffer)) (tr cursord-transcript))
    (cursord-request
     cursord-buffer-workspace :item/read (list :itemId (plist-get item :id))
     :then (lambda (result)
             (cursord--in-transcript
              buffer tr
              (lambda ()
                (cursord-transcript-item tr (plist-get result :item))
                (cursord--set-fold block nil)
                (cursord--show-block block)))))))

(defun cursord--named-file (name)
  "Return the file of the workspace that NAME names, or nil.
Marks of bold and italics around it are no part of it, unless a file is
called so."
  (let ((before (string-match "[^*_]" name))
        (behind (string-match "[*_]*\\'" name)))
    (cl-loop for from from 0 to (or before -1)
             thereis
             (cl-loop for to from (length name) downto behind
                      for file = (cursord-file cursord-buffer-workspace
                                               (substring name from to))
                      when (file-regular-p file) return file))))

(defun cursord--place-at-point ()
  "Return the place that the text at point names, for example src/a.el:12.
The value is (FILE . LINE), or nil if there is no such file.  LINE is nil for
the name of a file alone."
  (save-excursion
    (let ((end (line-end-position)))
      (skip-chars-backward "^ \t\n`'\"()[]<>")
      (when-let* (((looking-at
                    (concat "\\([^] \t\n`'\"()<>:]*[^] \t\n`'\"()<>:.,;!?*]\\)"
                            "\\(?::\\([0-9]+\\)\\)?")))
                  ((<= (match-end 0) end))
                  (line (or (match-string 2) t))
                  (file (cursord--named-file (match-string-no-properties 1))))
        (cons file (and (stringp line) (string-to-number line)))))))

(defun cursord--property-here (property)
  "Return PROPERTY of the text at point; at the end of a line, of the line."
  (get-text-property (if (eolp) (line-beginning-position) (point)) property))

(defun cursord-visit ()
  "Go to the file of the tool call at point, or to the place or link at point.
Of an edit, go to the line at point, else to its first hunk.  A place looks
like src/a.el:12.  Elsewhere, show older messages, or unfold or fold."
  (interactive (cursord-only-in 'cursord-chat-mode) cursord-chat-mode)
  (let ((paths (cursord--property-here 'cursord-paths))
        (item (cursord--property-here 'cursord-item))
        (line (cursord-edit-line))
        (ws cursord-buffer-workspace))
    (cond
     ((get-text-property (point) 'cursord-older) (cursord-older))
     (paths
      (let ((file (cursord-file cursord-buffer-workspace
                                (if (cdr paths)
                                    (completing-read "File: " paths nil t)
                                  (car paths)))))
        (unless (file-exists-p file)
          (user-error "There is no file %s" (abbreviate-file-name file)))
        (find-file-other-window file)
        (when-let* ((row (cursord-edit-row
                          ws (or (cursord-path ws (file-truename file)) "")
                          (plist-get item :id) line)))
          (goto-char (point-min))
          (forward-line row))))
     ((cursord--place-at-point)
      (pcase-let ((`(,file . ,line) (cursord--place-at-point)))
        (find-file-other-window file)
        (when line
          (goto-char (point-min))
          (forward-line (1- line)))))
     ((thing-at-point 'url) (browse-url (thing-at-point 'url)))
     (t (cursord-toggle)))))

(defun cursord-visit-mouse (event)
  "Fold or unfold the text that EVENT clicked at, or go where it leads."
  (interactive (list last-nonmenu-event) cursord-chat-mode)
  (when (mouse-event-p event)
    (mouse-set-point event))
  (cursord-only-in 'cursord-chat-mode)
  (if (get-text-property (point) 'cursord-fold)
      (cursord-toggle)
    (cursord-visit)))

(defun cursord-next-message (n)
  "Go to the next prompt, N times."
  (interactive (cursord-count-in 'cursord-chat-mode) cursord-chat-mode)
  (dotimes (_ (abs n))
    (let ((at (point)))
      (if (> n 0)
          (progn
            (when (get-text-property (point) 'cursord-prompt)
              (goto-char (next-single-property-change (point) 'cursord-prompt
                                                      nil (point-max))))
            (goto-char (next-single-property-change (point) 'cursord-prompt nil
                                                    (point-max))))
        (forward-line 0)
        (goto-char (previous-single-property-change (point) 'cursord-prompt nil
                                                    (point-min)))
        (goto-char (if (get-text-property (point) 'cursord-prompt)
                       (point)
                     (previous-single-property-change (point) 'cursord-prompt
                                                      nil (point-min)))))
      (when (= at (point))
        (user-error "There is no %s prompt" (if (> n 0) "later" "earlier"))))))

(defun cursord-previous-message (n)
  "Go to the previous prompt, N times."
  (interactive (cursord-count-in 'cursord-chat-mode) cursord-chat-mode)
  (cursord-next-message (- n)))

(provide 'cursord-chat)
;;; cursord-chat.el ends here
