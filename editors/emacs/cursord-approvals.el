;;; cursord-approvals.el --- What agents ask  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; While an agent waits for an answer, the buffer "*cursord asks*" is below and
;; the mode line says so.  The buffer does not take the focus, and nothing is
;; answered by itself: a person selects it and presses a key.

;;; Code:

(require 'seq)
(require 'subr-x)
(require 'cursord-answers)
(require 'cursord-workspace)

(defconst cursord--approvals-buffer "*cursord asks*"
  "The name of the buffer of pending approvals.")

(defconst cursord--approvals-linger 2
  "Seconds for which the empty buffer stays while it is selected.
The next question may come, and its key must not be typed into a file.")

(defvar-keymap cursord-approvals-mode-map
  :doc "Keys for what agents ask; they answer the question at point."
  :parent special-mode-map
  "y" #'cursord-approve
  "n" #'cursord-deny
  "a" #'cursord-approve-always
  "t" #'cursord-answer-with-text
  "RET" #'cursord-answer-here
  "TAB" #'cursord-next-question
  "1" #'cursord-answer-number
  "2" #'cursord-answer-number
  "3" #'cursord-answer-number
  "4" #'cursord-answer-number
  "5" #'cursord-answer-number
  "6" #'cursord-answer-number
  "7" #'cursord-answer-number
  "8" #'cursord-answer-number
  "9" #'cursord-answer-number
  "q" #'quit-window)

(define-derived-mode cursord-approvals-mode special-mode "Cursord-Asks"
  "What agents ask, until somebody has answered."
  :interactive nil
  (setq truncate-lines nil
        word-wrap t))

(defun cursord--approvals-header (pending)
  "Return the header line for PENDING; it has no key that answers nothing."
  (cursord-key-text
   (concat
    "\\<cursord-approvals-mode-map>"
    (if (null pending) "\\[quit-window] quit"
      (concat
       (and (seq-some (lambda (one)
                        (cursord--approval-yes (cdr one)))
                      pending)
            "\\[cursord-approve] yes  ")
       (and (seq-some (lambda (one)
                        (cursord--approval-no (cdr one)))
                      pending)
            "\\[cursord-deny] no  ")
       (and (seq-some (lambda (one) (cursord--approval-always-p (cdr one)))
                      pending)
            "\\[cursord-approve-always] always in this folder  ")
       "\\[cursord-answer-here] the answer at point"
       (and (seq-some (lambda (one) (eq t (plist-get (cdr one) :text)))
                      pending)
            "  \\[cursord-answer-with-text] a text")
       (and (cdr pending) "  \\[cursord-next-question] the next question"))))))

(defun cursord-pending-approvals ()
  "Return what is pending in all workspaces, as a list of (WS . APPROVAL).
It is in the order in which it was asked."
  (let (list)
    (dolist (ws cursord-workspaces)
      (maphash (lambda (_id approval) (push (cons ws approval) list))
               (cursord-workspace-approvals ws)))
    (sort list (lambda (a b)
                 (string< (cursord--approval-order (cdr a))
                          (cursord--approval-order (cdr b)))))))

(defun cursord--approval-order (approval)
  "Return a text by which APPROVAL sorts."
  (concat (plist-get approval :createdAt) (plist-get approval :id)))

(defun cursord--approval-plain (text)
  "Return TEXT with its invisible characters in words."
  (replace-regexp-in-string
   "[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
   (lambda (char) (format "<U+%04X>" (aref char 0)))
   (string-trim-right (or text "")) t t))

(defun cursord--approval-insert (ws approval)
  "Insert APPROVAL of WS with its answers."
  (let ((from (point)))
    (insert (propertize
             (format "%s: %s\n"
                     (pcase (plist-get approval :kind)
                       ("permission" "The agent asks for permission")
                       ("plan" "The agent has a plan")
                       (_ "The agent asks"))
                     (if (equal (plist-get approval :title)
                                (plist-get approval :command))
                         ""
                       (cursord-one-line
                        (cursord--approval-plain (plist-get approval :title)))))
             'face 'warning))
    (dolist (text (list (plist-get approval :detail)
                        (plist-get approval :command)
                        (string-join (plist-get approval :paths) "\n")))
      (unless (string-empty-p (cursord--approval-plain text))
        (insert (replace-regexp-in-string
                 "^" "  " (cursord--approval-plain text))
                "\n")))
    (let ((n 0))
      (seq-doseq (option (plist-get approval :options))
        (insert (propertize
                 (format "%d %s%s\n" (cl-incf n)
                         (cursord-one-line (cursord--approval-plain
                                            (plist-get option :label)))
                         (cursord--approval-key approval option))
                 'cursord-option (plist-get option :id)))))
    (when (eq (plist-get approval :text) t)
      (insert (propertize (if (cursord--approval-plan-p approval)
                              "t a no, with a text of yours\n"
                            "t a text of yours\n")
                          'cursord-option 'text)))
    (when (equal (cursord--approval-no approval) cursord--approval-none)
      (insert (propertize "n no answer: the agent goes on without one\n"
                          'cursord-option cursord--approval-none)))
    (insert "\n")
    (put-text-property from (point) 'cursord-approval (cons ws approval))))

(defun cursord--approval-key (approval option)
  "Return the key for OPTION of APPROVAL as text; \"\" if it has only a number."
  (let ((id (plist-get option :id)))
    (if-let* ((command
               (cond ((equal id (cursord--approval-yes approval))
                      #'cursord-approve)
                     ((equal id (cursord--approval-no approval))
                      #'cursord-deny)
                     ((equal id cursord--approval-folder)
                      #'cursord-approve-always)))
              (key (where-is-internal command cursord-approvals-mode-map t)))
        (format " (%s)" (key-description key))
      "")))

(defvar-local cursord--approval-came nil
  "When and where point got to a new question by itself, (TIME . POINT).")

(defvar cursord--approval-reading 0.5
  "Seconds until a key answers a question that has come by itself.
They begin when it comes.  Tests set this.")

(defun cursord--approvals-draw ()
  "Write what is pending into the buffer, and keep point in its question."
  (with-current-buffer (get-buffer-create cursord--approvals-buffer)
    (unless (derived-mode-p 'cursord-approvals-mode)
      (cursord-approvals-mode))
    (let* ((inhibit-read-only t)
           (id (plist-get (cdr (get-text-property (point) 'cursord-approval))
                          :id))
           (line (and id (- (line-number-at-pos)
                            (line-number-at-pos (cursord--approval-start)))))
           (looked (eq (window-buffer) (current-buffer)))
           (empty (not (seq-some (lambda (at)
                                   (get-text-property at 'cursord-approval))
                                 (list (point-min) (max 1 (1- (point-max)))))))
           (behind (and looked (not empty) (eobp)))
           (pending (cursord-pending-approvals)))
      (setq header-line-format (cursord--approvals-header pending))
      (erase-buffer)
      (dolist (one pending)
        (cursord--approval-insert (car one) (cdr one)))
      (unless pending
        (insert "No agent asks anything now.\n"))
      (set-buffer-modified-p nil)
      ;; The key for a question that has gone must not answer another one.
      (goto-char (if (or id behind) (point-max) (point-min)))
      (when-let* ((start (and id (cursord--approval-find id))))
        (goto-char start)
        (forward-line line))
      (when (and looked empty pending)
        (setq cursord--approval-came (cons (current-time) (point))))
      (dolist (window (get-buffer-window-list nil nil t))
        (set-window-point window (point))))))

(defun cursord--approval-start ()
  "Return where the question at point begins."
  (if (or (bobp) (not (eq (get-text-property (point) 'cursord-approval)
                          (get-text-property (1- (point)) 'cursord-approval))))
      (point)
    (or (previous-single-property-change (point) 'cursord-approval)
        (point-min))))

(defun cursord--approval-find (id)
  "Return where the question about the approval ID begins, or nil."
  (let ((at (point-min)) found)
    (while (and at (not found))
      (if (equal id (plist-get (cdr (get-text-property at 'cursord-approval))
                               :id))
          (setq found at)
        (setq at (next-single-property-change at 'cursord-approval))))
    found))

(defun cursord--approvals-show ()
  "Show the buffer below, and do not select it; take it away when it is empty."
  (cursord--approvals-draw)
  (let ((buffer (get-buffer cursord--approvals-buffer)))
    (if (cursord-pending-approvals)
        (display-buffer buffer '((display-buffer-reuse-window
                                  display-buffer-at-bottom)
                                 (window-height . fit-window-to-buffer)
                                 (inhibit-same-window . t)))
      (dolist (window (get-buffer-window-list buffer nil t))
        (if (eq window (selected-window))
            (run-at-time cursord--approvals-linger nil #'cursord-protected
                         #'cursord--approvals-leave window)
          (cursord--approvals-leave window))))))

(defun cursord--approvals-leave (window)
  "Take WINDOW away if it still shows that no agent asks anything."
  (when (and (window-live-p window)
             (equal (buffer-name (window-buffer window))
                    cursord--approvals-buffer)
             (null (cursord-pending-approvals)))
    (if (eq window (selected-window))
        (quit-window nil window)
      ;; It would select the window from before the question.
      (save-selected-window
        (quit-restore-window window 'bury)))))

(defun cursord--approval-changed (ws approval)
  "Store APPROVAL in WS, and show what is pending."
  (let* ((all (cursord-workspace-approvals ws))
         (id (plist-get approval :id))
         (before (gethash id all))
         (pending (equal (plist-get approval :status) "pending")))
    (if pending (puthash id approval all) (remhash id all))
    (when (or pending before)
      (cursord--approvals-show)
      (cond
       ((not pending) (cursord-unsay (plist-get before :said)))
       (before (plist-put approval :said (plist-get before :said)))
       (t
        (plist-put approval :said
                   (cursord-say
                    "the agent asks: %s; M-x cursord-approvals answers"
                    (cursord-one-line
                     (cursord--approval-plain
                      (or (plist-get approval :command)
                          (plist-get approval :title)))))))))
    (cursord--emit 'approval ws approval before)))

;;;; Answers

;;;###autoload
(defun cursord-approvals ()
  "Select the buffer with what agents ask."
  (interactive)
  (cursord--approvals-draw)
  (pop-to-buffer cursord--approvals-buffer
                 '((display-buffer-reuse-window display-buffer-at-bottom)
                   (window-height . fit-window-to-buffer))))

(defun cursord--approval-here ()
  "Return (WS . APPROVAL) of the question at point.
Elsewhere select the buffer, and answer nothing."
  (unless (derived-mode-p 'cursord-approvals-mode)
    (cursord-approvals)
    (user-error "Read the question, and answer it here"))
  (let ((one (get-text-property (point) 'cursord-approval)))
    (cond
     ((null (cursord-pending-approvals))
      (user-error "No agent asks anything now"))
     ((null one)
      (user-error
       "%s" (substitute-command-keys
             (concat "\\<cursord-approvals-mode-map>Point is at no question:"
                     " \\[cursord-next-question] goes to the next one"))))
     ((and (eql (point) (cdr cursord--approval-came))
           (time-less-p nil (time-add (car cursord--approval-came)
                                      cursord--approval-reading)))
      (user-error
       "This question has just come: read it, and press the key again"))
     (one))))

(defun cursord-next-question ()
  "Go to the next question, from the last one to the first."
  (interactive (cursord-only-in 'cursord-approvals-mode) cursord-approvals-mode)
  (goto-char (or (and-let* ((pending (cursord-pending-approvals))
                            (here (get-text-property (point) 'cursord-approval))
                            (next (cadr (member here pending))))
                   (cursord--approval-find (plist-get (cdr next) :id)))
                 (point-min))))

(defun cursord-approve ()
  "Say yes to what the agent asks at point, once."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-answer one (cursord--approval-yes (cdr one)))))

(defun cursord-deny ()
  "Say no to what the agent asks at point.
A question that has no such answer ends without one."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-answer one (cursord--approval-no (cdr one)))))

(defun cursord-approve-always ()
  "Allow the command at point, and make it a rule of this folder."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-answer
     one (and (cursord--approval-always-p (cdr one))
              cursord--approval-folder))))

(defun cursord-answer-number ()
  "Give the answer with the number that was pressed."
  (interactive nil cursord-approvals-mode)
  (let* ((one (cursord--approval-here))
         (n (- last-command-event ?1))
         (options (plist-get (cdr one) :options)))
    (cursord--approval-answer
     one (and (< -1 n (length options)) (plist-get (elt options n) :id)))))

(defun cursord-answer-with-text ()
  "Answer the question at point with a text."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (unless (eq (plist-get (cdr one) :text) t)
      (user-error "The agent takes no text here"))
    (let ((text (read-string (if (cursord--approval-plan-p (cdr one))
                                 "Reject the plan, and say: "
                               "The answer: "))))
      (unless (string-blank-p text)
        (cursord--approval-answer one "" text)))))

(defun cursord-answer-here ()
  "Give the answer in the line of point."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here))
        (option (get-text-property (point) 'cursord-option)))
    (pcase option
      ('nil (user-error "There is no answer in this line"))
      ('text (cursord-answer-with-text))
      (_ (cursord--approval-answer one option)))))

(provide 'cursord-approvals)
;;; cursord-approvals.el ends here
