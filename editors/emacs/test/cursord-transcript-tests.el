;;; cursord-transcript-tests.el --- The transcript  -*- lexical-binding: t; -*-

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
(require 'cursord-chat)

(defmacro cursord-test-receiving-at-once (&rest body)
  "Run BODY, and have nothing received until the end of a turn has come."
  (declare (indent 0) (debug t))
  `(let ((cursord--slice 30) come
         (notified (symbol-function 'cursord--notified))
         (drain (symbol-function 'cursord--drain)))
     (cl-letf (((symbol-function 'cursord--notified)
                (lambda (conn method params)
                  (when (and (eq method 'turn/changed)
                             (cursord-turn-ended-p (plist-get params :turn)))
                    (setq come t))
                  (funcall notified conn method params)))
               ((symbol-function 'cursord--drain)
                (lambda ()
                  (if come (funcall drain)
                    (setq cursord--timer nil)
                    (cursord--wake 0.02)))))
       ,@body)))

(ert-deftest cursord-test-all-of-a-turn-behind-the-answer ()
  "What comes with the answer that names a new session is shown.
Nothing has to be read."
  (cursord-test-with-world
    (let* ((ws (cursord-test-open))
           (numbers (number-sequence 1 130)) read)
      (cursord-test-plays (mapcar (lambda (i)
                                    (list (cursord-test-says (format "number %d"
                                                                     i))
                                          (cursord-test-edits (format "f%d" i)
                                                              nil "x\n")))
                                  numbers))
      (with-current-buffer (cursord--chat-buffer-create ws)
        (cursord-test-until "the session" (cursord-workspace-chosen ws))
        (let ((request (symbol-function 'cursord-request)))
          (cl-letf (((symbol-function 'cursord-request)
                     (lambda (ws method &rest more) (push method read)
                       (apply request ws method more))))
            (cursord-test-receiving-at-once
              (cursord-test-turn ws "count"))))
        (should-not (seq-intersection read '(:session/read :item/read)))
        (dolist (i numbers)
          (goto-char (point-min))
          (should (search-forward (format "\nnumber %d\n" i) nil t))
          (should (search-forward (format "f%d" i) nil t)))
        (should-not (cursord-transcript-oldest cursord-transcript))))))

(defmacro cursord-test-with-transcript (&rest body)
  "Run BODY in a buffer that shows a session without a daemon.
`asked' has what was asked: lists of a method, its parameters, and the function
that takes the answer."
  (declare (indent 0) (debug t))
  `(with-temp-buffer
     (let ((cursord--stored 0) asked)
       (cl-letf (((symbol-function 'cursord-request)
                  (lambda (_ws method params &rest more)
                    (push (list method params (plist-get more :then)) asked))))
         (cursord-transcript-clear (cursord--workspace-make :root "/w/"
                                                            :path "/w") "s")
         (cl-flet ((turn (seq status)
                     (cursord-transcript-turn cursord-transcript
                                              (cursord-test-object
                                               seq status
                                               :id "t" :prompt "go")))
                   (item (seq status text &optional read)
                     (cursord-transcript-item cursord-transcript
                                              (cursord-test-item seq status
                                                                 text) read))
                   (delta (offset text)
                     (cursord-transcript-delta cursord-transcript
                                               (list :itemId "i" :turnId "t"
                                                     :offset offset
                                                     :text text)))
                   (answer (result)
                     (cursord-test-until "a question" (sit-for 0.01) asked)
                     (funcall (nth 2 (pop asked)) result))
                   (shown () (cursord-transcript-flush cursord-transcript)
                     (buffer-substring-no-properties (point-min) (point-max))))
           (ignore #'turn #'item #'delta #'answer #'shown)
           ,@body)))))

(defun cursord-test-object (seq status &rest more)
  "An object with SEQ, STATUS and MORE."
  `(:seq ,seq :status ,status :createdAt "2026" :turnId "t" ,@more))

(defun cursord-test-item (seq status text)
  "What the agent said, as an item with SEQ, STATUS and TEXT."
  (apply #'cursord-test-object seq status :id "i" :index 0 :kind "assistant"
         (and text (list :text text))))

(ert-deftest cursord-test-an-answer-behind-the-end ()
  "What was read of an item takes nothing from what was told since.
That is so before its turn is known, too."
  (dolist (known '(t nil))
    (cursord-test-with-transcript
      (when known (turn 1 "running"))
      (item 2 "running" nil)
      (delta 0 "one ")
      (item 2 "running" "o" t)
      (item 2 "running" nil t)
      (delta 4 "two")
      (item 9 "completed" "one two three")
      (item 2 "running" "one" t)
      (item 1 "running" nil t)
      (unless known (turn 1 "running"))
      (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\none two three\n"
                     (shown)))
      (should (equal '(:session/read) (mapcar #'car asked))))))

