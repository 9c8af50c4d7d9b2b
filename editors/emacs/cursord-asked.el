;;; cursord-asked.el --- How questions look  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Writes what an agent asks, with who asks and the answers, into the buffer of
;; pending approvals.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)
(require 'cursord-answers)
(require 'cursord-workspace)

(defvar cursord-approvals-mode-map)
(declare-function cursord-approve "cursord-approvals")
(declare-function cursord-deny "cursord-approvals")
(declare-function cursord-approve-always "cursord-approvals")

(defconst cursord--digits-most 9
  "The most answers of a question to which a digit alone is an answer.")

(defun cursord--approval-plain (text)
  "Return TEXT with its invisible characters in words."
  (replace-regexp-in-string
   "[\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]"
   (lambda (char) (format "<U+%04X>" (aref char 0)))
   (string-trim-right (or text "")) t t))

(defun cursord--approval-who (ws approval)
  "Return the line that says which session of WS asks APPROVAL, or nil.
Where several folders are in use, it names the folder."
  (let* ((session (gethash (plist-get approval :sessionId)
                           (cursord-workspace-sessions ws)))
         (turn (gethash (plist-get approval :turnId)
                        (cursord-workspace-turns ws)))
         (title (seq-find (lambda (text)
                            (not (string-empty-p text)))
                          (mapcar (lambda (text)
                                    (cursord-one-line
                                     (cursord--approval-plain text)))
                                  (list (plist-get session :title)
                                        (plist-get turn :prompt)))))
         (folder (and (cdr cursord-workspaces)
                      (abbreviate-file-name (cursord-workspace-root ws)))))
    (and (or title folder)
         (concat "Session: "
                 (truncate-string-to-width (or title "(no title)") 60 nil nil
                                           "…")
                 (and folder (concat ", in " folder))
                 "\n"))))

(defun cursord--approval-insert (ws approval)
  "Insert APPROVAL of WS with its answers.
Return where it begins behind the line about the session."
  (let ((from (point)) begin)
    (when-let* ((who (cursord--approval-who ws approval)))
      (insert (propertize who 'face 'shadow)))
    (setq begin (point))
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
                 'cursord-option (plist-get option :id))))
      (when (> n cursord--digits-most)
        (insert "A digit begins a number, and RET ends it.\n")))
    (when (eq (plist-get approval :text) t)
      (insert (propertize (if (cursord--approval-plan-p approval)
                              "t a no, with a text of yours\n"
                            "t a text of yours\n")
                          'cursord-option 'text)))
    (when (equal (cursord--approval-no approval) cursord--approval-none)
      (insert (propertize "n no answer: the agent goes on without one\n"
                          'cursord-option cursord--approval-none)))
    (insert "\n")
    (put-text-property from (point) 'cursord-approval (cons ws approval))
    begin))

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

(provide 'cursord-asked)
;;; cursord-asked.el ends here
