;;; cursord-workspace.el --- Objects of workspaces  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Notifications of the daemon keep the objects of each workspace up to date.
;; Objects are plists as on the wire: (:id "…" :state "running" …), null is nil,
;; false is `:json-false', and a list is a vector.
;;
;; The views use:
;;
;;   (cursord-workspace-open)         the workspace of the current buffer,
;;                                    connected; commands begin with it
;;   (cursord-workspace-reviewed)     the same, with its pending changes loaded
;;                                    and marked; commands for hunks begin
;;                                    with it (cursord-await.el)
;;   (cursord-workspace-find)         the same if it is in use already, else
;;                                    nil; cheap, for mode lines and hooks
;;   (cursord-request WS METHOD PARAMS :then FN :else FN)  asynchronous, always
;;   (cursord-call WS METHOD PARAMS)  waits; for commands only
;;   (cursord-notify WS METHOD PARAMS)
;;   (cursord-workspace-diffs WS)     hash table from path to Diff, the pending
;;                                    ones
;;   (cursord-workspace-turns WS)     hash table from id to Turn: those that run
;;                                    or wait, and the last of each session
;;   (cursord-workspace-sessions WS)  hash table from id to Session
;;   (cursord-put-diff WS DIFF)       stores a Diff of an answer
;;   (cursord-pending WS)             (HUNKS . FILES)
;;   (cursord-state WS)  `off' `idle' `queued' `working' `review' `error'
;;   (cursord-file WS PATH), (cursord-path WS FILE), (cursord-uri WS FILE)
;;
;; `cursord-event-functions' has the listeners.  cursord.el does not load this
;; file; the first command does.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'cursord-connection)
(require 'cursord-root)
(require 'cursord-turns)

(declare-function cursord--approval-changed "cursord-approvals")

(defvar cursord-event-functions nil
  "Functions of EVENT, WS, OBJECT and BEFORE, called for each message.
WS is a workspace, BEFORE the former state of OBJECT.  EVENT is one of:
`session'  OBJECT is a Session; (:id ID :removed t) if it was deleted.
`turn'     OBJECT is a Turn.
`turn-removed'  OBJECT is the id of a Turn that a rewind has removed.
`item'     OBJECT is an Item.
`approval' OBJECT is an Approval: what the agent asks.
`delta'    Text was appended to an Item.  OBJECT is a plist with :itemId,
           :sessionId, :turnId, :offset (in bytes) and :text.
`diff'     OBJECT is a Diff.  A Diff that is \"clean\" has no hunks any more.
`reset'    All objects are void.  OBJECT is a hash table of the former Diffs.
`ready'    The workspace is subscribed to, for the first time or again.
`down'     The connection was lost.
`current'  The current session has changed.  If it was made for a Turn, OBJECT
           is that Turn.
`update'   A batch of other events has ended: the time to draw.
After an error in one function the others are called all the same.")

;;;; Which workspace

(defun cursord--known-root (directory)
  "Return the nearest workspace that the daemon knows around DIRECTORY, or nil.
The root and the home folder are not the workspace of directories below."
  (let* ((here (cursord--true-root directory))
         (local (file-local-name here))
         (home (file-local-name
                (cursord--true-root (concat (file-remote-p here) "~/"))))
         best)
    (ignore-error user-error
      (seq-doseq (one (plist-get (cursord-call-host (cursord--host-of here)
                                                    :workspace/list nil)
                                 :workspaces))
        (let ((root (file-name-as-directory (plist-get one :workspace))))
          (when (and (string-prefix-p root local)
                     (or (equal root local)
                         (not (member root (list "/" home))))
                     (length> root (length best)))
            (setq best root)))))
    (and best (concat (file-remote-p here) best))))

(defun cursord-workspace-open (&optional root)
  "Return the workspace of the current buffer, or the one at ROOT, connected."
  ;; From now on buffers follow the disk, and hunks in them have keys.
  (require 'cursord-files)
  (require 'cursord-hunks)
  (let* ((given (or root
                    (and cursord-buffer-workspace
                         (cursord-workspace-root cursord-buffer-workspace))
                    (funcall cursord-root-function)))
         (root (cursord--true-root given))
         (ws (cursord-workspace-at root)))
    (when (file-remote-p given 'hop)    ; `root' has no hops any more
      (user-error (concat "More than one hop is not supported:"
                          " give the way to %s a name in ~/.ssh/config")
                  (file-remote-p given 'host)))
    (unless (or ws (file-directory-p root))
      (user-error "%s is not a directory" root))
    (let ((host (if ws (cursord-workspace-host ws) (cursord--host-of root))))
      (if (and ws (cursord-connection-to host))
          (when (cursord-workspace-trouble ws)
            (cursord--subscribe ws))
        (unless ws
          (setq ws (cursord--workspace-make :root root :host host
                                            :path (directory-file-name
                                                   (file-local-name root))))
          (push ws cursord-workspaces)
          (when (cursord-connection-to host)
            (cursord--subscribe ws)))
        ;; A new connection subscribes to all workspaces.
        (cursord-connect host)))
    ws))

;;;; Talking

(cl-defun cursord-request
    (ws method params &key (then #'ignore) (else #'cursord-complain))
  "Call METHOD, a keyword, with PARAMS, a plist, and with WS as its workspace.
Do not wait.  Later, call THEN with the result or ELSE with the error, both
plists.  One of them is always called, and never before this returns."
  (cl-flet ((touching (function)
              (lambda (answer)
                (setf (cursord-workspace-touched ws) t)
                (funcall function answer))))
    (cursord-request-host (cursord-workspace-host ws) method
                          `(:workspace ,(cursord-workspace-path ws) ,@params)
                          :then (touching then) :else (touching else))))

(cl-defun cursord-call (ws method params &key (timeout 10))
  "Call METHOD with PARAMS, and with WS as its workspace; return the result.
Wait for TIMEOUT seconds at most.  Signal errors as a `user-error'."
  (cursord-call-host (cursord-workspace-host ws) method
                     `(:workspace ,(cursord-workspace-path ws) ,@params)
                     :timeout timeout))

(defun cursord-notify (ws method params)
  "Send the notification METHOD with PARAMS to the daemon of WS.
Do nothing without a connection."
  (cursord-notify-host (cursord-workspace-host ws) method params))

(defconst cursord--listeners
  '(cursord--note-heard cursord--files-event cursord--chat-event
                        cursord--say-turn-end cursord--list-event
                        cursord--review-event)
  "The package's own listeners, in order; those that are loaded are called.")

(defun cursord--tell (event ws &optional object before)
  "Call all listeners with EVENT, WS, OBJECT and BEFORE."
  (dolist (function cursord--listeners)
    (when (fboundp function)
      (cursord-protected function event ws object before)))
  (cursord-run-hook 'cursord-event-functions event ws object before))

(defun cursord--emit (event ws &optional object before)
  "Call all listeners with EVENT, WS, OBJECT and BEFORE; `update' will follow."
  (setf (cursord-workspace-touched ws) t)
  (cursord--tell event ws object before))

(defun cursord--batch-ended ()
  "Emit `update' for each workspace with other events before it."
  (dolist (ws cursord-workspaces)
    (when (cursord-workspace-touched ws)
      (setf (cursord-workspace-touched ws) nil)
      (cursord--tell 'update ws))))

(defconst cursord--delta-interval 50
  "Milliseconds for which the daemon gathers text before it sends it.")

(defun cursord--forget (ws)
  "Forget all objects of WS."
  (setf (cursord-workspace-seq ws) nil
        (cursord-workspace-epoch ws) nil
        (cursord-workspace-known ws) nil)
  (clrhash (cursord-workspace-sessions ws))
  (clrhash (cursord-workspace-turns ws))
  (clrhash (cursord-workspace-approvals ws))
  (clrhash (cursord-workspace-seqs ws))
  (let ((diffs (copy-hash-table (cursord-workspace-diffs ws))))
    (clrhash (cursord-workspace-diffs ws))
    (cursord--emit 'reset ws diffs)))

(defun cursord--subscribe (ws)
  "Subscribe to WS, from the latest known seq on."
  (setf (cursord-workspace-trouble ws) nil)
  (cursord-request
   ws :workspace/subscribe
   `(,@(and (cursord-workspace-seq ws)
            (list :after (cursord-workspace-seq ws)
                  :epoch (cursord-workspace-epoch ws)))
     :deltaInterval ,cursord--delta-interval)
   :then (lambda (result)
           (when (eq (plist-get result :reset) t)
             (cursord--forget ws))
           (setf (cursord-workspace-path ws) (plist-get result :workspace)
                 (cursord-workspace-epoch ws) (plist-get result :epoch)
                 (cursord-workspace-ready ws) t)
           (cursord--emit 'ready ws))
   :else (lambda (err)
           (unless (equal (cursord-error-kind err) "disconnected")
             (setf (cursord-workspace-trouble ws) err)
             (cursord-complain err)))))

(defun cursord-resync (ws)
  "Forget all objects of WS and subscribe from the beginning."
  (cursord--forget ws)
  (cursord--subscribe ws))

;;;; Notifications

(defun cursord--session-changed (ws params)
  "Take PARAMS of session/changed in WS."
  (let* ((session (plist-get params :session))
         (id (or (plist-get params :sessionId) (plist-get session :id)))
         (before (gethash id (cursord-workspace-sessions ws))))
    (if session
        (puthash id session (cursord-workspace-sessions ws))
      (remhash id (cursord-workspace-sessions ws))
      (when (equal id (cursord-workspace-current ws))
        (cursord-talk-with ws nil)))
    (cursord--emit 'session ws (or session (list :id id :removed t)) before)))

(defun cursord--turn-changed (ws turn)
  "Store TURN in WS."
  (let* ((turns (cursord-workspace-turns ws))
         (before (gethash (plist-get turn :id) turns)))
    ;; Of the ended turns of a session only the last is kept.
    (maphash (lambda (id other)
               (when (and (equal (plist-get other :sessionId)
                                 (plist-get turn :sessionId))
                          (cursord-turn-ended-p other))
                 (remhash id turns)))
             turns)
    (puthash (plist-get turn :id) turn turns)
    (if (not (cursord-turn-ended-p turn))
        (setf (cursord-workspace-failed ws) nil)
      (when (and before (not (cursord-turn-ended-p before)))
        (setf (cursord-workspace-failed ws)
              (equal (plist-get turn :status) "failed"))))
    (cursord--emit 'turn ws turn before)))

(defun cursord--turn-removed (ws id)
  "Forget turn ID of WS, which a rewind has removed."
  (when (equal (plist-get (gethash id (cursord-workspace-turns ws)) :status)
               "failed")
    (setf (cursord-workspace-failed ws) nil))
  (remhash id (cursord-workspace-turns ws))
  (cursord--emit 'turn-removed ws id))

(defun cursord-diff-seq (ws path)
  "Return the seq of the latest diff of PATH in WS; 0 for none."
  (gethash path (cursord-workspace-seqs ws) 0))

(defun cursord-put-diff (ws diff)
  "Store DIFF in WS, unless a newer one is there.
A notification can overtake an answer."
  (let* ((path (plist-get diff :path))
         (seq (or (plist-get diff :seq) 0))
         (before (gethash path (cursord-workspace-diffs ws))))
    (unless (< 0 seq (cursord-diff-seq ws path))
      (when (> seq 0)
        (puthash path seq (cursord-workspace-seqs ws)))
      (if (equal (plist-get diff :state) "pending")
          (puthash path diff (cursord-workspace-diffs ws))
        (remhash path (cursord-workspace-diffs ws)))
      (cursord--emit 'diff ws diff before))))

(defun cursord--receive (host method params)
  "Take the notification METHOD with PARAMS from HOST."
  (if (eq method 'log/message)
      (if (member (plist-get params :level) '("error" "warning"))
          (cursord-say "%s" (plist-get params :message))
        (cursord-log "%s" (plist-get params :message)))
    (when-let* ((ws (seq-find (lambda (ws)
                                (and (equal (cursord-workspace-path ws)
                                            (plist-get params :workspace))
                                     (equal (cursord-workspace-host ws) host)))
                              cursord-workspaces)))
      (when-let* ((seq (plist-get params :seq)))
        (setf (cursord-workspace-seq ws)
              (max seq (or (cursord-workspace-seq ws) 0))))
      (pcase method
        ('session/changed (cursord--session-changed ws params))
        ('turn/changed
         (if-let* ((turn (plist-get params :turn)))
             (cursord--turn-changed ws turn)
           (cursord--turn-removed ws (plist-get params :turnId))))
        ('item/changed (cursord--emit 'item ws (plist-get params :item)))
        ('approval/changed
         (require 'cursord-approvals)
         (cursord--approval-changed ws (plist-get params :approval)))
        ('item/delta (cursord--emit 'delta ws params))
        ('diff/changed (cursord-put-diff ws (plist-get params :diff)))))))

(defun cursord--up (host)
  "Subscribe to all workspaces of HOST."
  (dolist (ws cursord-workspaces)
    (when (equal (cursord-workspace-host ws) host)
      (cursord--subscribe ws))))

(defun cursord--down (host)
  "Emit `down' for all workspaces of HOST."
  (dolist (ws cursord-workspaces)
    (when (equal (cursord-workspace-host ws) host)
      (setf (cursord-workspace-ready ws) nil)
      (cursord--emit 'down ws))))

(defun cursord--wanted (host)
  "Whether a workspace of HOST is in use."
  (seq-some (lambda (ws) (equal (cursord-workspace-host ws) host))
            cursord-workspaces))

;;;; The state of a workspace

(defun cursord-pending (ws)
  "Return how many hunks and files are pending in WS: (HUNKS . FILES)."
  (let ((hunks 0) (files 0))
    (maphash (lambda (_path diff)
               (cl-incf hunks (length (plist-get diff :hunks)))
               (cl-incf files))
             (cursord-workspace-diffs ws))
    (cons hunks files)))

(defun cursord-state (ws)
  "Return the state of WS.
It is `off', `idle', `queued', `working', `review' or `error'."
  (let ((busy (cursord-busy-turns ws)))
    (cond ((not (cursord-connection-to (cursord-workspace-host ws))) 'off)
          ((seq-some (lambda (turn) (equal (plist-get turn :status) "running"))
                     busy) 'working)
          (busy 'queued)
          ((cursord-workspace-failed ws) 'error)
          ((> (car (cursord-pending ws)) 0) 'review)
          (t 'idle))))

(defun cursord-session (ws)
  "Return the current session of WS, or nil."
  (gethash (cursord-workspace-current ws) (cursord-workspace-sessions ws)))

(defun cursord-talk-with (ws session &optional turn)
  "Make SESSION the current one of WS; nil is for a new one.
TURN is the turn that SESSION was made for, if it is new."
  (setf (cursord-workspace-chosen ws) t
        (cursord-workspace-before ws) nil
        (cursord-workspace-current ws) (plist-get session :id))
  (when (and session (not (cursord-session ws)))
    (puthash (plist-get session :id) session (cursord-workspace-sessions ws)))
  (cursord--emit 'current ws turn)
  (cursord--wake 0))

(defun cursord-choose-session (ws done)
  "Call DONE when the current session of WS is known.
It is the latest session, if none was chosen."
  (if (cursord-workspace-chosen ws)
      (funcall done)
    (cursord-request
     ws :session/list nil
     :then (lambda (result)
             (unless (cursord-workspace-chosen ws)
               (cursord-talk-with ws
                                  (cursord-to-continue
                                   (plist-get result :sessions))))
             (funcall done))
     :else (lambda (err)
             (cursord-complain err)
             (funcall done)))))

(defun cursord-dismiss-in (ws &optional path)
  "Take PATH, a file outside of WS, off the list; without PATH, all of them."
  (cursord-request ws :diff/dismiss (if path (list :path path) (list :all t))
                   :then (lambda (result)
                           (let ((files (plist-get result :dismissed)))
                             (if (zerop files)
                                 (cursord-say
                                  (concat "nothing to dismiss: no file outside"
                                          " of the workspace is listed"))
                               (cursord-say "dismissed %s"
                                            (cursord-plural files "file")))))))

(defun cursord-comment (ws hunk text)
  "Tell the agent TEXT about HUNK of WS with the next prompt."
  (unless (string-blank-p text)
    (cursord-request ws
                     :diff/comment (list :hunk (plist-get hunk :id) :text text)
                     :then (lambda (_)
                             (cursord-say
                              "the agent gets this with its next prompt")))))

(provide 'cursord-workspace)
;;; cursord-workspace.el ends here
