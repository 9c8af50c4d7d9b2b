;;; cursord-again-tests.el --- Prompts again  -*- lexical-binding: t; -*-

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
(require 'cursord-again)
(require 'cursord-menu)

(defun cursord-test-begins (chat)
  "A line by which the agent begins CHAT, an id."
  (format (concat "{\"type\":\"system\",\"subtype\":\"init\","
                  "\"cwd\":\"{{cwd}}\",\"session_id\":\"%s\","
                  "\"model\":\"Auto\"}")
          chat))

(ert-deftest cursord-test-the-chat-was-lost ()
  "The chat says which key asks again with the transcript; that works once."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (cl-flet ((runs (prompt id)
                  (cursord-test-plays (cursord-test-begins id)
                                      (cursord-test-says (concat prompt "!")))
                  (cursord-test-turn ws prompt))
                (sent ()
                  (with-temp-buffer
                    (insert-file-contents
                     (expand-file-name "runs" cursord-test-dir))
                    (goto-char (point-max))
                    (forward-line -1)
                    (buffer-substring (point) (point-max)))))
        (runs "remember seven" "one")
        (runs "which number" "another")
        (cursord-show-chat ws)
        (with-current-buffer (cursord-chat-buffer ws)
          (cursord-test-until "the notice"
            (string-search (concat "ask again with a recap, the transcript as"
                                   " context: Y here, or M-x")
                           (string-replace "\n" " " (buffer-string))))
          ;; It was "ask again" there, as after any other turn.
          (should (equal "ask with a recap" (cursord--menu-again)))
          (should-not (string-search "remember seven" (sent)))
          (should (eq #'cursord-retry (key-binding "Y")))
          ;; A "y" that comes too late for a question asks for no turn.
          (should (eq #'undefined (key-binding "y")))
          (call-interactively #'cursord-retry))
        (cursord-test-hears "asked again with a recap, the transcript")
        (cursord-test-until "the end"
          (and (cursord-turn-ended-p (cursord--last-turn ws))
               (string-search "remember seven" (sent))))
        (cursord-test-until "nothing lost any more"
          (equal "ask again" (cursord--menu-again)))
        (cursord-retry)
        (cursord-test-until "the end"
          (and (null (cursord-busy-turns ws))
               (not (string-search "remember seven" (sent)))))))))

;; The notice was looked for among the last 50 items.
(ert-deftest cursord-test-the-chat-was-lost-long-ago ()
  "A turn in which the agent went on for long is asked again with a recap."
  (cursord-test-with-world
    (let ((ws (cursord-test-open)))
      (cursord-test-plays (cursord-test-begins "one"))
      (cursord-test-turn ws "remember seven")
      (cursord-test-plays (cursord-test-begins "another")
                          (mapcar (lambda (n)
                                    (pcase-let ((`(,start ,_ ,end)
                                                 (cursord-test-runs
                                                  (format "%d" n))))
                                      (list start end)))
                                  (number-sequence 1 120)))
      (cursord-test-turn ws "which number")
      (cursord-retry)
      (cursord-test-hears "asked again with a recap, the transcript")
      (cursord-test-until "the end" (null (cursord-busy-turns ws))))))

(ert-deftest cursord-test-the-last-prompt-again ()
  "It is asked again with what went along, or changed first; a draft is kept."
  (cursord-test-with-world
    (let* ((ws (progn (cursord-test-put "f" "one\ntwo\n") (cursord-test-open)))
           (cursord-before-send-functions
            (list (lambda (prompt _ws) (concat prompt "!"))))
           (turns (lambda ()
                    (mapcar (lambda (turn) (plist-get turn :prompt))
                            (plist-get (cursord-call
                                        ws :turn/list
                                        (list :sessionId
                                              (cursord-workspace-current ws)))
                                       :turns))))
           (runs (lambda ()
                   (with-temp-buffer
                     (ignore-errors
                       (insert-file-contents
                        (expand-file-name "runs" cursord-test-dir)))
                     (how-many "selection path" (point-min))))))
      (should-error (cursord-retry) :type 'user-error)
      (find-file (cursord-test-file "f"))
      (push-mark (point-max) t t)
      (let ((transient-mark-mode t))
        (cursord-send ws "what is @region" (cursord-origin-here)))
      (cursord-test-until "the end of the first run"
        (and (= 1 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      (deactivate-mark)
      (cursord-retry)
      (cursord-test-until "the end of the second run"
        (and (= 2 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      (should (equal '("what is @region!" "what is @region!") (funcall turns)))
      ;; Also after a prompt that was not sent, and one of another session.
      (should-error (cursord-send ws "now @region") :type 'user-error)
      (let ((session (cursord-session ws)))
        (cursord-send ws "another session" nil t)
        (cursord-test-until "the end" (null (cursord-busy-turns ws)))
        (cursord-talk-with ws session))
      (cursord-retry)
      (cursord-test-until "the end of the third run"
        (and (= 3 (funcall runs)) (cursord-turn-ended-p (cursord--last-turn ws))
             (null (cursord-busy-turns ws))))
      ;; An Emacs that does not know what went along says so.
      (let ((sent (cursord-workspace-sent ws)))
        (setf (cursord-workspace-sent ws) nil)
        (cl-letf (((symbol-function 'cursord--last-turn)
                   (lambda (ws)
                     (list :id "x" :sessionId (cursord-workspace-current ws)
                           :prompt "what is @region" :status "completed"
                           :context '((:kind "selection" :path "f"))))))
          (should (string-match-p "has not sent.*@region"
                                  (cadr (should-error (cursord-retry)
                                                      :type 'user-error)))))
        (setf (cursord-workspace-sent ws) sent))
      (cursord-compose)
      (erase-buffer)
      (insert "a draft")
      (cursord-edit-prompt)
      (cursord-test-hears "the draft is kept: M-n shows it")
      (should (equal "what is @region" (buffer-string)))
      (cursord-next-prompt)
      (should (equal "a draft" (buffer-string)))
      ;; A prompt that was left as it is gives way to the draft.
      (cursord-edit-prompt)
      (cursord-compose-abort)
      (cursord-compose)
      (should (equal "a draft" (buffer-string)))
      (cursord-edit-prompt)
      (insert " now")
      (cursord-compose-abort)
      (cursord-compose)
      (should (equal "what is @region now" (buffer-string)))
      ;; What another client has sent with a prompt goes along again, once.
      (let ((file '(:kind "file" :path "f"))
            (turn `(:id "x" :prompt "why @f" :images ("/a.png")
                        :context [(:kind "file" :path "f")
                                  (:kind "text" :title "too long")
                                  (:kind "text" :text "piped"
                                         :title "stdin")])))
        (write-region "one\n" nil (cursord-test-file "f"))
        (should (equal '((:kind "text" :text "piped" :title "stdin")
                         (:kind "image" :path "/a.png"))
                       (cursord--context-again ws turn)))
        (should (equal `("why @f" ,file
                         (:kind "text" :text "piped" :title "stdin")
                         (:kind "image" :path "/a.png"))
                       (cursord--last-prompt ws turn)))
        (cursord-test-hears "without a text that was too long to be kept")
        (should (member file (cursord--context-again
                              ws (append '(:prompt "why") turn)))))
      (erase-buffer))))

(provide 'cursord-again-tests)
;;; cursord-again-tests.el ends here
