;;; cursord-back-tests.el --- Undo in buffers  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory
                (or (bound-and-true-p byte-compile-current-file)
                    load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-review)

(defconst cursord-test-before (cursord-test-numbered 30))
(defconst cursord-test-after
  (cursord-test-numbered 30 5 "five\n" 15 "15a\n15b\n" 25 ""))

(defmacro cursord-test-with-hunks (&rest body)
  "Run BODY in the buffer of f, with hunks in the rows 5, 15 and 26, in WS."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let ((ws (progn (cursord-test-put "f" cursord-test-before)
                      (cursord-test-open))))
       (cursord-test-plays (cursord-test-edits "f" cursord-test-before
                                               cursord-test-after))
       (find-file (cursord-test-file "f"))
       (buffer-enable-undo)
       (cursord-test-turn ws "change f")
       (cursord-test-settle ws '(5 15 26))
       ,@body)))

(defun cursord-test-settle (ws rows)
  "Wait until the current buffer, of WS, has hunks in ROWS and nothing is sent."
  (cursord-test-until (format "hunks in %s" rows)
    (and (equal rows (cursord-test-rows))
         (null (assq ws cursord--deciding))
         (null (cursord-document-undone (cursord-document)))
         (null (cursord-document-undoing (cursord-document)))
         (cursord--in-sync-p (cursord-document))
         (cursord--diff-fits-p (cursord-document)))))

(defun cursord-test-decide (ws command row rows)
  "Run COMMAND in ROW of the current buffer, of WS, until ROWS have its hunks."
  (cursord-test-go row)
  (undo-boundary)
  (funcall command)
  (cursord-test-settle ws rows))

