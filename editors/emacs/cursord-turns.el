;;; cursord-turns.el --- What turns do  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Finds turns that run or wait, and the session to go on with.  Says what turns
;; do, and how a chat shows them.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-root)
(require 'cursord-say)

(defvar cursord-event-functions)

(defun cursord--new-turn-id ()
  "Return a new id for a turn."
  (format "emacs-%x-%x-%x" (emacs-pid) (car (time-convert nil 1000000))
          (random (expt 2 40))))

(defun cursord-turn-ended-p (turn)
  "Return non-nil if TURN has ended."
  (member (plist-get turn :status)
          '("completed" "failed" "cancelled" "interrupted")))

(defun cursord-busy-turns (ws)
  "Return the turns of WS that run or wait, the oldest first."
  (sort (seq-remove #'cursord-turn-ended-p
                    (hash-table-values (cursord-workspace-turns ws)))
        (lambda (a b)
          (string< (plist-get a :createdAt) (plist-get b :createdAt)))))

(defun cursord-to-continue (sessions)
  "Return the first of SESSIONS that is not one of several attempts.
Between those the person has yet to choose."
  (seq-find (lambda (session)
              (let ((group (plist-get (plist-get session :attempt) :group)))
                (or (null group)
                    (= 1 (seq-count
                          (lambda (other)
                            (equal group (plist-get (plist-get other :attempt)
                                                    :group)))
                          sessions)))))
            sessions))

;;;; Silent turns

;; Silence is counted from the last message about a turn.

(defvar cursord-quiet-after 60
  "Seconds of silence after which a turn counts as silent.")

(defvar cursord--heard (make-hash-table :test #'equal)
  "By id, the time of the last message about each running turn.")

(defun cursord--note-heard (event _ws object _before)
  "Note the time of EVENT for the turn that OBJECT is or belongs to."
  (pcase event
    ('turn (if (equal (plist-get object :status) "running")
               (puthash (plist-get object :id) (float-time) cursord--heard)
             (remhash (plist-get object :id) cursord--heard)))
    ((or 'item 'delta)
     (when-let* ((id (plist-get object :turnId))
                 ((gethash id cursord--heard)))
       (puthash id (float-time) cursord--heard)))))

(defun cursord-turn-silence (turn)
  "Return how long TURN, a running one, has been silent.
For example, \"no output for 1m 20s\"; nil if it is not silent."
  (when-let* ((heard (gethash (plist-get turn :id) cursord--heard))
              (seconds (truncate (- (float-time) heard)))
              ((>= seconds cursord-quiet-after)))
    (if (< seconds 3600)
        (format "no output for %dm %ds" (/ seconds 60) (% seconds 60))
      (format "no output for %dh %dm" (/ seconds 3600) (% (/ seconds 60) 60)))))

(defun cursord-turn-work (turn)
  "Return what TURN, a running one, does: \"working\", or what it waits for."
  (let ((commands (length (plist-get turn :background))))
    (if (> commands 0)
        (concat "waiting for " (cursord-plural commands "background command"))
      "working")))

(defun cursord-turn-note (turn)
  "Return what TURN, a running one, does, and how long it has been silent."
  (if (eq (plist-get turn :waiting) t)
      "asks you"
    (string-join (delq nil
                       (list (cursord-turn-work turn)
                             (cursord-turn-silence turn))) ", ")))

(defun cursord-work (ws)
  "Return what the running turns of WS do; if one works, what that one does."
  (let ((notes (mapcar #'cursord-turn-note
                       (seq-filter (lambda (turn)
                                     (equal (plist-get turn :status) "running"))
                                   (cursord-busy-turns ws)))))
    (or (car (member "asks you" notes)) (car (member "working" notes))
        (car notes))))

(defun cursord-asks-word (approvals)
  "Return in words that agents ask APPROVALS, a list; count them if many."
  (if (cdr approvals) (format "asks you %d×" (length approvals)) "asks you"))

(defconst cursord--with-recap
  "with the transcript as context: cursord run --recap --session [^ ]+"
  "How a notice ends that the agent has lost the chat of the session.")

(defun cursord-chat-lost-p (item)
  "Return non-nil if ITEM says that the agent has lost the chat of its session."
  (equal (plist-get item :reason) "chatLost"))

(defun cursord-item-text (item)
  "Return the text of ITEM; what to do next is what Emacs can do."
  (let ((text (or (plist-get item :text) "")))
    (if (cursord-chat-lost-p item)
        (replace-regexp-in-string
         cursord--with-recap
         "with a recap, the transcript as context: Y here, or M-x cursord-retry"
         text t)
      text)))

;;;; In a chat

(defun cursord--heading (turn)
  "Return the heading of the answer of TURN."
  (let ((note (pcase (plist-get turn :status)
                ("queued" "waiting for its turn")
                ("running" (cursord-turn-work turn)) ("completed" nil)
                (status status))))
    (concat (propertize "## Cursor" 'face 'cursord-heading)
            (if note (propertize (concat "  " note) 'face 'cursord-note) ""))))

(defun cursord--prompt-text (turn)
  "Return the text of the prompt of TURN."
  (concat (propertize "## You" 'face 'cursord-heading 'cursord-prompt t) "\n\n"
          (propertize (string-trim-right (plist-get turn :prompt)) 'face
                      'cursord-prompt)
          (mapconcat (lambda (image)
                       (propertize (format "\n[image: %s]" image) 'face
                                   'cursord-note))
                     (plist-get turn :images))))

(provide 'cursord-turns)
;;; cursord-turns.el ends here
