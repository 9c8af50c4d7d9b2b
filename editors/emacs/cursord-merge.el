;;; cursord-merge.el --- Hunks as conflicts, in a copy  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-smerge-file' shows the hunks of a file as conflicts, for
;; `smerge-mode', in a buffer of their own: markers are nobody's text, and never
;; get into the file's buffer.  In the end, a conflict of which one side was kept
;; is a decision, which can be undone like any other: the agent's side accepts,
;; the other one rejects.  Text that is neither side is an edit.

;;; Code:

(require 'cl-lib)
(require 'smerge-mode)
(require 'cursord-workspace)
(require 'cursord-groups)
(require 'cursord-document)
(require 'cursord-decide)
(require 'cursord-compare)

(cl-defstruct (cursord-conflict (:constructor cursord--conflict-make)
                                (:copier nil))
  "A group of a hunk in a buffer that has it as a conflict."
  group
  (beg nil :documentation "A marker where it begins.")
  (end nil :documentation "A marker behind it.")
  (text nil :documentation "All of it, markers included."))

(cl-defstruct (cursord-merge (:constructor cursord--merge-make) (:copier nil))
  "What a buffer with conflicts is about."
  document
  (hash nil :documentation "Of the text of the document.")
  (conflicts nil :documentation "In order.")
  (ended nil :documentation "Whether a newline was added at the end."))

(defvar-local cursord--merge nil "What this buffer, with conflicts, is about.")
(put 'cursord--merge 'permanent-local t)

(defvar-keymap cursord-merge-mode-map
  :doc "Keys where hunks are conflicts."
  "C-c C-c" #'cursord-merge-finish
  "C-c C-k" #'cursord-merge-quit)

(define-minor-mode cursord-merge-mode
  "Choose between what was and what the agent made of it, conflict by conflict.
\\<smerge-mode-map>\\[smerge-keep-upper] keeps what was,
\\[smerge-keep-lower] what the agent wrote, \\[smerge-next] goes to the next one.
\\<cursord-merge-mode-map>\\[cursord-merge-finish] decides so; a conflict that is
left stays to be reviewed.  \\[cursord-merge-quit] goes back without a decision."
  :lighter " Merge"
  (setq header-line-format
        (and cursord-merge-mode
             (substitute-command-keys
              " \\<cursord-merge-mode-map>\\[cursord-merge-finish] decide · \\[cursord-merge-quit] back · \\<smerge-mode-map>\\[smerge-keep-upper] before · \\[smerge-keep-lower] agent's · \\[smerge-next] next"))))
(put 'cursord-merge-mode 'permanent-local t)

;;;; The copy

(defun cursord--text-of-lines (lines)
  "LINES as text."
  (mapconcat (lambda (line) (concat (cursord--bare line) "\n")) lines ""))

(defun cursord--conflict-sides (group)
  "What was at GROUP and what the agent made of it: (BEFORE . AGENT)."
  (cons (cursord--text-of-lines (cursord-group-old group))
        (cursord--text-of-lines (cursord-group-new group))))

(defun cursord--insert-conflict (group)
  "Make a conflict of GROUP in the current buffer, and return it."
  (pcase-let ((`(,before . ,agent) (cursord--conflict-sides group)))
    (goto-char (point-min))
    (forward-line (cursord-group-row group))
    (let* ((beg (point))
           (text (concat "<<<<<<< before\n" before "=======\n" agent
                         ">>>>>>> agent\n")))
      (delete-region beg
                     (line-beginning-position (1+ (length (cursord-group-present group)))))
      (insert text)
      (cursord--conflict-make :group group :text text
                              :beg (copy-marker beg t) :end (point-marker)))))