(ert-deftest cursord-test-directions-are-seen ()
  "What changes the direction of text is shown in words.
It does not reverse what is beside it."
  (cursord-test-with-transcript
    (turn 1 "running")
    (item 2 "running" nil)
    (delta 0 "say \u202eabc")
    (shown)
    (delta 10 " \u2067def")
    (should (string-search "say \u202eabc \u2067def\n" (shown)))
    (goto-char (point-min))
    (let (seen)
      (while (re-search-forward "[\u202e\u2067]" nil t)
        (push (get-char-property (1- (point)) 'display) seen))
      (should (equal '("<U+2067>" "<U+202E>") seen)))))

(ert-deftest cursord-test-text-behind-a-gap ()
  "Text of which the beginning was not told is shown once that was read.
It is asked for once."
  (cursord-test-with-transcript
    (setq asked nil)
    (turn 1 "running")
    (item 2 "running" nil)
    (delta 8 "three ")
    (delta 14 "four ")
    (answer `(:item ,(cursord-test-item 2 "running" "one tw")))
    (delta 19 "five ")
    (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\none tw\n" (shown)))
    ;; The daemon had not stored more yet.
    (answer `(:item ,(cursord-test-item 2 "running" "one two three f")))
    (delta 24 "six")
    (should (equal (concat "\n## You\n\ngo\n\n## Cursor  working\n\n"
                           "one two three four five six\n")
                   (shown)))
    (delta 40 "lost")
    (item 3 "completed" "all of it")
    (sit-for 0.02)
    (should-not asked)
    (should (equal "\n## You\n\ngo\n\n## Cursor  working\n\nall of it\n"
                   (shown)))))

(ert-deftest cursord-test-older-messages-are-older ()
  "A page of which all was told already does not hide what is before it."
  (cursord-test-with-transcript
    (cl-labels ((page (&rest numbers)
                  `(:turns ,(if (memq 1 numbers)
                                (vector (cursord-test-object 1 "running" :id "t"
                                                             :prompt "go"))
                              [])
                           :more ,(if (memq 1 numbers) :json-false t)
                           :items ,(vconcat (mapcar #'numbered numbers))))
                (numbered (n)
                  (cursord-test-object n "completed" :id (format "i%d" n)
                                       :index n :kind "assistant"
                                       :text (format "%d" n))))
      (turn 1 "running")
      (dolist (n '(3 4 5))
        (cursord-transcript-item cursord-transcript (numbered n)))
      (answer (page 4 5))
      (answer (page 2 3))
      (should (string-prefix-p "Load older" (shown)))
      (should-not asked)
      (cursord-transcript-load cursord-transcript)
      (answer (page 1))
      (should (equal (concat "\n## You\n\ngo\n\n## Cursor  working\n\n"
                             "1\n\n2\n\n3\n\n4\n\n5\n")
                     (shown))))))

(ert-deftest cursord-test-edits-have-the-fewest-lines ()
  "An edit in the chat counts the lines that the review counts."
  (let ((before (concat "a\ndef show(items):\n    for i in items:\n"
                        "        print(i)\n\nend\n")))
    (pcase-dolist (`(,after . ,lines)
                   '(("a\ndef done(items):\n    pass\n\ndef show(items):\n\
    for i in each:\n        print(i)\n\nend\n"
                      "+def done(items):" "+    pass" "+"
                      "-    for i in items:" "+    for i in each:")
                     ("a\nend\n" "-def show(items):" "-    for i in items:"
                      "-        print(i)" "-")
                     ("" "-a" "-def show(items):" "-    for i in items:"
                      "-        print(i)" "-" "-end")))
      (should (equal lines (cursord--edit-compare before after)))
      (should (equal (mapcar (lambda (line)
                               (concat (if (eq ?+ (aref line 0)) "-" "+")
                                       (substring line 1)))
                             (seq-filter (lambda (line) (eq ?- (aref line 0)))
                                         lines))
                     (seq-filter (lambda (line) (eq ?+ (aref line 0)))
                                 (cursord--edit-compare after before)))))
    ;; Of many lines, at least none is missing.
    (let ((many (cursord-test-numbered 300)))
      (should (equal (length (split-string many "\n" t))
                     (length (cursord--edit-compare many "")))))))

(ert-deftest cursord-test-rows-of-lines ()
  "Lines of a text are found in another one, also those that were moved."
  (pcase-dolist (`(,before ,after ,rows)
                 '(("" "" [])
                   ("" "a\n" [nil])
                   ("a\n" "" [])
                   ("a\nb\nc\n" "a\nb\nc\n" [0 1 2])
                   ("a\nb\nc\n" "x\na\nc\ny\n" [nil 0 2 nil])
                   ("a\nb\nc\nd\n" "a\nB\nc\nD\n" [0 nil 2 nil])
                   ("a\nb\nc\nd\n" "d\na\nb\nc\n" [3 0 1 2])
                   ;; It is not known which one was moved.
                   ("a\na\nb\nc\nd\n" "b\nc\nd\na\n" [2 3 4 nil])
                   ("}\nb\nc\nd\n" "b\nc\nd\n}\n" [1 2 3 nil])))
    (ert-info ((format "%S %S" before after))
      (should (equal rows (cursord-edit-rows before after)))))
  ;; Nothing but the end of the last line is common.
  (let ((many (lambda (word)
                (concat (mapconcat (lambda (i) (format "%s %d\n" word i))
                                   (number-sequence 1 5000) "")
                        word " tail\n"))))
    (should (equal (make-vector 5001 nil)
                   (cursord-edit-rows (funcall many "one")
                                      (funcall many "two"))))))

(provide 'cursord-transcript-tests)
;;; cursord-transcript-tests.el ends here