(defun cursord-test-undo-once (ws rows &optional command)
  "Undo once, by COMMAND or `undo', until the hunks of WS here are in ROWS."
  (undo-boundary)
  (let ((last-command nil) (inhibit-message t))
    (funcall (or command #'undo)))
  (cursord-test-settle ws rows))

(defun cursord-test-in-shell ()
  "Return how many hunks the command line says are pending."
  (let ((default-directory (cursord-test-file "")))
    (with-temp-buffer
      (call-process "cursord" nil t nil "diff" "--json")
      (goto-char (point-min))
      (apply #'+ (mapcar (lambda (diff) (length (gethash "hunks" diff)))
                         (gethash "diffs" (json-parse-buffer)))))))

(ert-deftest cursord-test-undo-goes-to-the-hunk ()
  "After a decision point is at the next hunk.
Undo goes to the one that comes back."
  (cursord-test-with-hunks
    (dolist (mine '(nil t))
      (when mine
        (goto-char (point-min))
        (insert "mine ")
        (cursord-test-settle ws '(5 15 26)))
      (dolist (one '((cursord-accept-hunk 15 26) (cursord-reject-hunk 15 25)))
        (ert-info ((format "%s %s" mine one))
          (cursord-test-decide ws (car one) 15 `(5 ,(caddr one)))
          (cursord-test-until "the next hunk"
            (= (caddr one) (line-number-at-pos)))
          (cursord-test-undo-once ws '(5 15 26))
          (cursord-test-until "the way back" (= 15 (line-number-at-pos))))))))

(ert-deftest cursord-test-undo-in-the-buffer-and-then-by-command ()
  "A reject that undo in the buffer has taken back is not taken back again.
The command goes on with the decision before it, and says when there is none."
  (cursord-test-with-hunks
    (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
    (cursord-test-decide ws #'cursord-reject-hunk 15 '(25))
    (let ((last-command nil) (inhibit-message t)) (undo))
    (cursord-undo) ; before the daemon knows the text
    (cursord-test-settle ws '(5 15 26))
    (cursord-test-agree ws "f" cursord-test-after 3)
    (cursord-undo)
    (cursord-test-until "the answer"
      (cursord-test-said-p "there is nothing to undo in "))
    (cursord-test-agree ws "f" cursord-test-after 3)
    (cursord-redo)
    (cursord-redo)
    (cursord-test-settle ws '(25))))

(ert-deftest cursord-test-undo-goes-to-the-hunk-whose-mark-comes-late ()
  "Undo goes to the hunk also if the daemon answers before the mark is there."
  (cursord-test-with-hunks
    (cursord-test-decide ws #'cursord-accept-hunk 15 '(5 26))
    (cursord-test-until "the next hunk" (= 26 (line-number-at-pos)))
    (let ((show (symbol-function 'cursord--document-show)))
      (cl-letf (((symbol-function 'cursord--document-show)
                 (lambda (document) (run-at-time 0.3 nil show document))))
        (cursord-test-undo-once ws '(5 15 26))))
    (cursord-test-until "the way back" (= 15 (line-number-at-pos)))))

(ert-deftest cursord-test-next-hunk-from-any-column ()
  "A decision goes on to the next hunk, also if it replaces point's line."
  (cursord-test-with-hunks
    (goto-char (point-min))
    (insert "mine ")
    (cursord-test-settle ws '(5 15 26))
    (cursord-test-go 5)
    (forward-char 1)
    (cursord-reject-hunk)
    (cursord-test-settle ws '(15 26))
    (cursord-test-until "the next hunk" (= 15 (line-number-at-pos)))
    ;; Unless the person has gone elsewhere meanwhile.
    (cursord-reject-hunk)
    (goto-char (point-max))
    (cursord-test-settle ws '(25))
    (should (eobp))))

(ert-deftest cursord-test-decisions-taken-back-are-not-asked-for ()
  "Rejects in unsaved text that undo has taken back are forgotten.
Others are not.  Else a later undo would say that the hunk is not back, which it
is."
  (cursord-test-with-hunks
    (goto-char (point-min))
    (insert "mine ")
    (cursord-test-settle ws '(5 15 26))
    (dolist (_ '(1 2))
      (cursord-test-decide ws #'cursord-reject-hunk 26 '(5 15))
      (cursord-test-undo-once ws '(5 15 26)))
    (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the save" (= 2 (cursord-test-in-shell)))
    (cursord-test-undo-once ws '(5 15 26))
    (should (= 3 (cursord-test-in-shell)))
    (cursord-test-until "the message"
      (cursord-test-said-p (concat "rejected 1 hunk\\(?:, on disk when you"
                                   " save\\)?; 2 hunks left in 1 file$")))
    ;; Redo decides again, and undo after the next save takes that back.
    (cursord-test-undo-once ws '(15 26) #'undo-redo)
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the save" (= 2 (cursord-test-in-shell)))
    (cursord-test-undo-once ws '(5 15 26))
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the save" (= 3 (cursord-test-in-shell)))
    (should-not (string-match-p "not its hunk"
                                (with-current-buffer "*cursord-log*"
                                  (buffer-string))))))

(defun cursord-test-kill-daemon (ws)
  "Kill the daemon of WS, and wait for the next one to know the texts."
  (signal-process (plist-get (cursord-call ws :daemon/status nil) :pid) 'KILL)
  (cursord-test-hears "connected to the cursord daemon again")
  (cursord-test-until "the texts" (cursord-workspace-ready ws)))

(ert-deftest cursord-test-undo-goes-on-at-the-next-daemon ()
  "Undo brings back text and hunk, and says so, whenever the daemon is killed."
  (cursord-test-with-hunks
    (goto-char (point-min))
    (insert "mine ")
    (cursord-test-settle ws '(5 15 26))
    (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
    (cursord-test-kill-daemon ws)
    (cursord-test-settle ws '(15 26))
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the save" (= 2 (cursord-test-in-shell)))
    (cursord-test-undo-once ws '(5 15 26))
    (cursord-test-kill-daemon ws)
    (cursord-test-settle ws '(5 15 26))
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the hunk" (= 3 (cursord-test-in-shell)))
    ;; The agent's lines that undo takes out, and redo has again.
    (cursord-test-decide ws #'cursord-reject-hunk 15 '(5 25))
    (cursord-test-undo-once ws '(5 15 26))
    (cursord-test-kill-daemon ws)
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the hunk" (= 3 (cursord-test-in-shell)))
    (should-not (string-match-p "not its hunk" (cursord-test-buffers)))))

;; It said "rejected 0 hunks".
(ert-deftest cursord-test-reject-of-what-is-decided-says-so ()
  "A reject of hunks that were decided in a terminal a moment ago says so."
  (cursord-test-with-hunks
    (cl-letf* ((request (symbol-function 'cursord-request))
               ((symbol-function 'cursord-request)
                (lambda (ws method &rest more)
                  (when (eq method :diff/reject)
                    (let ((default-directory (cursord-test-file "")))
                      (call-process "cursord" nil nil nil "accept" "--all")))
                  (apply request ws method more)))
               ((symbol-function 'y-or-n-p) #'always))
      (cursord-reject-all))
    (cursord-test-hears "nothing to reject any more; nothing left to review")
    (cursord-dismiss t)
    (cursord-test-hears
     "nothing to dismiss: no file outside of the workspace is listed")))

(ert-deftest cursord-test-unsaved-rejects-say-so ()
  "What a reject in unsaved text says explains why the shell has the hunk."
  (cursord-test-with-hunks
    (goto-char (point-min))
    (insert "mine ")
    (cursord-test-settle ws '(5 15 26))
    (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
    (cursord-test-hears
     "rejected 1 hunk, on disk when you save; 2 hunks left in 1 file")
    (should (= 3 (cursord-test-in-shell)))
    (let ((inhibit-message t)) (save-buffer))
    (cursord-test-until "the same count"
      (and (= 2 (cursord-test-in-shell)) (equal '(2 . 1) (cursord-pending ws))))
    ;; An accept writes nothing, and a reject of what is saved is on disk.
    (cursord-test-decide ws #'cursord-accept-hunk 15 '(26))
    (cursord-test-hears "accepted 1 hunk; 1 hunk left in 1 file")
    (cursord-test-decide ws #'cursord-reject-hunk 26 '())
    (cursord-test-hears "rejected 1 hunk; nothing left to review")
    (should (= 0 (cursord-test-in-shell)))))

(ert-deftest cursord-test-rejected-conflicts-say-so ()
  "Other programs see a conflict until a save, and undo goes back to it."
  (cursord-test-with-world
    (let ((ws (progn (cursord-test-put "f" cursord-test-before)
                     (cursord-test-open))))
      (cursord-test-plays (cursord-test-edits "f" cursord-test-before
                                              cursord-test-after))
      (find-file (cursord-test-file "f"))
      (buffer-enable-undo)
      (cursord-test-go 5)
      (delete-line)
      (insert "mine\n")
      (cursord-test-turn ws "change f")
      (cursord-test-settle ws '(5 15 26))
      (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
      (cursord-test-hears
       "rejected 1 hunk, on disk when you save; 2 hunks left in 1 file")
      (should (= 3 (cursord-test-in-shell)))
      (cursord-test-until "the next hunk" (= 15 (line-number-at-pos)))
      (cursord-test-undo-once ws '(5 15 26))
      (cursord-test-until "the way back" (= 5 (line-number-at-pos))))))

(ert-deftest cursord-test-killed-buffer-has-rejected-nothing ()
  "The counts agree again when a buffer with unsaved rejects is killed."
  (cursord-test-with-hunks
    (goto-char (point-min))
    (insert "mine ")
    (cursord-test-settle ws '(5 15 26))
    (cursord-test-decide ws #'cursord-reject-hunk 5 '(15 26))
    (set-buffer-modified-p nil)
    (kill-buffer)
    (cursord-test-until "the same count" (equal '(3 . 1) (cursord-pending ws)))
    (should (= 3 (cursord-test-in-shell)))))

(ert-deftest cursord-test-undo-in-the-review ()
  "The keys of undo and redo in the review are those of decisions."
  (cursord-test-with-hunks
    (cursord-review)
    (goto-char (point-min))
    (cl-flet ((press (key) (call-interactively (key-binding (kbd key)))))
      (press "n")
      (press "r")
      (cursord-test-until "the reject" (equal '(2 . 1) (cursord-pending ws)))
      (press "C-/")
      (cursord-test-until "the hunk" (equal '(3 . 1) (cursord-pending ws)))
      (cursord-test-until "the way back"
        (equal '(5) (let ((hunk (cursord-review-hunk-at (point))))
                      (and hunk (list (1+ (cursord-hunk-row hunk)))))))
      (press "C-M-_")
      (cursord-test-until "the reject" (equal '(2 . 1) (cursord-pending ws)))
      (press "C-x u")
      (cursord-test-until "the hunk" (equal '(3 . 1) (cursord-pending ws))))))

(provide 'cursord-back-tests)
;;; cursord-back-tests.el ends here
