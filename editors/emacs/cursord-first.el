;;; cursord-first.el --- Hunks before any command  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-mode' connects when a file is opened in a folder that the daemon
;; knows, or that has hunks, or when an agent begins to work in its folder: a
;; daemon begins, or says that a folder has got its first session, or a person
;; begins to type, saves, pauses, or comes back from where the turn was started.
;; It asks the program for these folders, without waiting; the program starts no
;; daemon for the answer.

;;; Code:

(require 'seq)
(require 'subr-x)

(defcustom cursord-look-for-hunks t
  "Whether `cursord-mode' looks for hunks when files are opened.
If nil, the first command in a project looks for them."
  :type 'boolean
  :group 'cursord)

(declare-function file-notify-add-watch "filenotify" (file flags callback))
(declare-function file-notify-rm-watch "filenotify" (descriptor))
(defvar cursord-program)
(defvar cursord-mode)
(declare-function cursord-workspace-find "cursord-workspace" (&optional buffer))
(declare-function cursord-workspace-at "cursord-root" (root))
(declare-function cursord-workspace-open "cursord-workspace" (&optional root))
(declare-function cursord-workspace-ready "cursord-workspace" (ws))
(declare-function cursord--await "cursord-report" (seconds arrived))
(declare-function cursord--before-first-save "cursord-files" ())

(defconst cursord--look-pause 0.1
  "Seconds for which opened files are gathered before one look for all.")

(defvar cursord--looking nil "Whether a timer is set for the next look.")

;;;###autoload
(defun cursord-first-look ()
  "Look for hunks in the files of buffers, without waiting.
Do nothing if the current file is in a workspace in use."
  (when (and cursord-look-for-hunks (not cursord--looking)
             (not (and (featurep 'cursord-workspace) buffer-file-name
                       (cursord-workspace-find))))
    (setq cursord--looking t)
    (run-at-time cursord--look-pause nil #'cursord--look)))

(defconst cursord--look-idle 4
  "Seconds without a key after which the current file's folder is looked at.")

(defvar cursord--look-timer nil "The timer of that look, or nil.")

;;;###autoload
(defun cursord-look-again ()
  "Look for hunks, and for agents at work, if the current buffer has a file."
  (when (and buffer-file-name (frame-focus-state))
    (cursord-first-look)))

;;;###autoload
(defun cursord-look-often (on)
  "Look at first changes, saves, pauses, focus and a daemon's begin, if ON."
  (remove-function after-focus-change-function #'cursord-look-again)
  (remove-hook 'before-save-hook #'cursord-look-before-save)
  (remove-hook 'after-save-hook #'cursord-first-look)
  (remove-hook 'first-change-hook #'cursord-look-again)
  (cursord--watch-no-more)
  (when cursord--look-timer
    (cancel-timer cursord--look-timer)
    (setq cursord--look-timer nil))
  (when on
    (add-function :after after-focus-change-function #'cursord-look-again)
    (add-hook 'before-save-hook #'cursord-look-before-save 90)
    (add-hook 'after-save-hook #'cursord-first-look)
    (add-hook 'first-change-hook #'cursord-look-again)
    (setq cursord--look-timer
          (run-with-idle-timer cursord--look-idle t #'cursord-look-again))))

(defun cursord--look ()
  "Ask the program for the workspaces that the daemon knows, or with hunks.
Return its process, or nil."
  (setq cursord--looking nil)
  (when-let* ((program (executable-find (or (bound-and-true-p cursord-program)
                                            "cursord"))))
    (let ((default-directory (if (file-directory-p "~/") (expand-file-name "~/")
                               "/"))
          (out (generate-new-buffer " *cursord look*" t)))
      (condition-case nil
          (make-process
           :name "cursord look" :buffer out :noquery t :connection-type 'pipe
           :coding 'utf-8-unix
           :stderr (generate-new-buffer " *cursord look stderr*" t)
           :command (list program "workspaces" "--for-editors" "--json")
           :sentinel #'cursord--looked)
        (error (kill-buffer out) nil)))))

(defun cursord--looked (process _event)
  "Take the workspaces that PROCESS has printed, once it has ended."
  (unless (or (process-live-p process) (process-get process 'cursord-looked))
    (let* ((buffer (process-buffer process))
           (found (and (buffer-live-p buffer)
                       (eql 0 (process-exit-status process))
                       (with-current-buffer buffer
                         (goto-char (point-min))
                         (ignore-errors
                           (json-parse-buffer :array-type 'list
                                              :object-type 'plist))))))
      (when (buffer-live-p buffer) (kill-buffer buffer))
      (when-let* ((errors (get-buffer " *cursord look stderr*")))
        (let ((kill-buffer-query-functions nil)) (kill-buffer errors)))
      (when (and found cursord-mode)
        (cursord--await-daemon (plist-get found :socket)
                               (plist-get found :news))
        (cursord--open-found
         (mapcar #'file-name-as-directory (plist-get found :folders))))
      (process-put process 'cursord-looked t))))

;;;; A daemon's begin

(defvar cursord--watch nil
  "The watch of the folder where a daemon makes its socket: (FOLDER . WATCH).")

(defun cursord--watch-no-more ()
  "Do not watch for a daemon any more."
  (when (cdr cursord--watch)
    (file-notify-rm-watch (cdr cursord--watch)))
  (setq cursord--watch nil))

(defun cursord--await-daemon (socket news)
  "Look again when a daemon makes SOCKET, or NEWS: a folder's first session.
Until the folder of both is there, watch the next one above it."
  (let ((name socket))
    (while (not (file-directory-p (file-name-directory name)))
      (setq name (directory-file-name (file-name-directory name))))
    (let ((folder (file-name-directory name)))
      (unless (equal folder (car cursord--watch))
        (cursord--watch-no-more)
        (setq cursord--watch
              (cons folder
                    (ignore-errors
                      (require 'filenotify)
                      (file-notify-add-watch
                       folder '(change)
                       (lambda (event)
                         (cursord--watched event socket news name))))))
        (when (and (not (equal name socket)) (file-directory-p name))
          ;; It came before the watch.
          (cursord--await-daemon socket news)
          (cursord--look-again socket))))))

(defun cursord--look-again (socket)
  "Look if a daemon listens at SOCKET: now, and when a session is stored."
  (when (file-exists-p socket)
    (cursord--look)
    (run-at-time 1 nil #'cursord--look)))

(defun cursord--watched (event socket news name)
  "Take EVENT in the folder of NAME, which is SOCKET or a folder around it.
NEWS is a file beside SOCKET."
  (pcase event
    (`(,watch stopped . ,_)
     (when (equal watch (cdr cursord--watch))
       (setq cursord--watch nil)))
    ((and `(,_ created ,(or (pred (equal name)) (pred (equal news))) . ,_)
          (guard cursord-mode))
     (cursord--await-daemon socket news)
     (cursord--look-again socket))))

;;;; Before a save

(defconst cursord--save-most 1
  "The most seconds for which a save waits for the program and the daemon.")

(defvar cursord--save-looked 0 "When the last look before a save has ended.")

(defvar cursord--save-late nil
  "Whether the program took longer.  Saves do not wait after that.")

(defun cursord-look-before-save ()
  "Connect if an agent works in the folder of the current buffer, to be saved.
Have the daemon know the text: what it hears of later counts as written by the
command that the agent runs."
  (when (and cursord-look-for-hunks buffer-file-name
             (not cursord--save-late)
             (not (file-remote-p buffer-file-name))
             (not (and (featurep 'cursord-workspace) (cursord-workspace-find)))
             ;; One answer serves all buffers that are saved at once.
             (> (- (float-time) cursord--save-looked) 0.2))
    (with-demoted-errors "cursord: %S"
      (let ((process (cursord--look))
            (limit (+ (float-time) cursord--save-most)))
        (while (and process (process-live-p process) (< (float-time) limit))
          (accept-process-output nil 0.01))
        ;; Emacs runs no sentinel while keys or a watched file's change wait.
        (when (and process (not (process-live-p process)))
          (while (accept-process-output process 0))
          (cursord--looked process nil))
        (setq cursord--save-looked (float-time)
              cursord--save-late
              (and process (not (process-get process 'cursord-looked)))))))
  (when-let* ((buffer-file-name)
              ((featurep 'cursord-files))
              (ws (cursord-workspace-find))
              ((not (cursord-workspace-ready ws))))
    (with-demoted-errors "cursord: %S"
      (cursord--await cursord--save-most
                      (lambda () (cursord-workspace-ready ws)))
      (cursord--before-first-save))))

(defun cursord--open-found (roots)
  "Open the workspaces of ROOTS around files in buffers; the innermost of each."
  (require 'cursord-files)
  (dolist (buffer (buffer-list))
    (when-let* ((file (buffer-local-value 'buffer-file-truename buffer))
                (file (expand-file-name file))
                (root (car (sort (seq-filter
                                  (lambda (root) (string-prefix-p root file))
                                  roots)
                                 (lambda (a b) (> (length a) (length b))))))
                ((not (cursord-workspace-at root))))
      (with-current-buffer buffer
        (ignore-error user-error
          (cursord-workspace-open root))))))

(provide 'cursord-first)
;;; cursord-first.el ends here