;;;###autoload
(defun cursord-smerge-file ()
  "Show the hunks of the file at point as conflicts, for `smerge-mode'.
That is in a copy: nothing is decided before \\<cursord-merge-mode-map>\
\\[cursord-merge-finish] there."
  (interactive)
  (pcase-let ((`(,buffer . ,diff) (cursord--file-to-compare)))
    (unless diff
      (user-error "There is nothing to review in this file"))
    (let ((side (with-current-buffer buffer
                  (cursord--side-buffer "merge" (cursord--whole-text) buffer)))
          conflicts)
      (with-current-buffer side
        (setq buffer-read-only nil
              cursord-buffer-workspace (cursord-document-ws (cursord-document buffer)))
        (goto-char (point-max))
        (let ((ended (not (or (bolp) (= (buffer-size) 0)))))
          (when ended (insert "\n"))
          (seq-doseq (hunk (reverse (plist-get diff :hunks)))
            (dolist (group (reverse (car (cursord-groups hunk))))
              (push (cursord--insert-conflict group) conflicts)))
          ;; Those behind had to move; now what is typed there comes behind.
          (dolist (conflict conflicts)
            (set-marker-insertion-type (cursord-conflict-beg conflict) nil))
          (setq cursord--merge
                (cursord--merge-make :document (cursord-document buffer)
                                     :hash (buffer-hash buffer) :ended ended
                                     :conflicts conflicts)))
        (buffer-disable-undo)
        (buffer-enable-undo)
        (set-buffer-modified-p nil)
        (goto-char (point-min)))
      (pop-to-buffer side)
      (smerge-start-session)
      (cursord-merge-mode))))

(defun cursord-merge-quit ()
  "Go back from conflicts, and decide nothing."
  (interactive nil cursord-merge-mode)
  (when (or (not (buffer-modified-p))
            (y-or-n-p "Forget what you chose here? "))
    (set-buffer-modified-p nil)
    (quit-window t)))

;;;; What was kept

(defun cursord--conflict-kept (conflict)
  "What was kept of CONFLICT: `before', `agent', `other', or nil if it is left."
  (let ((text (buffer-substring-no-properties (cursord-conflict-beg conflict)
                                              (cursord-conflict-end conflict))))
    (pcase-let ((`(,before . ,agent)
                 (cursord--conflict-sides (cursord-conflict-group conflict))))
      (cond ((equal text (cursord-conflict-text conflict)) nil)
            ((equal text before) 'before)
            ((equal text agent) 'agent)
            ((string-match-p "^\\(?:<<<<<<< before\\|>>>>>>> agent\\)$" text)
             (goto-char (cursord-conflict-beg conflict))
             (user-error "This conflict is neither left nor decided; choose a side, or undo what you typed in it"))
            (t 'other)))))

(defun cursord--merge-parts (kept isolated side)
  "The parts of hunks that SIDE was kept of, as `cursord-decide' takes them.
KEPT is an alist of groups; only those whose hunks are ISOLATED, or not, count.
Of a hunk it is one run of groups: what is left of it is an edit."
  (let (parts run)
    (cl-flet ((finish ()
                (when run
                  (let* ((hunk (cursord-group-hunk (car run)))
                         (last (car run))
                         (from (cursord-group-from (car (last run))))
                         (to (+ (cursord-group-from last)
                                (length (cursord-group-old last))
                                (length (cursord-group-new last)))))
                    (unless (seq-some (lambda (part)
                                        (eq hunk (if (keywordp (car part)) part
                                                   (car part))))
                                      parts)
                      (push (if (and (eql from 0)
                                     (eql to (length (cursord-changed-lines hunk))))
                                hunk
                              (cons hunk (cons from to)))
                            parts))
                    (setq run nil)))))
      (pcase-dolist (`(,group . ,what) kept)
        (let ((hunk (cursord-group-hunk group)))
          (when (and run (not (eq hunk (cursord-group-hunk (car run)))))
            (finish))
          (if (and (eq what side) (eq isolated (cursord-isolated-p hunk)))
              (push group run)
            (finish))))
      (finish))
    (nreverse parts)))

(defun cursord-merge-finish ()
  "Decide as was chosen here; conflicts that are left stay to be reviewed.
What is neither side of a conflict is an edit of the file.  The file is saved,
unless its buffer had other changes."
  (interactive nil cursord-merge-mode)
  (let* ((merge cursord--merge)
         (document (cursord-merge-document merge))
         (file (cursord-document-buffer document))
         (ws (cursord-document-ws document))
         (copy (current-buffer))
         (kept (mapcar (lambda (conflict)
                         (cons (cursord-conflict-group conflict)
                               (cursord--conflict-kept conflict)))
                       (cursord-merge-conflicts merge))))
    (unless (and (buffer-live-p file)
                 (equal (cursord-merge-hash merge) (buffer-hash file)))
      (user-error "%s has changed meanwhile; what you chose here stays, begin again beside it"
                  (cursord-document-path document)))
    (unless (or (buffer-modified-p) (seq-some #'cdr kept))
      (user-error "Nothing was chosen here yet"))
    (let* ((saved (not (buffer-modified-p file)))
           ;; The side that is in the file already is decided by whole hunks: of
           ;; the others, other lines are edited.
           (whole (lambda (parts)
                    (seq-filter (lambda (part) (keywordp (car part))) parts)))
           (rejects (append (cursord--merge-parts kept nil 'before)
                            (funcall whole (cursord--merge-parts kept t 'before))))
           (accepts (append (cursord--merge-parts kept t 'agent)
                            (funcall whole (cursord--merge-parts kept nil 'agent))))
           (take (lambda (ok)
                   (when ok
                     (cursord--take-merge merge copy saved)))))
      (cond
       (rejects (cursord-decide ws :diff/reject rejects nil
                                (if accepts
                                    (lambda (ok)
                                      (when ok
                                        (cursord-decide ws :diff/accept accepts
                                                        nil take)))
                                  take)))
       (accepts (cursord-decide ws :diff/accept accepts nil take))
       (t (funcall take t))))))

(defun cursord--take-merge (merge copy saved)
  "Have the file of MERGE, whose sides were decided, be as COPY.
SAVED says that it is to be saved."
  (let ((file (cursord-document-buffer (cursord-merge-document merge))))
    (when (and (buffer-live-p copy) (buffer-live-p file))
      (with-current-buffer copy
        (save-excursion
          (dolist (conflict (cursord-merge-conflicts merge))
            (unless (cursord--conflict-kept conflict)
              (goto-char (cursord-conflict-beg conflict))
              (delete-region (point) (cursord-conflict-end conflict))
              (insert (cursord--text-of-lines (cursord-group-present (cursord-conflict-group conflict))))))
          (goto-char (point-max))
          (when (and (cursord-merge-ended merge) (eq (char-before) ?\n)
                     (with-current-buffer file
                       (save-restriction
                         (widen)
                         (not (eq (char-before (point-max)) ?\n)))))
            (delete-char -1))))
      (cursord--take-proposal (cursord-merge-document merge) copy saved))))

(provide 'cursord-merge)
;;; cursord-merge.el ends here
