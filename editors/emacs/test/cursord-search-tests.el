;;; cursord-search-tests.el --- Forks, and the search, in batch  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.

;;; Code:

(eval-and-compile
  (add-to-list 'load-path
               (file-name-directory (or (bound-and-true-p byte-compile-current-file) load-file-name buffer-file-name))))

(require 'cursord-test-world)
(require 'cursord-sessions)
(require 'cursord-search)
(require 'cursord-menu)

(defun cursord-test-prompts (ws)
  "The prompts of the current session of WS, the first one first."
  (reverse (mapcar (lambda (turn) (plist-get turn :prompt))
                   (plist-get (cursord-call ws :turn/list
                                            (list :sessionId (cursord-workspace-current ws)))
                              :turns))))

(defmacro cursord-test-with-three-turns (&rest body)
  "Run BODY in the chat of WS, whose current SESSION has three turns."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let* ((ws (cursord-test-open))
            (session (progn
                       (dolist (word '("first" "second" "third"))
                         (cursord-test-plays (cursord-test-says (format "The %s answer." word)))
                         (cursord-test-turn ws (format "the %s prompt" word)))
                       (cursord-session ws))))
       (switch-to-buffer (cursord--chat-buffer-create ws))
       (cursord-test-until "the chat" (string-search "third answer" (buffer-string)))
       (unwind-protect
           (progn ,@body)
         (dolist (name '("*cursord sessions*" "*cursord search*" "*cursord preview*"))
           (when (get-buffer name) (kill-buffer name)))))))

(defun cursord-test-at (text)
  "Go to TEXT in the current buffer."
  (goto-char (point-min))
  (search-forward text))

(defun cursord-test-key (key &optional answer)
  "Type KEY, after C-u if ANSWER is non-nil, which answers what is asked then."
  (let ((current-prefix-arg (and answer '(4))))
    (cl-letf (((symbol-function 'completing-read)
               (lambda (_prompt choices &rest _)
                 (should (member answer choices))
                 answer)))
      (call-interactively (key-binding (kbd key))))))

;; A fork had all that was said, and no key asked where its agent works.
(ert-deftest cursord-test-fork-at-a-turn ()
  "In a chat a fork ends with the turn at point; C-u asks for its isolation."
  (cursord-test-with-three-turns
    (cl-flet ((prompts () (cursord-test-prompts ws))
              (isolation () (plist-get (cursord-session ws) :isolation)))
      (should (equal "fork up to here" (cursord--menu-fork)))
      (cursord-test-at "second answer")
      (cursord-test-key "F")
      (cursord-test-hears "the next prompt goes to the fork \"the first prompt (fork)\"; M-x cursord-resume goes back")
      (should (equal '("the first prompt" "the second prompt") (prompts)))
      (should (equal "none" (isolation)))
      (cursord-test-until "the chat of the fork"
        (and (string-search "second answer" (buffer-string))
             (not (string-search "third" (buffer-string)))))
      (cursord-talk-with ws session)
      (cursord-test-until "the chat" (string-search "third answer" (buffer-string)))
      (cursord-test-at "first prompt")
      (cursord-test-key "F" "copy")
      (should (equal '("the first prompt") (prompts)))
      (should (equal "copy" (isolation)))
      ;; Elsewhere it has all that was said.
      (cursord-talk-with ws session)
      (with-temp-buffer
        (setq default-directory (cursord-test-file ""))
        (should (equal "fork of this" (cursord--menu-fork)))
        (save-window-excursion (call-interactively #'cursord-fork-session)))
      (should (length= (prompts) 3))
      ;; A turn that runs is not yet a part of it.
      (cursord-talk-with ws session)
      (cursord-test-plays (cursord-test-says "The fourth.") (cursord-test-waits "go"))
      (cursord-send ws "the fourth prompt")
      (cursord-test-until "the fourth turn" (string-search "The fourth." (buffer-string)))
      (goto-char (point-max))
      (cursord-test-key "F")
      (should (length= (prompts) 3))
      (write-region "" nil (expand-file-name "go" cursord-test-dir) nil 'silent)
      (cursord-test-until "its end" (null (cursord-busy-turns ws))))))

(defun cursord-test-found (in id)
  "Go to the first row of the list of places IN the session with ID."
  (goto-char (point-min))
  (while (not (and (equal in (plist-get (tabulated-list-get-id) :in))
                   (equal id (plist-get (tabulated-list-get-id) :id))))
    (should-not (eobp))
    (forward-line)))

(ert-deftest cursord-test-fork-of-what-was-found ()
  "A fork of a place that was found ends with its turn, one of a title does not."
  (cursord-test-with-three-turns
    (let ((id (plist-get session :id)))
      (cl-flet ((forks (key &optional answer)
                  (save-window-excursion (cursord-test-key key answer))
                  (prog1 (cons (plist-get (cursord-session ws) :isolation)
                               (length (cursord-test-prompts ws)))
                    (cursord-talk-with ws session))))
        (cursord-search "second answer")
        (cursord-test-found "text" id)
        (should (equal '("none" . 2) (forks "F")))
        (should (equal '("copy" . 2) (forks "F" "copy")))
        (cursord-search "first")
        (cursord-test-found "prompt" id)
        (should (equal '("none" . 1) (forks "F")))
        (cursord-test-found "title" id)
        (should (equal '("none" . 3) (forks "F")))
        ;; In the preview, too, it is the turn at point.
        (cursord-sessions-preview)
        (with-selected-window (get-buffer-window "*cursord preview*")
          (cursord-test-until "the preview" (string-search "third" (buffer-string)))
          (cursord-test-at "second answer")
          (should (equal '("copy" . 2) (forks "F" "copy"))))
        (cursord-sessions)
        (goto-char (point-min))
        (while (not (equal id (plist-get (tabulated-list-get-id) :id)))
          (forward-line))
        (should (equal '("copy" . 3) (forks "F" "copy")))))))

(ert-deftest cursord-test-search-answers-that-come-late ()
  "Of words that are typed, only the answer to the latest is listed.
After a quit it is the list from before."
  (cursord-test-with-three-turns
    (cl-flet ((listed ()
                (with-current-buffer "*cursord search*"
                  (mapcar (lambda (entry) (plist-get (car entry) :turn))
                          tabulated-list-entries)))
              (turn (n)
                (nth n (mapcar (lambda (turn) (plist-get turn :id))
                               (plist-get (cursord-call ws :turn/list
                                                        (list :sessionId (plist-get session :id)))
                                          :turns)))))
      (let* ((show (symbol-function 'cursord--search-show))
             (second (turn 1)) (third (turn 0)) (window (selected-window)) shown)
        (cl-letf (((symbol-function 'cursord--search-show)
                   (lambda (&rest args)
                     (push cursord--searched shown)
                     (apply show args)))
                  ((symbol-function 'read-from-minibuffer)
                   (lambda (&rest _)
                     (setq shown nil)
                     (cursord-test-hold "search")
                     (cursord--search-ask "second")
                     (cursord--search-ask "third")
                     (should-not shown)
                     (cursord-test-release)
                     (cursord-test-until "an answer" shown)
                     "third")))
          (call-interactively #'cursord-search)
          (should (equal '("third") shown))
          (should (equal (list third third) (listed)))
          (select-window window)
          (cl-letf (((symbol-function 'read-from-minibuffer)
                     (lambda (&rest _)
                       (cursord--search-ask "second")
                       (cursord-test-until "the answer" (equal (list second second) (listed)))
                       (setq shown nil)
                       (cursord--search-ask "nowhere")
                       (signal 'quit nil))))
            (should (eq 'quit (condition-case nil (call-interactively #'cursord-search)
                                (quit 'quit)))))
          ;; Its answer has come by now.
          (cursord-call ws :turn/list (list :sessionId (plist-get session :id)))
          (should-not shown)
          (should (equal (list third third) (listed)))
          (should (eq window (selected-window))))))))

(provide 'cursord-search-tests)
;;; cursord-search-tests.el ends here
