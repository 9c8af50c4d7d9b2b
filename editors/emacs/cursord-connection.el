;;; cursord-connection.el --- Talk to the daemon  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Emacs has one child `cursord stdio' for this machine, and one for each other
;; machine that it reaches by ssh.
;;
;; `cursord stdio' outlives daemons: it joins the next one.  When it ends
;; itself, it is started again while `cursord-wanted-function' returns non-nil.

;;; Code:

(require 'cl-lib)
(require 'eieio)
(require 'jsonrpc)
(require 'cursord-say)
(require 'cursord-queue)

(defgroup cursord nil
  "Cursor's agent, with review of what it changes hunk by hunk."
  :group 'tools
  :prefix "cursord-")

(defcustom cursord-program "cursord"
  "The program cursord: a file name, or a name in variable `exec-path'."
  :type 'string
  :group 'cursord)

(defcustom cursord-remote-arguments nil
  "More arguments of \"cursord stdio --host HOST\", for other machines.
For example, (\"--remote-program\" \"~/bin/cursord\")."
  :type '(repeat string)
  :group 'cursord)

(defcustom cursord-events-buffer-size 0
  "How many characters of messages to and from the daemon to keep.
The buffer \"*cursord events*\" has them, for debugging.  A change takes
effect with the next connection."
  :type 'natnum
  :group 'cursord)

(defconst cursord-protocol-version 1
  "The version of the protocol that this package speaks.")

(defclass cursord-connection (jsonrpc-process-connection)
  ((host :initarg :host :reader cursord-connection-host
         :documentation "The machine, for ssh; nil for this one.")
   (server :initform nil :accessor cursord-connection-server
           :documentation "The daemon's answer to initialize; nil before.")
   (closing :initform nil :accessor cursord--connection-closing
            :documentation "Whether Emacs has ended the connection."))
  :documentation "A connection to the daemon.")

(defvar cursord--connections nil
  "An alist from hosts to connections.")

(defvar cursord--failures nil
  "An alist from hosts to how often in a row the program has ended.")

(declare-function cursord--wanted "cursord-workspace" (host))
(declare-function cursord--receive "cursord-workspace" (host method params))

(defvar cursord-wanted-function #'cursord--wanted
  "Function of a host: whether to connect again after a loss.")

(defvar cursord-up-functions '(cursord--up)
  "Functions of a host, called when a connection to it begins.")

(defvar cursord-down-functions '(cursord--down)
  "Functions of a host, called when the connection to it was lost.")

(defvar cursord-notification-function #'cursord--receive
  "Function that receives notifications: a host, a method (a symbol), a plist.")

;;;; Connections

(defun cursord-connection-to (host)
  "Return the connection to HOST, or nil."
  (let ((conn (cdr (assoc host cursord--connections))))
    (and conn (jsonrpc-running-p conn) conn)))

(defun cursord--command (host)
  "Return the command line of the program for HOST."
  (let ((program (executable-find cursord-program)))
    (unless program
      (user-error (concat "There is no program %s: install cursord (\"make"
                          " install\" in its repository), or set"
                          " `cursord-program'")
                  cursord-program))
    `(,program "stdio"
               ,@(and host `("--host" ,host ,@cursord-remote-arguments)))))

(defun cursord--make-process (host name)
  "Start the program for HOST as a process called NAME."
  (let ((default-directory (if (file-directory-p "~/")
                               (expand-file-name "~/")
                             "/"))
        (process-adaptive-read-buffering nil)
        (read-process-output-max (max read-process-output-max 65536)))
    (make-process :name name :command (cursord--command host)
                  :connection-type 'pipe
                  :coding 'utf-8-emacs-unix :noquery t
                  ;; Until the library sets its own; see `cursord-connect'.
                  :sentinel (lambda (proc _)
                              (process-put proc 'cursord-early t))
                  ;; The library looks for a buffer of this name.
                  :stderr (get-buffer-create (format "*%s stderr*" name)))))

(defun cursord--events-arguments ()
  "Return the arguments that say how much jsonrpc keeps for debugging.
They have changed with Emacs 30."
  (if (slot-exists-p 'jsonrpc-connection '-events-buffer-config)
      (list :events-buffer-config (list :size cursord-events-buffer-size
                                        :format 'full))
    (list :events-buffer-scrollback-size cursord-events-buffer-size)))

(defvar cursord--connecting nil
  "The connection that begins; requests of its hooks go there.")

(defun cursord-connect (host)
  "Return the connection to HOST, made if there is none; nil is this machine."
  (or (cursord-connection-to host)
      ;; `cursord--ended' may still be in the queue for an earlier one.
      (cursord--lost (cdr (assoc host cursord--connections)))
      (let* ((name (if host (format "cursord %s" host) "cursord"))
             (conn (apply #'make-instance 'cursord-connection
                          :name name :host host
                          :process (lambda () (cursord--make-process host name))
                          :notification-dispatcher #'cursord--notified
                          :on-shutdown (lambda (conn)
                                         (cursord--enqueue
                                          (lambda () (cursord--ended conn)) 0))
                          (cursord--events-arguments))))
        (when (zerop cursord-events-buffer-size)
          ;; The library makes the buffer in any case.
          (with-current-buffer (jsonrpc-events-buffer conn)
            (rename-buffer
             (generate-new-buffer-name (format " *%s events*" name)))))
        (add-function :around (process-filter (jsonrpc--process conn))
                      (lambda (filter &rest args)
                        (cursord--collecting-once
                          (apply filter args))))
        ;; The library's sentinel has messages that help nobody.
        (add-function :around (process-sentinel (jsonrpc--process conn))
                      (lambda (sentinel &rest args)
                        (let ((inhibit-message t) (message-log-max nil))
                          (apply sentinel args))))
        (setf (alist-get host cursord--connections nil nil #'equal) conn)
        ;; The library kills the buffer of an earlier program's errors before it
        ;; sets its sentinel, and Emacs calls sentinels there.
        (let ((proc (jsonrpc--process conn)))
          (when (process-get proc 'cursord-early)
            (funcall (process-sentinel proc) proc "ended early\n")))
        (condition-case err
            (cursord--initialize conn)
          ;; If the program has ended already, `cursord--ended' cares.
          (error (when (jsonrpc-running-p conn) (signal (car err) (cdr err)))))
        (let ((cursord--connecting conn))
          (cursord-run-hook 'cursord-up-functions host))
        conn)))

(defun cursord--initialize (conn)
  "Send the first requests on CONN."
  (cursord--send
   conn :initialize
   (list :processId (emacs-pid) :protocolVersion cursord-protocol-version
         :clientInfo (list :name "Emacs" :version emacs-version))
   (lambda (result)
     (setf (alist-get (cursord-connection-host conn) cursord--failures nil
                      'remove #'equal) nil)
     (setf (cursord-connection-server conn) result))
   (lambda (err)
     (unless (equal (cursord-error-kind err) "disconnected")
       (cursord-complain err)
       (cursord-say (concat "package and program do not fit: run"
                            " \"cursord editor install emacs\","
                            " or update both"))
       (cursord--close conn))))
  (jsonrpc-notify conn :initialized (make-hash-table)))

(defun cursord--notified (conn method params)
  "Put the notification METHOD with PARAMS, from CONN, in the queue."
  (let ((host (cursord-connection-host conn)))
    (cursord--enqueue (lambda ()
                        (funcall cursord-notification-function host method
                                 params))
                      cursord--pause)))

(defun cursord--close (conn)
  "End CONN; the daemon and its turns go on."
  (setf (cursord--connection-closing conn) t)
  (when (jsonrpc-running-p conn)
    (process-send-eof (jsonrpc--process conn))))

(defun cursord-disconnect ()
  "End all connections; the daemon and its turns go on."
  (interactive)
  (dolist (entry cursord--connections)
    (cursord--close (cdr entry))))

(defun cursord--last-words (conn)
  "Return the end of the error output of the program of CONN."
  (let ((buffer (jsonrpc-stderr-buffer conn)))
    (if (buffer-live-p buffer)
        (with-current-buffer buffer
          ;; The error output comes by a pipe of its own.
          (when-let* ((pipe (get-buffer-process buffer)))
            (accept-process-output pipe 0.03 nil t))
          (string-trim (buffer-substring-no-properties (max (point-min)
                                                            (- (point-max) 500))
                                                       (point-max))))
      "")))

(defconst cursord--retry-first 0.1
  "Seconds before the program is started again; each failure doubles them.")
(defconst cursord--retry-most 5 "The most seconds before that.")
(defconst cursord--retry-times 8
  "After so many failures in a row the program is not started again.")

(defvar cursord--retries nil
  "Alist of hosts and the timers that start the program again.")

(defun cursord--retry (host seconds)
  "Connect to HOST again in SECONDS, and at no other time; nil means never."
  (when-let* ((timer (alist-get host cursord--retries nil nil #'equal)))
    (cancel-timer timer))
  (setf (alist-get host cursord--retries nil 'remove #'equal)
        (and seconds
             (run-at-time seconds nil
                          #'cursord-protected #'cursord-connect host))))

(defun cursord--lost (conn)
  "Run the hooks of the loss of CONN, unless that was done; return nil."
  (when (and conn (eq conn (cdr (assoc (cursord-connection-host conn)
                                       cursord--connections))))
    (setf (alist-get (cursord-connection-host conn) cursord--connections nil
                     'remove #'equal) nil)
    (cursord-run-hook 'cursord-down-functions (cursord-connection-host conn))
    nil))

(defun cursord--ended (conn)
  "Run the hooks of the loss of CONN, and connect again if that is wanted."
  (let* ((host (cursord-connection-host conn))
         (failures (1+ (alist-get host cursord--failures 0 nil #'equal)))
         (words (cursord--last-words conn)))
    (cursord--lost conn)
    (cond
     ((or (cursord--connection-closing conn)
          (not (funcall cursord-wanted-function host))))
     ((> failures cursord--retry-times)
      (setf (alist-get host cursord--failures nil 'remove #'equal) nil)
      (cursord--retry host nil)
      (cursord-say "\"%s\" ends again and again; see M-x cursord-doctor%s"
                   (string-join (ignore-errors (cursord--command host)) " ")
                   (if (string-empty-p words) "" (concat "\n  " words))))
     (t
      (setf (alist-get host cursord--failures nil nil #'equal) failures)
      (cursord-log "the connection was lost; it is made again%s"
                   (if (string-empty-p words) "" (concat ": " words)))
      (cursord--retry host
                      (min cursord--retry-most
                           (* cursord--retry-first
                              (expt 2 (1- failures)))))))))

;;;; Requests

(defun cursord--clean (value)
  "Return VALUE with raw bytes in its strings replaced, which JSON cannot have."
  (cond ((stringp value)
         (if (multibyte-string-p value)
             (replace-regexp-in-string "[^[:unicode:]]" "\ufffd" value)
           (decode-coding-string value 'utf-8-unix)))
        ((consp value)
         (cons (cursord--clean (car value)) (cursord--clean (cdr value))))
        ((vectorp value) (vconcat (mapcar #'cursord--clean value)))
        (t value)))

(defun cursord--send (conn method params then else)
  "Call METHOD with PARAMS on CONN.
The answer is queued, for THEN or ELSE."
  (jsonrpc-async-request
   conn method params
   :timeout nil
   :success-fn (lambda (result)
                 (cursord--enqueue (lambda () (funcall then result)) 0))
   :error-fn (lambda (err)
               (when (eql (plist-get err :code) -1)
                 (setq err
                       '( :code -1
                          :message
                          "the connection to the daemon was lost; try again"
                          :data (:kind "disconnected"))))
               (cursord--enqueue (lambda () (funcall else err)) 0))))

(cl-defun cursord-request-host
    (host method params &key (then #'ignore) (else #'cursord-complain))
  "Call METHOD, a keyword, with PARAMS, a plist, on the daemon of HOST.
Do not wait.  Later, call THEN with the result or ELSE with the error, both
plists, in the order of the wire, which notifications share.  One of them is
always called, and never before this function returns."
  (let ((params (or params (make-hash-table))))
    (condition-case err
        (let ((conn (or cursord--connecting (cursord-connect host))))
          (condition-case nil
              (cursord--send conn method params then else)
            (wrong-type-argument
             (cursord--send conn method (cursord--clean params) then else))))
      ((file-error error)
       (let ((text (error-message-string err)))
         (cursord--enqueue
          (lambda ()
            (funcall else
                     (list :code -1 :message text
                           :data '(:kind "disconnected"))))
          0))))))

(defun cursord-notify-host (host method params)
  "Send the notification METHOD with PARAMS to the daemon of HOST.
Do nothing without a connection."
  (when-let* ((conn (cursord-connection-to host)))
    (condition-case nil
        (jsonrpc-notify conn method params)
      (wrong-type-argument (jsonrpc-notify conn method
                                           (cursord--clean params))))))

(cl-defun cursord-call-host (host method params &key (timeout 10))
  "Call METHOD with PARAMS on the daemon of HOST and return its result.
Wait for it, for TIMEOUT seconds at most; this is for commands.  Signal an
error of the daemon as a `user-error'."
  (cursord-connect host)
  (let ((limit (time-add nil timeout)) answer failed)
    (cursord-request-host host method params
                          :then (lambda (result) (setq answer (list result)))
                          :else (lambda (err) (setq failed err)))
    (while (not (or answer failed))
      (unless (time-less-p nil limit)
        (user-error "The daemon has not answered to %s within %d seconds" method
                    timeout))
      (accept-process-output nil 0.02))
    (when failed
      (user-error "%s" (cursord-error-text failed)))
    (car answer)))

(provide 'cursord-connection)
;;; cursord-connection.el ends here
