;;; cursord-menu-tests.el --- The menu  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; See cursord-tests.el.  What this file requires is what a person has loaded
;; who opens the menu first.

;;; Code:

(require 'ert)
(require 'cursord)
(require 'cursord-menu)

(defun cursord-test-menu-keys ()
  "Return the keys of the menu with their commands, as its source has them."
  (let (found)
    (with-temp-buffer
      (insert-file-contents (locate-library "cursord-menu.el"))
      (re-search-forward "^(transient-define-prefix cursord-menu ")
      (goto-char (match-beginning 0))
      (named-let walk ((form (read (current-buffer))))
        (cond
         ((vectorp form) (mapc #'walk form))
         ((not (proper-list-p form)))
         ((eq (car form) 'transient-define-prefix) (mapc #'walk form))
         ((stringp (car form))
          (push (cons (car form) (seq-find #'symbolp (cdr form))) found)))))
    (should (> (length found) 30))
    found))

(ert-deftest cursord-test-menu-keys-are-those-of-the-map ()
  "Each key of the menu has the same command in a map, which is there at once."
  (let ((keys (cursord-test-menu-keys)))
    (pcase-dolist (`(,key . ,command) keys)
      (ert-info ((format "%s: %s needs an autoload in cursord.el" key command))
        (should (fboundp command)))
      (unless (or (string-prefix-p "-" key) (string-prefix-p "= " key))
        (ert-info ((format "%s: add %s to cursord-command-map in cursord.el"
                           key command))
          (should (eq command (keymap-lookup cursord-command-map key))))))
    (map-keymap (lambda (_key described)
                  (ert-info ((format "%s needs an autoload in cursord.el"
                                     (cdr described)))
                    (should (fboundp (cdr described)))))
                cursord-command-map)
    (require 'cursord-hunks)
    (defvar cursord-hunk-command-map)
    (pcase-dolist (`(,key . ,command) keys)
      (when (string-prefix-p "= " key)
        (ert-info ((format "%s: add %s to cursord-hunk-command-map"
                           key command))
          (should (eq command (keymap-lookup cursord-hunk-command-map
                                             (substring key 2)))))))))

(provide 'cursord-menu-tests)
;;; cursord-menu-tests.el ends here
