;;; cursord-approvals.el --- What agents ask  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; While an agent waits for an answer, the buffer "*cursord asks*" is below and
;; the mode line says so.  The buffer does not take the focus, and nothing is
;; answered by itself: a person selects it and presses a key.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-answers)
(require 'cursord-asked)
(require 'cursord-reading)
(require 'cursord-workspace)

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
  ;; The end of each line can be read, also in a narrow window.
  (setq-local truncate-lines nil
              truncate-partial-width-windows nil
              word-wrap t)
  (setq cursord--approvals-shown (make-hash-table :test #'equal)))

(defun cursord--approval-no-word (option)
  "Return what the header line calls OPTION, the answer of `cursord-deny'."
  (if (equal option cursord--approval-none) "no answer" "no"))

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
       (when-let* ((noes (delq nil (mapcar (lambda (one)
                                             (cursord--approval-no (cdr one)))
                                           pending))))
         (concat "\\[cursord-deny] "
                 (string-join (delete-dups (mapcar #'cursord--approval-no-word
                                                   noes))
                              "/")
                 "  "))
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

(defvar-local cursord--approvals-given nil
  "The ids of questions that were answered here, and may be in the buffer yet.")

(defun cursord--approvals-next (here given pending)
  "Return the id of the question that follows HERE, a place, or nil.
GIVEN are the ids of those that were answered here.  The one that follows is in
the buffer and in PENDING; behind the last one it is the first."
  (when (member (car here) given)
    (let* ((ids (mapcar #'car (cursord--approval-regions)))
           (after (cdr (member (car here) ids))))
      (seq-find (lambda (id)
                  (seq-some (lambda (one) (equal id (plist-get (cdr one) :id)))
                            pending))
                (append after ids)))))

(defun cursord--approvals-write (pending)
  "Write PENDING into the buffer in place of what is there."
  (let ((inhibit-read-only t)
        (shown cursord--approvals-shown))
    (setq header-line-format (cursord--approvals-header pending)
          cursord--approvals-shown (make-hash-table :test #'equal))
    (erase-buffer)
    (dolist (one pending)
      (let ((id (plist-get (cdr one) :id))
            (begin (cursord--approval-insert (car one) (cdr one))))
        (when-let* ((before (gethash id shown)))
          (puthash id before cursord--approvals-shown))
        (cursord--approval-written id begin (point))))
    (unless pending
      (insert "No agent asks anything now.\n"))
    (set-buffer-modified-p nil)))

(defun cursord--approvals-draw ()
  "Write what is pending into the buffer, and keep point in its question.
After an answer that was given here, go on to the next question."
  (with-current-buffer (get-buffer-create cursord--approvals-buffer)
    (unless (derived-mode-p 'cursord-approvals-mode)
      (cursord-approvals-mode))
    (let* ((pending (cursord-pending-approvals))
           (here (cursord--approval-place (point)))
           (starts (mapcar (lambda (window)
                             (cons window (cursord--approval-place
                                           (window-start window))))
                           (get-buffer-window-list nil nil t)))
           (next (cursord--approvals-next here cursord--approvals-given
                                          pending))
           (looked (eq (window-buffer) (current-buffer)))
           (empty (null (cursord--approval-regions)))
           (behind (and looked (not empty) (eobp)))
           stays to)
      (cursord--approvals-write pending)
      (setq stays (and here (cursord--approval-position here))
            to (and next (nth 1 (assoc next (cursord--approval-regions)))))
      ;; The key for a question that has gone must not answer another one.
      (goto-char (cond (stays)
                       (to)
                       ((or here behind) (point-max))
                       (t (point-min))))
      (when (and looked pending (not stays) (or to empty))
        (cursord--approval-came-here))
      (pcase-dolist (`(,window . ,start) starts)
        (set-window-point window (point))
        (if (and to (not stays))
            (cursord--approval-top window)
          (when-let* ((start (and start (cursord--approval-position start))))
            (set-window-start window start t))))
      (setq cursord--approvals-given
            (seq-filter #'cursord--approval-find cursord--approvals-given)))
    (cursord--approvals-watch (cursord-pending-approvals))))

(defun cursord--approval-find (id)
  "Return where the question about the approval ID begins, or nil."
  (nth 1 (assoc id (cursord--approval-regions))))

(defun cursord--approval-top (window)
  "Have WINDOW show the question at point from its beginning."
  (let ((to (nth 2 (assoc (cursord--approval-id-at (point))
                          (cursord--approval-regions)))))
    (unless (and to (pos-visible-in-window-p (point) window)
                 (pos-visible-in-window-p (1- to) window))
      (set-window-start window (point)))))

(defun cursord--approvals-show ()
  "Show the buffer below, and do not select it; take it away when it is empty."
  (cursord--approvals-draw)
  (let ((buffer (get-buffer cursord--approvals-buffer)))
    (if (cursord-pending-approvals)
        (display-buffer buffer
                        `((display-buffer-reuse-window
                           display-buffer-at-bottom)
                          (window-height . fit-window-to-buffer)
                          (inhibit-same-window
                           . ,(not (eq buffer (window-buffer))))))
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
                    (truncate-string-to-width
                     (cursord-one-line
                      (cursord--approval-plain
                       (or (plist-get approval :command)
                           (plist-get approval :title))))
                     100 nil nil "…"))))))
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

(defun cursord--approval-here (&optional early)
  "Return (WS . APPROVAL) of the question at point.
Refuse one that has just come, unless EARLY is non-nil.
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
     ((and (not early) (cursord--approval-just-came-p))
      (cursord--approval-refuse))
     (one))))

(defun cursord--approval-give (one option &optional text)
  "Answer ONE, (WS . APPROVAL), with the id OPTION and perhaps TEXT.
If that is no refusal, all of the question must have been on the screen."
  (cursord--approval-must-read one option)
  (cursord--approval-send one option text)
  (with-current-buffer cursord--approvals-buffer
    (push (plist-get (cdr one) :id) cursord--approvals-given)))

(defun cursord--approval-must-read (one option &optional again)
  "Signal a `user-error' if ONE must be read before the answer OPTION.
See `cursord--approval-read' for AGAIN."
  (unless (or (null option) (cursord--approval-refuses-p (cdr one) option))
    (cursord--approval-read (cdr one) again)))

(defun cursord-next-question ()
  "Go to the next question, from the last one to the first."
  (interactive (cursord-only-in 'cursord-approvals-mode) cursord-approvals-mode)
  (goto-char (or (and-let* ((pending (cursord-pending-approvals))
                            (here (get-text-property (point) 'cursord-approval))
                            (next (cadr (member here pending))))
                   (cursord--approval-find (plist-get (cdr next) :id)))
                 (point-min)))
  (when-let* ((window (get-buffer-window)))
    (set-window-point window (point))
    (cursord--approval-top window)))

(defun cursord-approve ()
  "Say yes to what the agent asks at point, once."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-give one (cursord--approval-yes (cdr one)))))

(defun cursord-deny ()
  "Say no to what the agent asks at point.
A question that has no such answer ends without one."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-give one (cursord--approval-no (cdr one)))))

(defun cursord-approve-always ()
  "Allow the command at point, and make it a rule of this folder."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (cursord--approval-give
     one (and (cursord--approval-always-p (cdr one))
              cursord--approval-folder))))

(defun cursord-answer-number ()
  "Give the answer with the number that was pressed.
If there are more answers than digits, the digit begins the number: read it."
  (interactive nil cursord-approvals-mode)
  (let* ((digit (- last-command-event ?0))
         (one (cursord--approval-here t))
         (options (plist-get (cdr one) :options))
         (id (lambda (n)
               (and (<= 1 n (length options))
                    (plist-get (elt options (1- n)) :id)))))
    (if (length> options cursord--digits-most)
        (cursord--approval-number one digit id)
      (cursord--approval-give (cursord--approval-here) (funcall id digit)))))

(defun cursord--approval-number (one digit id)
  "Answer ONE, (WS . APPROVAL), with a number that DIGIT begins.
ID returns the id of the answer with a number.  The digit itself is always
taken: without it, the rest would be another number."
  (let* ((early (cursord--approval-just-came-p))
         (again "type the number again")
         (option (funcall id (cursord--approval-read-number
                              (plist-get (cdr one) :options) digit))))
    (cursord--approval-must-read one option again)
    (when early
      (cursord--approval-refuse again))
    (cursord--approval-give one option)))

(defun cursord--approval-read-number (options digit)
  "Read the number or the label of one of OPTIONS, and return its number.
DIGIT begins what is typed."
  (let* ((n 0)
         (names (mapcar (lambda (option)
                          (format "%d %s" (cl-incf n)
                                  (cursord-one-line (cursord--approval-plain
                                                     (plist-get option
                                                                :label)))))
                        options))
         (table (lambda (string predicate action)
                  (if (eq action 'metadata)
                      '(metadata (display-sort-function . identity)
                                 (cycle-sort-function . identity))
                    (complete-with-action action names string predicate))))
         (valid (lambda (text)
                  (or (member text names)
                      (and (string-match-p "\\`[0-9]+\\'" text)
                           (<= 1 (string-to-number text) n))))))
    (string-to-number
     (completing-read (format "The number of the answer, 1 to %d: " n)
                      table nil valid (number-to-string digit)))))

(defun cursord-answer-with-text ()
  "Answer the question at point with a text."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here)))
    (unless (eq (plist-get (cdr one) :text) t)
      (user-error "The agent takes no text here"))
    (unless (cursord--approval-refuses-p (cdr one) "")
      (cursord--approval-read (cdr one)))
    (let ((text (read-string (if (cursord--approval-plan-p (cdr one))
                                 "Reject the plan, and say: "
                               "The answer: "))))
      (unless (string-blank-p text)
        (cursord--approval-give one "" text)))))

(defun cursord-answer-here ()
  "Give the answer in the line of point."
  (interactive nil cursord-approvals-mode)
  (let ((one (cursord--approval-here))
        (option (get-text-property (point) 'cursord-option)))
    (pcase option
      ('nil (user-error "There is no answer in this line"))
      ((guard (equal cursord--approval-scrolled
                     (cursord--approval-place (point))))
       (user-error "Scrolling has put point here: %s"
                   "move it to your answer, then press RET"))
      ('text (cursord-answer-with-text))
      (_ (cursord--approval-give one option)))))

(provide 'cursord-approvals)
;;; cursord-approvals.el ends here
