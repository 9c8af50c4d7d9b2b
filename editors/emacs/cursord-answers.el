;;; cursord-answers.el --- Answers to agents  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; Which answers an approval offers, and how one is sent.  The buffer of pending
;; approvals and its keys are in cursord-approvals.el.

;;; Code:

(require 'seq)
(require 'cursord-workspace)

(defconst cursord--approval-folder "cursord:folder"
  "The id of the option that makes a rule of the folder.")

(defconst cursord--approval-none "cursord:none"
  "The id with which a question ends without an answer; it is not listed.")

(defun cursord--approval-always-p (approval)
  "Return non-nil if APPROVAL offers to make a rule of the folder."
  (seq-find (lambda (option)
              (equal (plist-get option :id) cursord--approval-folder))
            (plist-get approval :options)))

(defun cursord--approval-yes (approval)
  "Return the id of the option of APPROVAL that says yes, or nil."
  (cursord--approval-option approval '("allowOnce")))

(defun cursord--approval-no (approval)
  "Return the id of the answer to APPROVAL that says no, or nil.
A question that has no such option can end without an answer."
  (or (cursord--approval-option approval '("rejectOnce" "rejectAlways"))
      (and (equal (plist-get approval :kind) "question")
           cursord--approval-none)))

(defun cursord--approval-refuses-p (approval option)
  "Return non-nil if the answer with the id OPTION lets APPROVAL do nothing.
\"\" is the id of a text, which is a no to a plan."
  (or (equal option cursord--approval-none)
      (and (equal option "") (cursord--approval-plan-p approval))
      (member (plist-get (seq-find (lambda (one)
                                     (equal (plist-get one :id) option))
                                   (plist-get approval :options))
                         :kind)
              '("rejectOnce" "rejectAlways"))))

(defun cursord--approval-plan-p (approval)
  "Return non-nil if APPROVAL is of a plan, which takes a text only with a no."
  (equal (plist-get approval :kind) "plan"))

(defun cursord--approval-option (approval kinds)
  "Return the id of the first option of APPROVAL that is of one of KINDS."
  (seq-some (lambda (kind)
              (plist-get (seq-find (lambda (option)
                                     (equal (plist-get option :kind) kind))
                                   (plist-get approval :options))
                         :id))
            kinds))

(defun cursord--approval-send (one option &optional text)
  "Answer ONE, (WS . APPROVAL), with the id OPTION and perhaps TEXT."
  (unless option
    (user-error "The agent does not offer that answer: choose a number"))
  (cursord-request-host
   (cursord-workspace-host (car one)) :approval/answer
   `(:approvalId ,(plist-get (cdr one) :id) :optionId ,option
                 ,@(and text (list :text text)))
   :then #'ignore
   :else (lambda (err)
           ;; Its change says how it has ended.
           (unless (equal (cursord-error-kind err) "conflict")
             (cursord-complain err)))))

(provide 'cursord-answers)
;;; cursord-answers.el ends here
