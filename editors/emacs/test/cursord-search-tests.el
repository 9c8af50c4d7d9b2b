;;; cursord-search-tests.el --- Forks and search  -*- lexical-binding: t; -*-

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
(require 'cursord-sessions)
(require 'cursord-search)
(require 'cursord-menu)

(defun cursord-test-prompts (ws)
  "The prompts of the current session of WS, the first one first."
  (reverse (mapcar (lambda (turn) (plist-get turn :prompt))
                   (plist-get (cursord-call
                               ws :turn/list
                               (list :sessionId (cursord-workspace-current ws)))
                              :turns))))

(defmacro cursord-test-with-three-turns (&rest body)
  "Run BODY in the chat of WS, whose current SESSION has three turns."
  (declare (indent 0) (debug t))
  `(cursord-test-with-world
     (let* ((ws (cursord-test-open))
            (session (progn
                       (dolist (word '("first" "second" "third"))
                         (cursord-test-plays
                          (cursord-test-says (format "The %s answer." word)))
                         (cursord-test-turn ws (format "the %s prompt" word)))
                       (cursord-session ws))))
       (switch-to-buffer (cursord--chat-buffer-create ws))
       (cursord-test-until "the chat"
         (string-search "third answer" (buffer-string)))
       (unwind-protect
           (progn ,@body)
         (dolist (name '("*cursord sessions*" "*cursord search*"
                         "*cursord preview*"))
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
      (cursord-test-hears (concat "the next prompt goes to the fork \"the first"
                                  " prompt (fork)\"; M-x cursord-resume goes"
                                  " back"))
      (should (equal '("the first prompt" "the second prompt") (prompts)))
      (should (equal "none" (isolation)))
      (cursord-test-until "the chat of the fork"
        (and (string-search "second answer" (buffer-string))
             (not (string-search "third" (buffer-string)))))
      (cursord-talk-with ws session)
      (cursord-test-until "the chat"
        (string-search "third answer" (buffer-string)))
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
      (cursord-test-plays (cursord-test-says "The fourth.")
                          (cursord-test-waits "go"))
      (cursord-send ws "the fourth prompt")
      (cursord-test-until "the fourth turn"
        (string-search "The fourth." (buffer-string)))
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

(ert-deftest cursord-test-what-was-found-is-in-sight ()
  "The beginning of a place is left out where it would hide what was found."
  (with-temp-buffer
    (cursord-search-mode)
    (setq tabulated-list-format (cursord--search-columns nil))
    (let ((room (cursord--search-room)))
      (cl-flet ((place (before)
                  (cursord--search-place
                   (list :snippet (concat before "word and more words")
                         :ranges
                         (vector (list :from (string-bytes before)
                                       :to (+ 4 (string-bytes before))))))))
        (should (< 0 room (window-width)))
        (should (equal "word and more words" (place "")))
        (should (equal "short word and more words" (place "short ")))
        (dolist (letter '(?a ?ü ?字))
          (let* ((text (place (make-string room letter)))
                 (at (string-search "word" text)))
            (should (string-prefix-p (string ?… letter) text))
            (should (<= (string-width text 0 (+ at 4)) room))
            (should (eq 'match (get-text-property at 'face text)))
            (should-not (get-text-property (1- at) 'face text))))))))

;; It said when and where, but not in which session.
(ert-deftest cursord-test-narrow-list-of-places ()
  "A narrow list has the beginning of the session's title before each place."
  (with-temp-buffer
    (cursord-search-mode)
    (setq tabulated-list-format (cursord--search-columns t))
    (cl-letf (((symbol-function 'cursord--list-room) (lambda () 40)))
      (pcase-dolist (`(,in ,title ,text ,row)
                     '(("text" "second try of it" "a guide"
                        "second try…: a guide")
                       ("prompt" "short" "guide" "short: guide")
                       ("text" "" "guide" "(no title): guide")
                       ("title" "a guide" "a guide" "a guide")
                       ("text" "second try of it" "many words before the guide"
                        "second try…: …he guide")))
        (let* ((at (string-search "guide" text))
               (cursord--search-answer
                (list (vector (list :sessionId "s" :turnId "t" :in in
                                    :title title
                                    :at "2026-11-29T09:00:00Z" :snippet text
                                    :ranges (vector
                                             (list :from at :to (+ at 5)))))))
               (columns (cadr (car (cursord--search-entries t)))))
          (should (equal (length tabulated-list-format) (length columns)))
          (should (equal row (substring-no-properties (aref columns 1))))
          (should (eq 'match (get-text-property (string-search "guide" row)
                                                'face (aref columns 1)))))))))

(ert-deftest cursord-test-empty-narrow-list ()
  "What an empty list says is not cut in a narrow window."
  (with-temp-buffer
    (cursord-search-mode)
    (cl-letf (((symbol-function 'cursord--list-room) (lambda () 40)))
      (cursord--search-begin)
      (unwind-protect
          (with-current-buffer "*cursord search*"
            (should (equal (concat " Type words: C-n and C-p choose a\n"
                                   " place, C-o shows one, RET goes to the\n"
                                   " list.\n")
                           (substring-no-properties (buffer-string)))))
        (cursord--search-end)
        (kill-buffer "*cursord search*")))))

(ert-deftest cursord-test-chosen-row-shows-what-was-found ()
  "The row that is chosen is marked, but for what was found in it."
  (cl-letf (((symbol-function 'cursord-request-host) #'ignore))
    (cursord--search-begin)
    (unwind-protect
        (cl-flet ((shown (row)
                    (with-current-buffer "*cursord search*"
                      (mapcar (lambda (text)
                                (goto-char (point-min))
                                (forward-line row)
                                (search-forward text)
                                (get-char-property (1- (point)) 'face))
                              '("now" "before " "guide" " behind")))))
          (cursord--search-show
           (make-vector 2 (list :sessionId "s" :turnId "t" :in "text"
                                :title "title"
                                :at (format-time-string "%FT%TZ" nil t)
                                :snippet "before guide behind"
                                :ranges [(:from 7 :to 12)])))
          (dolist (row '(0 1 0))
            (cursord--search-in-list (lambda ()
                                       (goto-char (point-min))
                                       (forward-line row)))
            (should (equal '(highlight highlight match highlight) (shown row)))
            (should (equal '(nil nil match nil) (shown (- 1 row))))))
      (cursord--search-end)
      (should-not (with-current-buffer "*cursord search*"
                    (overlays-in (point-min) (point-max))))
      (kill-buffer "*cursord search*"))))

(ert-deftest cursord-test-fork-of-what-was-found ()
  "A fork of a place that was found ends with its turn, a title's does not."
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
          (cursord-test-until "the preview"
            (string-search "third" (buffer-string)))
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
                               (plist-get
                                (cursord-call
                                 ws :turn/list
                                 (list :sessionId (plist-get session :id)))
                                :turns)))))
      (let* ((show (symbol-function 'cursord--search-show))
             (second (turn 1)) (third (turn 0)) (window (selected-window))
             shown)
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
                       (cursord-test-until "the answer"
                         (equal (list second second) (listed)))
                       (setq shown nil)
                       (cursord--search-ask "nowhere")
                       (signal 'quit nil))))
            (should (eq 'quit
                        (condition-case nil
                            (call-interactively #'cursord-search)
                          (quit 'quit)))))
          ;; Its answer has come by now.
          (cursord-call ws :turn/list (list :sessionId (plist-get session :id)))
          (should-not shown)
          (should (equal (list third third) (listed)))
          (should (eq window (selected-window))))))))

;; A narrow menu had no keys for what it does not show.
(ert-deftest cursord-test-keys-of-a-narrow-menu ()
  "The menu has the same keys in narrow and in wide frames."
  (cl-flet ((keys (wide)
              (cl-letf (((symbol-function 'cursord--menu-wide-p)
                         (lambda () wide)))
                (sort (mapcar (lambda (suffix)
                                (cons (oref suffix key) (oref suffix command)))
                              (transient-suffixes 'cursord-menu))
                      (lambda (a b) (string< (car a) (car b)))))))
    (should (length> (keys t) 35))
    (should (equal (keys t) (keys nil)))))

(provide 'cursord-search-tests)
;;; cursord-search-tests.el ends here
