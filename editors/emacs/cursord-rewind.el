;;; cursord-rewind.el --- Take turns back  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; The prompts and the patch of a rewind are shown before it happens, and the
;; person is asked.  The daemon makes it; the chat drops the turns when they are
;; removed.

;;; Code:

(require 'cl-lib)
(require 'diff-mode)
(require 'seq)
(require 'subr-x)
(require 'cursord-workspace)
(require 'cursord-ask)
(require 'cursord-chat)
(require 'cursord-decide)
(require 'cursord-report)
(require 'cursord-session)

(defconst cursord--rewind-limit 120
  "Seconds that a rewind, or the patch of one, may take.")

(defun cursord--rewind-busy (ws)
  "Signal a `user-error' if a turn of the current session of WS runs or waits."
  (when-let* ((turn (seq-find (lambda (turn)
                                (equal (plist-get turn :sessionId)
                                       (cursord-workspace-current ws)))
                              (cursord-busy-turns ws))))
    (user-error (concat "A prompt of this session %s:"
                        " M-x cursord-cancel ends it, then go back")
                (if (equal (plist-get turn :status) "running")
                    "is worked on"
                  "waits"))))

(defun cursord--rewind-what (rewound)
  "Return what REWOUND, an answer to session/rewind, takes back, in words."
  (concat (cursord-plural (length (plist-get rewound :turns)) "turn")
          (let ((changes (plist-get rewound :applied)))
            (if (zerop changes)
                ", no change of files"
              (concat " and " (cursord-plural changes "change")
                      " of files")))))

(defun cursord--rewind-left (rewound)
  "Return what REWOUND leaves as it is, a list of texts."
  (mapcar (lambda (one)
            (format "%s stays%s" (plist-get one :path)
                    (cond
                     ((equal (plist-get one :kind) "changedSince")
                      " where it was changed since")
                     ((plist-get one :message)
                      (concat ": " (plist-get one :message)))
                     (t ""))))
          (plist-get rewound :skipped)))

(defconst cursord--rewind-most 5
  "How many prompts are named before a rewind.")

(defun cursord--rewind-prompts (ws rewound)
  "Return the first prompts that REWOUND takes back, at most a few.
REWOUND is the dry run of a rewind of the current session of WS."
  (let* ((ids (take cursord--rewind-most
                    (append (plist-get rewound :turns) nil)))
         (list (cursord-call
                ws :turn/list
                (list :sessionId (cursord-workspace-current ws)
                      :limit (min (length (plist-get rewound :turns)) 1000))))
         (turns (seq-filter (lambda (turn) (member (plist-get turn :id) ids))
                            (plist-get list :turns))))
    (nreverse (mapcar (lambda (turn) (plist-get turn :prompt)) turns))))

(defun cursord--rewind-names (prompts all)
  "Return a text that names PROMPTS and counts the others of ALL turns."
  (let ((more (- all (length prompts))))
    (concat (if (= all 1)
                "This prompt leaves the session:\n"
              "These prompts leave the session:\n")
            (mapconcat (lambda (prompt)
                         (concat "  "
                                 (truncate-string-to-width
                                  (cursord-one-line prompt) 70 nil nil "…")
                                 "\n"))
                       prompts "")
            (if (> more 0) (format "  … and %d more\n" more) ""))))

(defun cursord--rewind-show (ws rewound)
  "Show REWOUND, the dry run of a rewind in WS, in another window.
It is a patch below the prompts that go.  Return the buffer."
  (let ((patch (or (plist-get rewound :patch) ""))
        (names (cursord--rewind-names (cursord--rewind-prompts ws rewound)
                                      (length (plist-get rewound :turns)))))
    (with-current-buffer (get-buffer-create
                          (format "*cursord-rewind: %s*"
                                  (cursord-directory-name ws)))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (insert names
                (mapconcat (lambda (text) (concat text ".\n"))
                           (cursord--rewind-left rewound) "")
                (if (string-empty-p patch)
                    "No file changes.\n"
                  (concat "\n" patch))))
      (diff-mode)
      (setq default-directory (cursord-workspace-root ws))
      (read-only-mode)
      (goto-char (point-min))
      (display-buffer (current-buffer) '(nil (inhibit-same-window . t)))
      (current-buffer))))

(defun cursord--rewind-sure-p (ws rewound question)
  "Show REWOUND, the dry run of a rewind in WS, and ask QUESTION about it.
The keys that scroll another window scroll the patch meanwhile."
  (let* ((buffer (cursord--rewind-show ws rewound))
         ;; For `y-or-n-p', which scrolls from the selected window.
         (other-window-scroll-buffer buffer))
    (unwind-protect
        (minibuffer-with-setup-hook
            (lambda ()
              (when-let* ((window (get-buffer-window buffer)))
                (setq minibuffer-scroll-window window)))
          (yes-or-no-p question))
      (when (buffer-live-p buffer)
        (when-let* ((window (get-buffer-window buffer t)))
          (quit-restore-window window))
        (kill-buffer buffer)))))

(defun cursord--rewind-call (ws turn last)
  "Take WS back to before TURN, an id, and return the answer.
LAST is the id of the last turn that the person was shown; if it is nil,
only return what that would do.  The daemon gets unsaved texts first."
  (let ((limit (time-add nil 10)) ready)
    (cursord-flush ws (lambda () (setq ready t)))
    (while (not ready)
      (unless (time-less-p nil limit)
        (user-error "The daemon has not taken the unsaved texts; try again"))
      (accept-process-output nil 0.02)))
  (condition-case err
      (cursord-call ws :session/rewind
                    `(:sessionId ,(cursord-workspace-current ws) :turnId ,turn
                                 ,@(if last
                                       `(:lastTurnId ,last)
                                     '(:dryRun t)))
                    :timeout cursord--rewind-limit)
    (user-error
     (dolist (document (hash-table-values cursord--documents))
       (when (and (eq ws (cursord-document-ws document))
                  (buffer-live-p (cursord-document-buffer document))
                  (buffer-modified-p (cursord-document-buffer document))
                  (string-prefix-p (concat (cursord-document-path document)
                                           " has unsaved changes")
                                   (cadr err)))
         (user-error (concat "Nothing was taken back: %s has unsaved changes;"
                             " save it first")
                     (cursord-document-path document))))
     (signal (car err) (cdr err)))))

(defun cursord--rewind-asking (ws turn question)
  "Take WS back to before TURN, an id, if the answer to QUESTION is yes.
QUESTION has a %s for what is taken back, of which the patch is shown.  Say
what came of it.  Return nil if the answer is no."
  (when-let* ((dry (cursord--rewind-call ws turn nil))
              ((cursord--rewind-sure-p
                ws dry (format question (cursord--rewind-what dry)))))
    (let ((done (cursord--rewind-call
                 ws turn
                 (car (last (append (plist-get dry :turns) nil))))))
      (cursord--put-diffs ws (plist-get done :diffs))
      (cursord--note-rewound ws (plist-get done :diffs))
      (cursord-say "took back %s%s%s" (cursord--rewind-what done)
                   (mapconcat (lambda (text) (concat "; " text))
                              (cursord--rewind-left done) "")
                   (if (plist-get done :decision)
                       "; M-x cursord-undo brings the files back"
                     "")))
    t))

(defun cursord--note-rewound (ws diffs)
  "Note the texts from before a rewind in WS that changed the files of DIFFS.
If undo brings one of them back, it is said what that is."
  (seq-doseq (diff diffs)
    (when-let* ((document (cursord-document-at ws (plist-get diff :path)))
                (left (cursord-document-left document)))
      (cl-pushnew left (cursord-document-rewound document) :test #'equal)
      (cl-callf2 take 20 (cursord-document-rewound document)))))

(defun cursord--rewind-turn (ws)
  "Return the id of the turn of WS to go back to before.
In a chat it is the one at point; elsewhere read one of the session."
  (cursord--know-session ws)
  (or (and (eq major-mode 'cursord-chat-mode)
           (cursord-transcript-turn-at cursord-transcript (point)))
      (let* ((session (or (cursord-workspace-current ws)
                          (user-error "There is no session yet")))
             (turns (append (plist-get (cursord-call ws :turn/list
                                                     (list :sessionId session
                                                           :limit 200))
                                       :turns)
                            nil))
             (n 0)
             (names (mapcar (lambda (turn)
                              (cons (format "%d: %s" (cl-incf n)
                                            (truncate-string-to-width
                                             (cursord-one-line
                                              (plist-get turn :prompt))
                                             60 nil nil "…"))
                                    (plist-get turn :id)))
                            turns)))
        (unless names
          (user-error "Nothing was asked in this session"))
        ;; What is in the way of the last one is in the way of all.
        (cursord--rewind-call ws (plist-get (car turns) :id) nil)
        (cdr (assoc (cursord-read-title
                     "Back to before (1 is the last): "
                     (lambda (string predicate action)
                       (if (eq action 'metadata)
                           '(metadata (display-sort-function . identity))
                         (complete-with-action action names string predicate)))
                     (caar names))
                    names)))))

;;;###autoload
(defun cursord-rewind ()
  "Take the session back to before a turn, with what it changed in files.
In a chat it is the turn at point; elsewhere you choose one of the current
session.  The prompts and the patch are shown first, and you are asked.
Pending and accepted changes of that turn and the later ones go; lines that
were changed since stay.  \\[cursord-undo] brings the files back, not the
turns."
  (interactive)
  (let ((ws (cursord-workspace-open)))
    (cursord--know-session ws)
    (cursord--rewind-busy ws)
    (unless (cursord--rewind-asking ws (cursord--rewind-turn ws)
                                    "Take back %s? ")
      (cursord-say "nothing was taken back"))))

(provide 'cursord-rewind)
;;; cursord-rewind.el ends here
