;;; cursord-compare.el --- A file and its old text  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Ediff for the hunks of a file.  Changes made in Ediff are a person's edits.
;; The text that an isolated session proposes can be edited before it is
;; accepted: then the file gets the edited text.

;;; Code:

(require 'cl-lib)
(require 'ediff)
(require 'cursord-workspace)
(require 'cursord-document)
(require 'cursord-disk)
(require 'cursord-files)
(require 'cursord-decide)
(require 'cursord-marks)
(require 'cursord-hunks)
(require 'cursord-await)
(require 'cursord-replace)

(defun cursord--diff-to-compare (ws path)
  "Return the diff of the file PATH of WS, or signal a `user-error'."
  (let ((diff (gethash path (cursord-workspace-diffs ws))))
    (cond
     ((null diff) (user-error "There is nothing to review in %s" path))
     ((not (cursord-diff-text-p diff))
      (user-error "There is no text to compare: %s is %s" path
                  (plist-get diff :kind))))
    diff))

(defun cursord--file-to-compare ()
  "Return the buffer and the diff of the file at point, (BUFFER . DIFF).
If both buffer and file have changed, the diff may be nil."
  (pcase-let* ((`(,ws ,path . ,_) (cursord-file-here))
               (document (cursord-document-at ws path)))
    (if (and document (cursord-document-conflict document))
        (cons (cursord-document-buffer document)
              (gethash path (cursord-workspace-diffs ws)))
      (cursord--diff-to-compare ws path)
      (let* ((buffer (cursord-file-buffer ws path))
             (document (cursord-document buffer)))
        (when document
          (cursord-await-marks document)
          (unless (cursord--diff-fits-p document)
            (user-error (concat "%s has unsaved changes that the daemon"
                                " cannot read; save it first")
                        path)))
        (cons buffer (cursord--diff-to-compare ws path))))))

(defun cursord--other-side (text diff)
  "Return TEXT, of a file, with the hunks of DIFF taken back.
For isolated hunks, return it with their new lines."
  (with-temp-buffer
    (insert text)
    (unless (or (bolp) (= (buffer-size) 0))
      (insert "\n"))
    (seq-doseq (hunk (reverse (plist-get diff :hunks)))
      (dolist (group (reverse (car (cursord-groups hunk))))
        (goto-char (point-min))
        (forward-line (cursord-group-row group))
        (delete-region (point) (line-beginning-position
                                (1+ (length (cursord-group-present group)))))
        (dolist (line (cursord-group-absent group))
          (insert (cursord--bare line) "\n"))))
    (when (seq-some (lambda (hunk)
                      (eq t
                          (plist-get hunk
                                     (if (cursord-isolated-p hunk)
                                         :newNoEol
                                       :oldNoEol))))
                    (plist-get diff :hunks))
      (goto-char (point-max))
      (when (eq (char-before) ?\n)
        (delete-char -1)))
    (buffer-string)))

(defun cursord--ediff (a b)
  "Compare the buffers A and B; in the end kill A and restore the windows."
  (let ((windows (current-window-configuration)))
    ;; Else deleted lines would be shown twice.
    (cursord-marks-hide b t)
    (ediff-buffers
     a b
     (list (lambda ()
             (add-hook 'ediff-after-quit-hook-internal
                       (lambda ()
                         (when (buffer-live-p a) (kill-buffer a))
                         (cursord-marks-hide b nil)
                         (set-window-configuration windows))
                       nil t))))))

;;;###autoload
(defun cursord-ediff-file ()
  "Compare the file at point with its text before the agent, by Ediff.
Copying from there to the file is an edit like any other.  If both buffer and
file have changed, compare these."
  (interactive)
  (pcase-let* ((`(,buffer . ,diff) (cursord--file-to-compare))
               (conflict (cursord-document-conflict (cursord-document buffer))))
    (if conflict
        (with-current-buffer buffer
          (let ((disk (car (cursord--read-file
                            (expand-file-name buffer-file-truename)
                            buffer-file-coding-system))))
            (cursord--ediff (cursord--side-buffer "disk" (or disk "") buffer)
                            buffer)))
      (cursord--ediff
       (cursord--side-buffer (if (seq-some #'cursord-isolated-p
                                           (plist-get diff :hunks)) "agent"
                               "before")
                             (with-current-buffer buffer
                               (cursord--other-side (cursord--whole-text) diff))
                             buffer)
       buffer))))

(defun cursord--side-buffer (what text buffer)
  "Return a read-only buffer with TEXT, named after WHAT and BUFFER's file."
  (let ((side (generate-new-buffer (format "*%s: %s*" (buffer-name buffer)
                                           what)))
        (mode (buffer-local-value 'major-mode buffer)))
    (with-current-buffer side
      (insert text)
      (delay-mode-hooks (funcall mode))
      (set-buffer-modified-p nil)
      (setq buffer-read-only t))
    side))

;;;; Copies that are edited

(declare-function cursord-review-hunk-at "cursord-review" (position))

(defun cursord--hunk-of (hunks)
  "Return the one of HUNKS, of a file, that point is on, else the first."
  (let ((here (if (cursord--in-review-p)
                  (cursord-review-hunk-at (point))
                (cursord-hunk-at))))
    (or (seq-find (lambda (hunk)
                    (equal (plist-get hunk :id) (plist-get here :id)))
                  hunks)
        (seq-first hunks))))

(defun cursord--saved-by (document finish)
  "Have saving the current buffer, a copy of DOCUMENT's text, call FINISH.
So Emacs offers to save what was edited here before it ends, and before it
kills the buffer."
  (setq buffer-offer-save t
        write-contents-functions
        (list (lambda () (cursord--save-copy document finish))))
  (add-hook 'kill-buffer-query-functions #'cursord--forget-copy-p nil t))

(defun cursord--forget-copy-p ()
  "Return non-nil if what was changed in this copy may be lost."
  (or (not (buffer-modified-p))
      (y-or-n-p "Forget what you changed here? ")))

(defun cursord--quit-copy ()
  "Go back from this copy, and decide nothing."
  (when (cursord--forget-copy-p)
    (set-buffer-modified-p nil)
    (quit-window t)))

(defconst cursord--save-copy-most 10
  "The most seconds for which a save of a copy waits until it is taken.")

(defun cursord--save-copy (document finish)
  "Call FINISH for the current buffer, a copy of DOCUMENT's text, and wait.
Signal an error if the copy is not taken: Emacs shall not end then."
  (let ((copy (current-buffer))
        (ws (cursord-document-ws document)))
    (cl-flet ((taken-p () (or (not (buffer-live-p copy))
                              (not (buffer-modified-p copy)))))
      (funcall finish)
      (cursord--await cursord--save-copy-most
                      (lambda ()
                        (or (taken-p)
                            (not (or (assq ws cursord--deciding)
                                     (cursord-document-reading document))))))
      (unless (taken-p)
        (user-error "%s is not taken over: %s" (buffer-name copy)
                    (or (current-message) "try again")))
      t)))

;;;; Editing proposals

(defvar-local cursord--proposal nil
  "The hunks of this buffer, a proposal: (DOCUMENT HUNKS . HASH).
The text of the document had that HASH.")

(defvar-keymap cursord-proposal-mode-map
  :doc "Keys in a proposal."
  "C-c C-c" #'cursord-proposal-accept
  "<remap> <save-buffer>" #'cursord-proposal-save
  "C-c C-k" #'cursord-proposal-quit)

(define-minor-mode cursord-proposal-mode
  "Minor mode for editing the text that an agent proposes for a file.
\\<cursord-proposal-mode-map>\\[cursord-proposal-accept] accepts the edited
text, \\[cursord-proposal-quit] goes back without a decision."
  :interactive nil
  :lighter " Proposal"
  (setq header-line-format
        (and cursord-proposal-mode
             (cursord-key-text
              (concat "\\<cursord-proposal-mode-map>"
                      " \\[cursord-proposal-accept] accept as edited"
                      " · \\[cursord-proposal-quit] back, nothing decided")))))
(put 'cursord-proposal-mode 'permanent-local t)

;;;###autoload
(defun cursord-edit-proposal ()
  "Edit the text that an isolated session proposes for the file at point.
Edit a copy; the file gets it when you accept it."
  (interactive)
  (pcase-let* ((`(,buffer . ,diff) (cursord--file-to-compare))
               (hunks (seq-filter #'cursord-proposed-p (plist-get diff :hunks)))
               (here (cursord--hunk-of hunks))
               (document (cursord-document buffer)))
    (unless hunks
      (user-error "Nothing is proposed for this file: %s"
                  (if (seq-some #'cursord-conflict-p (plist-get diff :hunks))
                      (concat "M-x cursord-smerge-file shows"
                              " the agent's lines beside yours")
                    "edit the agent's lines in the file itself")))
    (let ((side (with-current-buffer buffer
                  (cursord--side-buffer "proposal"
                                        (cursord--other-side
                                         (cursord--whole-text)
                                         (list :hunks (vconcat hunks)))
                                        buffer))))
      (with-current-buffer side
        (setq buffer-read-only nil
              cursord-buffer-workspace (cursord-document-ws document)
              cursord--proposal
              (cons document (cons hunks (buffer-hash buffer))))
        (cursord--saved-by document #'cursord-proposal-accept)
        (goto-char (point-min))
        (forward-line (+ (max 0 (1- (plist-get here :newStart)))
                         (or (seq-position (plist-get here :lines) t
                                           (lambda (line _)
                                             (cursord-changed-p line)))
                             0)))
        (cursord-proposal-mode))
      (pop-to-buffer side))))

(defun cursord-proposal-quit ()
  "Go back from a proposal, and decide nothing."
  (interactive (cursord-only-in 'cursord-proposal-mode) cursord-proposal-mode)
  (cursord--quit-copy))

(defun cursord-proposal-save ()
  "Accept the proposal if it was edited; else say which key accepts it."
  (interactive (cursord-only-in 'cursord-proposal-mode) cursord-proposal-mode)
  (unless (buffer-modified-p)
    (user-error
     "%s" (substitute-command-keys
           (concat "Nothing is edited here: \\<cursord-proposal-mode-map>"
                   "\\[cursord-proposal-accept] accepts it as it is,"
                   " \\[cursord-proposal-quit] goes back"))))
  (cursord-proposal-accept))

(defun cursord-proposal-accept ()
  "Accept the edited proposal.
Save the file, unless its buffer had other changes."
  (interactive (cursord-only-in 'cursord-proposal-mode) cursord-proposal-mode)
  (pcase-let* ((`(,document ,hunks . ,hash) cursord--proposal)
               (file (cursord-document-buffer document))
               (proposal (current-buffer))
               (path (cursord-document-path document)))
    (unless (and (buffer-live-p file) (equal hash (buffer-hash file)))
      (user-error (concat "%s has changed meanwhile: your edits stay here,"
                          " begin again beside them")
                  path))
    (let ((saved (not (buffer-modified-p file))))
      (cursord-decide (cursord-document-ws document) :diff/accept hunks nil
                      (lambda (ok)
                        (when ok
                          (cursord--take-proposal document proposal saved)))))))

(defun cursord--take-proposal (document proposal saved)
  "Give the buffer of DOCUMENT, whose hunks were accepted, the text of PROPOSAL.
Save it if SAVED."
  (cond
   ((not (and (buffer-live-p proposal)
              (buffer-live-p (cursord-document-buffer document)))))
   ((cursord-document-reading document)
    (run-at-time 0.05 nil #'cursord-protected #'cursord--take-proposal document
                 proposal saved))
   (t
    (with-current-buffer (cursord-document-buffer document)
      (let ((comparison (cursord-compare-buffers (current-buffer) proposal))
            (said (current-message)))
        (cursord-compare-on comparison)
        (when (and (cursord-as-one-step (cursord-compared-replace comparison))
                   saved)
          (let ((inhibit-message t))
            (save-buffer))
          ;; A save clears the echo area.
          (when said
            (let ((message-log-max nil))
              (message "%s" said))))))
    (with-current-buffer proposal
      (set-buffer-modified-p nil)
      (if-let* ((window (get-buffer-window proposal t)))
          (quit-window t window)
        (kill-buffer))))))

(provide 'cursord-compare)
;;; cursord-compare.el ends here
