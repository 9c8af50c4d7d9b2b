;;; cursord-workspace.el --- What the daemon has told of each workspace  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; A map from id to object, kept by notifications.  Objects are plists as on the
;; wire: (:id "…" :state "running" …), null is nil, false is `:json-false', and
;; a list is a vector.
;;
;; This is what the views are built on:
;;
;;   (cursord-workspace-open)         the workspace of the current buffer,
;;                                    connected; commands begin with it
;;   (cursord-workspace-reviewed)     the same, with its pending changes loaded;
;;                                    commands for hunks begin with it
;;   (cursord-workspace-find)         the same if it is known already, else nil;
;;                                    cheap, for mode lines and hooks
;;   (cursord-request WS METHOD PARAMS :then FN :else FN)
;;                                    asynchronous, always
;;   (cursord-call WS METHOD PARAMS)  waits; only where a person waits anyway
;;   (cursord-notify WS METHOD PARAMS)
;;   (cursord-workspace-diffs WS)     hash table from path to Diff, those with
;;                                    something pending
;;   (cursord-workspace-turns WS)     hash table from id to Turn: those that run
;;                                    or wait, and the last of each session
;;   (cursord-workspace-sessions WS)  hash table from id to Session
;;   (cursord-put-diff WS DIFF)       a Diff of an answer is what is so now
;;   (cursord-pending WS)             (HUNKS . FILES)
;;   (cursord-state WS)               `off' `idle' `queued' `working' `review'
;;                                    `error'
;;   (cursord-file WS PATH), (cursord-path WS FILE), (cursord-uri WS FILE)
;;
;; `cursord-event-functions' has what listens.  cursord.el, which people load,
;; does not load this: it is loaded by the first command.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'cursord-connection)
(require 'cursord-root)
(require 'cursord-turns)

(defvar cursord-event-functions nil
  "Hook with EVENT, WS, OBJECT and BEFORE, called for each thing that is told.
WS is a workspace.  EVENT, OBJECT and BEFORE, its former state, are:
`session'  a Session; (:id ID :removed t) if it was deleted.
`turn'     a Turn.
`item'     an Item.
`delta'    Text appended to an Item: a plist with :itemId, :sessionId, :turnId,
           :offset (in bytes) and :text.
`diff'     a Diff.  One that is \"clean\" has nothing to review any more.
`reset'    a hash table of the diffs there were: all that was known is void.
`ready'    the workspace is subscribed to, for the first time or again.
`down'     the connection was lost.
`current'  the session that is talked with has changed.  If it was just made
           for a Turn, OBJECT is that.
`update'   comes once after several of these: the time to draw again.
An error in one function does not keep the others from being called.")

;;;; Which workspace

(defun cursord--known-root (directory)
  "Return the nearest workspace that the daemon knows around DIRECTORY, or nil."
  (let* ((here (cursord--true-root directory))
         (local (file-local-name here))
         best)
    (ignore-error user-error
      (seq-doseq (one (plist-get (cursord-call-host (cursord--host-of here)
                                                    :workspace/list nil)
                                 :workspaces))
        (let ((root (file-name-as-directory (plist-get one :workspace))))
          (when (and (string-prefix-p root local)
                     (length> root (length best)))
            (setq best root)))))
    (and best (concat (file-remote-p here) best))))

(defun cursord-workspace-open (&optional root)
  "The workspace of the current buffer, or the one with ROOT, connected."
  ;; From now on buffers follow the disk, and hunks in them have keys.
  (require 'cursord-files)
  (require 'cursord-hunks)
  (let* ((given (or root
                    (and cursord-buffer-workspace
                         (cursord-workspace-root cursord-buffer-workspace))
                    (funcall cursord-root-function)))
         (root (cursord--true-root given))
         (ws (cursord-workspace-at root)))
    (when (file-remote-p given 'hop)    ; the true root does not tell
      (user-error "More than one hop is not supported: give the way to %s a name in ~/.ssh/config"
                  (file-remote-p given 'host)))
    (unless (or ws (file-directory-p root))
      (user-error "%s is not a directory" root))
    (let ((host (if ws (cursord-workspace-host ws) (cursord--host-of root))))
      (if (and ws (cursord-connection-to host))
          (when (cursord-workspace-trouble ws)
            (cursord--subscribe ws))
        (unless ws
          (setq ws (cursord--workspace-make :root root :host host
                                            :path (directory-file-name (file-local-name root))))
          (push ws cursord-workspaces)
          (when (cursord-connection-to host)
            (cursord--subscribe ws)))
        ;; Where there was no connection, all workspaces are subscribed to by
        ;; its beginning.
        (cursord-connect host)))
    ws))

;;;; Talking

(cl-defun cursord-request
    (ws method params &key (then #'ignore) (else #'cursord-complain))
  "Call METHOD, a keyword, with PARAMS, a plist, and with WS as its workspace.
It does not wait.  THEN is called with the result, or ELSE with the error, both
plists; always one of them, and never before this has returned."
  (cl-flet ((touching (function)
              (lambda (answer)
                (setf (cursord-workspace-touched ws) t)
                (funcall function answer))))
    (cursord-request-host (cursord-workspace-host ws) method
                          `(:workspace ,(cursord-workspace-path ws) ,@params)
                          :then (touching then) :else (touching else))))

(cl-defun cursord-call (ws method params &key (timeout 10))
  "Call METHOD with PARAMS, and with WS as its workspace, and return the result.
This waits, for TIMEOUT seconds at most; an error is a `user-error'."
  (cursord-call-host (cursord-workspace-host ws) method
                     `(:workspace ,(cursord-workspace-path ws) ,@params)
                     :timeout timeout))

(defun cursord-notify (ws method params)
  "Send the notification METHOD with PARAMS to the daemon of WS.
Nothing is done where that is not connected."
  (cursord-notify-host (cursord-workspace-host ws) method params))

(defconst cursord--listeners
  '(cursord--note-heard cursord--files-event cursord--chat-event
                        cursord--say-turn-end cursord--list-event
                        cursord--review-event)
  "The views of this package that hear of events, in order, once they are loaded.")

(defun cursord--tell (event ws &optional object before)
  "Call all that listens with EVENT, WS, OBJECT and BEFORE."
  (dolist (function cursord--listeners)
    (when (fboundp function)
      (cursord-protected function event ws object before)))
  (cursord-run-hook 'cursord-event-functions event ws object before))

(defun cursord--emit (event ws &optional object before)
  "Tell the listeners of EVENT in WS, with OBJECT and BEFORE."
  (setf (cursord-workspace-touched ws) t)
  (cursord--tell event ws object before))

(defun cursord--batch-ended ()
  "Say `update' of each workspace of which something was told."
  (dolist (ws cursord-workspaces)
    (when (cursord-workspace-touched ws)
      (setf (cursord-workspace-touched ws) nil)
      (cursord--tell 'update ws))))

(defconst cursord--delta-interval 50
  "Milliseconds for which the daemon puts text together before it sends it.")

(defun cursord--forget (ws)
  "Forget all that was told of WS."
  (setf (cursord-workspace-seq ws) nil
        (cursord-workspace-epoch ws) nil
        (cursord-workspace-known ws) nil)
  (clrhash (cursord-workspace-sessions ws))
  (clrhash (cursord-workspace-turns ws))
  (clrhash (cursord-workspace-seqs ws))
  (let ((diffs (copy-hash-table (cursord-workspace-diffs ws))))
    (clrhash (cursord-workspace-diffs ws))
    (cursord--emit 'reset ws diffs)))

(defun cursord--subscribe (ws)
  "Have the daemon tell what happens in WS, from what is known on."
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
  "Forget what is known of WS and have it told again."
  (cursord--forget ws)
  (cursord--subscribe ws))

;;;; What is told

(defun cursord--session-changed (ws params)
  "Take what PARAMS say of a session of WS."
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
  "Take TURN for what is so in WS now."
  (let* ((turns (cursord-workspace-turns ws))
         (before (gethash (plist-get turn :id) turns)))
    ;; Of a session's turns that are over only the last is kept.
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

(defun cursord-diff-seq (ws path)
  "The seq of the latest diff of PATH that was told of in WS; 0 for none."
  (gethash path (cursord-workspace-seqs ws) 0))

(defun cursord-put-diff (ws diff)
  "Take DIFF for what is so in WS now, unless a newer one was told.
An answer can be overtaken."
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
  "Take the notification METHOD with PARAMS that has come from HOST."
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
        ('turn/changed (cursord--turn-changed ws (plist-get params :turn)))
        ('item/changed (cursord--emit 'item ws (plist-get params :item)))
        ('item/delta (cursord--emit 'delta ws params))
        ('diff/changed (cursord-put-diff ws (plist-get params :diff)))))))

(defun cursord--up (host)
  "Subscribe to all workspaces of HOST."
  (dolist (ws cursord-workspaces)
    (when (equal (cursord-workspace-host ws) host)
      (cursord--subscribe ws))))

(defun cursord--down (host)
  "Say of all workspaces of HOST that nothing is told of them now."
  (dolist (ws cursord-workspaces)
    (when (equal (cursord-workspace-host ws) host)
      (setf (cursord-workspace-ready ws) nil)
      (cursord--emit 'down ws))))

(defun cursord--wanted (host)
  "Whether a workspace of HOST is in use."
  (seq-some (lambda (ws) (equal (cursord-workspace-host ws) host))
            cursord-workspaces))

;;;; What one asks of a workspace

(defun cursord-pending (ws)
  "How much is to be reviewed in WS: (HUNKS . FILES)."
  (let ((hunks 0) (files 0))
    (maphash (lambda (_path diff)
               (cl-incf hunks (length (plist-get diff :hunks)))
               (cl-incf files))
             (cursord-workspace-diffs ws))
    (cons hunks files)))

(defun cursord-state (ws)
  "What goes on in WS: `off', `idle', `queued', `working', `review' or `error'."
  (let ((busy (cursord-busy-turns ws)))
    (cond ((not (cursord-connection-to (cursord-workspace-host ws))) 'off)
          ((seq-some (lambda (turn) (equal (plist-get turn :status) "running"))
                     busy) 'working)
          (busy 'queued)
          ((cursord-workspace-failed ws) 'error)
          ((> (car (cursord-pending ws)) 0) 'review)
          (t 'idle))))

(defun cursord-session (ws)
  "The session of WS that is talked with, once there is one."
  (gethash (cursord-workspace-current ws) (cursord-workspace-sessions ws)))

(defun cursord-talk-with (ws session &optional turn)
  "Talk with SESSION in WS from now on, with a new one if it is nil.
TURN is the one that it was made for, if it is new."
  (setf (cursord-workspace-chosen ws) t
        (cursord-workspace-before ws) nil
        (cursord-workspace-current ws) (plist-get session :id))
  (when (and session (not (cursord-session ws)))
    (puthash (plist-get session :id) session (cursord-workspace-sessions ws)))
  (cursord--emit 'current ws turn)
  (cursord--wake 0))

(defun cursord-choose-session (ws done)
  "Call DONE when it is known which session of WS is talked with.
That is the latest there is, if none was chosen."
  (if (cursord-workspace-chosen ws)
      (funcall done)
    (cursord-request
     ws :session/list '(:limit 1)
     :then (lambda (result)
             (unless (cursord-workspace-chosen ws)
               (cursord-talk-with ws
                                  (seq-find #'identity
                                            (plist-get result :sessions))))
             (funcall done))
     :else (lambda (err)
             (cursord-complain err)
             (funcall done)))))

(provide 'cursord-workspace)
;;; cursord-workspace.el ends here
