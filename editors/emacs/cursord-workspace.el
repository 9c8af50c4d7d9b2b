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
(require 'project)
(require 'subr-x)
(require 'url-util)
(require 'cursord-connection)

(defcustom cursord-root-function #'cursord-project-root
  "Returns the directory that the agent works in, for the current buffer."
  :type 'function
  :group 'cursord)

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
  (next nil :documentation "What is chosen for a new session, a plist.")
  (images nil
          :documentation "Images that go with the next prompt, as contexts.")
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

(defun cursord-project-root ()
  "The root of the current project.
Where there is none, a directory around that is in use, else the current one."
  (if-let* ((project (project-current)))
      (project-root project)
    (if-let* ((ws (cursord-workspace-find)))
        (cursord-workspace-root ws)
      default-directory)))

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

(defun cursord--emit (event ws &optional object before)
  "Tell the listeners of EVENT in WS, with OBJECT and BEFORE."
  (setf (cursord-workspace-touched ws) t)
  (cursord-run-hook 'cursord-event-functions event ws object before))

(defun cursord--batch-ended ()
  "Say `update' of each workspace of which something was told."
  (dolist (ws cursord-workspaces)
    (when (cursord-workspace-touched ws)
      (setf (cursord-workspace-touched ws) nil)
      (cursord-run-hook 'cursord-event-functions 'update ws nil nil))))

(defconst cursord--delta-interval 50
  "Milliseconds for which the daemon puts text together before it sends it.")

(defun cursord--forget (ws)
  "Forget all that was told of WS."
  (setf (cursord-workspace-seq ws) nil
        (cursord-workspace-epoch ws) nil)
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

(defun cursord-turn-ended-p (turn)
  "Whether TURN is over."
  (member (plist-get turn :status)
          '("completed" "failed" "cancelled" "interrupted")))

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

(setq cursord-notification-function #'cursord--receive
      cursord-wanted-function #'cursord--wanted)
(add-hook 'cursord-up-functions #'cursord--up)
(add-hook 'cursord-down-functions #'cursord--down)
(add-hook 'cursord-batch-functions #'cursord--batch-ended)

;;;; Turns that say nothing

;; The daemon tells nothing of silence: it is counted here, from the last that
;; was told of a turn.

(defvar cursord-quiet-after 60
  "Seconds for which a turn must have said nothing before people are told.")

(defvar cursord--heard (make-hash-table :test #'equal)
  "By id, when something was last told of each turn that runs.")

(defun cursord--note-heard (event _ws object _before)
  "Note that EVENT has told something of the turn that OBJECT is or belongs to."
  (pcase event
    ('turn (if (equal (plist-get object :status) "running")
               (puthash (plist-get object :id) (float-time) cursord--heard)
             (remhash (plist-get object :id) cursord--heard)))
    ((or 'item 'delta)
     (when-let* ((id (plist-get object :turnId))
                 ((gethash id cursord--heard)))
       (puthash id (float-time) cursord--heard)))))

(add-hook 'cursord-event-functions #'cursord--note-heard)

(defun cursord-turn-silence (turn)
  "Since when nothing was told of TURN, which runs: \"no output for 1m 20s\".
Nil before that is of interest."
  (when-let* ((heard (gethash (plist-get turn :id) cursord--heard))
              (seconds (truncate (- (float-time) heard)))
              ((>= seconds cursord-quiet-after)))
    (if (< seconds 3600)
        (format "no output for %dm %ds" (/ seconds 60) (% seconds 60))
      (format "no output for %dh %dm" (/ seconds 3600) (% (/ seconds 60) 60)))))

(defun cursord-turn-work (turn)
  "What TURN, which runs, does: \"working\", or what it waits for."
  (let ((commands (length (plist-get turn :background))))
    (if (> commands 0)
        (concat "waiting for " (cursord-plural commands "background command"))
      "working")))

(defun cursord-turn-note (turn)
  "What TURN, which runs, does, and since when it says nothing, if that is long."
  (string-join (delq nil
                     (list (cursord-turn-work turn)
                           (cursord-turn-silence turn))) ", "))

(defun cursord-work (ws)
  "What the turns of WS that run do: what one of them does that works, if any."
  (let ((notes (mapcar #'cursord-turn-note
                       (seq-filter (lambda (turn)
                                     (equal (plist-get turn :status) "running"))
                                   (cursord-busy-turns ws)))))
    (or (car (member "working" notes)) (car notes))))

;;;; What one asks of a workspace

(defun cursord-busy-turns (ws)
  "The turns of WS that run or wait, the oldest first."
  (sort (seq-remove #'cursord-turn-ended-p
                    (hash-table-values (cursord-workspace-turns ws)))
        (lambda (a b)
          (string< (plist-get a :createdAt) (plist-get b :createdAt)))))

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

(defun cursord-plural (n word)
  "N and WORD, with an s where that fits."
  (format "%d %s%s" n word (if (eql n 1) "" "s")))

(provide 'cursord-workspace)
;;; cursord-workspace.el ends here
