;;; cursord-merge.el --- Hunks as conflicts  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: MIT

;;; Commentary:

;; `cursord-smerge-file' shows the hunks of a file as conflicts, for
;; `smerge-mode', in a copy: conflict markers are nobody's text, and never get
;; into the file's buffer.  In the end, a conflict of which one side was kept
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

;; `cursord-conflict-p' is about hunks.
(cl-defstruct (cursord-conflict (:constructor cursord--conflict-make)
                                (:copier nil) (:predicate nil))
  "A group of a hunk as a conflict in a copy."
  group
  (beg nil :documentation "A marker at its beginning.")
  (end nil :documentation "A marker behind it.")
  (text nil :documentation "The undecided conflict's text."))

(defun cursord--conflict-hunk (conflict)
  "Return the hunk of CONFLICT."
  (cursord-group-hunk (cursord-conflict-group conflict)))

(cl-defstruct (cursord-merge (:constructor cursord--merge-make) (:copier nil))
  "The state of a copy with conflicts."
  document
  (hash nil :documentation "The hash of the document's text.")
  (conflicts nil :documentation "The conflicts, in order.")
  (ended nil :documentation "Whether a newline was added at the end."))

(defvar-local cursord--merge nil "The state of this copy with conflicts.")
(put 'cursord--merge 'permanent-local t)

(defvar-keymap cursord-merge-mode-map
  :doc "Keys in a copy with conflicts."
  "C-c C-c" #'cursord-merge-finish
  ;; The copy has no file, so a save would ask for a name.
  "<remap> <save-buffer>" #'cursord-merge-finish
  "C-c C-k" #'cursord-merge-quit)
;; Help shows this key, not that of `save-buffer'.
(put 'cursord-merge-finish :advertised-binding (kbd "C-c C-c"))

(define-minor-mode cursord-merge-mode
  "Minor mode for choosing between the lines from before and the agent's.
Where you have changed the same lines, and not saved them, your lines stand in
place of those from before.
\\<smerge-mode-map>\\[smerge-keep-upper] keeps the lines from before,
\\[smerge-keep-lower] the agent's, \\[smerge-next] goes to the next conflict.
\\<cursord-merge-mode-map>\\[cursord-merge-finish] rejects and accepts \
accordingly; a conflict that you leave stays
pending.  \\[cursord-merge-quit] goes back without a decision."
  :interactive nil
  :lighter " Merge"
  (setq header-line-format
        (and cursord-merge-mode cursord--merge (cursord--merge-keys))))
(put 'cursord-merge-mode 'permanent-local t)

(defun cursord--merge-keys ()
  "Return the keys of this copy, for its header line."
  (let ((conflicts (cursord-merge-conflicts cursord--merge)))
    (cursord-key-text
     (format (concat " \\<cursord-merge-mode-map>"
                     "\\[cursord-merge-finish] decide"
                     " · \\[cursord-merge-quit] back"
                     " · \\<smerge-mode-map>\\[smerge-keep-upper] %s"
                     " · \\[smerge-keep-lower] agent's · %s")
             (string-join (seq-uniq (mapcar (lambda (conflict)
                                              (cursord--upper-label
                                               (cursord-conflict-group
                                                conflict)))
                                            conflicts))
                          "/")
             ;; 80 columns have no room for more.
             (if (seq-some (lambda (conflict)
                             (cursord-contested-p
                              (cursord--conflict-hunk conflict)))
                           conflicts)
                 "\\[smerge-keep-all] both"
               "\\[smerge-next] next")))))

;;;; The copy

(defun cursord--text-of-lines (lines)
  "Return LINES as text."
  (mapconcat (lambda (line) (concat (cursord--bare line) "\n")) lines ""))

(defun cursord--conflict-sides (group)
  "Return the two sides of GROUP as texts, (BEFORE . AGENT)."
  (cons (cursord--text-of-lines (cursord-group-old group))
        (cursord--text-of-lines (cursord-group-new group))))

(defun cursord--upper-label (group)
  "Return what the upper side of GROUP is called in its conflict."
  (if (cursord-contested-p (cursord-group-hunk group)) "yours" "before"))

(defun cursord--insert-conflict (group)
  "Insert GROUP as a conflict into the current buffer, and return it."
  (pcase-let ((`(,before . ,agent) (cursord--conflict-sides group)))
    (goto-char (point-min))
    (forward-line (cursord-group-row group))
    (let* ((beg (point))
           (text (concat "<<<<<<< " (cursord--upper-label group) "\n" before
                         "=======\n" agent ">>>>>>> agent\n")))
      (delete-region beg (line-beginning-position
                          (1+ (length (cursord-group-present group)))))
      (insert text)
      (cursord--conflict-make :group group :text text
                              :beg (copy-marker beg t) :end (point-marker)))))

;;;###autoload
(defun cursord-smerge-file ()
  "Show the hunks of the file at point as conflicts, for `smerge-mode'.
They are in a copy: nothing is decided before \\<cursord-merge-mode-map>\
\\[cursord-merge-finish] there."
  (interactive)
  (pcase-let ((`(,buffer . ,diff) (cursord--file-to-compare)))
    (unless diff
      (user-error "There is nothing to review in this file"))
    (let ((side (with-current-buffer buffer
                  (cursord--side-buffer "merge" (cursord--whole-text) buffer)))
          (here (cursord--hunk-of (plist-get diff :hunks)))
          conflicts)
      (with-current-buffer side
        (setq buffer-read-only nil
              cursord-buffer-workspace
              (cursord-document-ws (cursord-document buffer)))
        (goto-char (point-max))
        (let ((ended (not (or (bolp) (= (buffer-size) 0)))))
          (when ended (insert "\n"))
          (seq-doseq (hunk (reverse (plist-get diff :hunks)))
            (dolist (group (reverse (car (cursord-groups hunk t))))
              (push (cursord--insert-conflict group) conflicts)))
          ;; The markers have moved with later conflicts.  From now on they stay
          ;; before text that is typed.
          (dolist (conflict conflicts)
            (set-marker-insertion-type (cursord-conflict-beg conflict) nil))
          (setq cursord--merge
                (cursord--merge-make :document (cursord-document buffer)
                                     :hash (buffer-hash buffer) :ended ended
                                     :conflicts conflicts)))
        (cursord--saved-by (cursord-document buffer) #'cursord-merge-finish)
        (buffer-disable-undo)
        (buffer-enable-undo)
        (set-buffer-modified-p nil)
        (goto-char (cursord-conflict-beg
                    (or (seq-find (lambda (conflict)
                                    (eq here (cursord--conflict-hunk conflict)))
                                  conflicts)
                        (car conflicts)))))
      (pop-to-buffer side)
      (smerge-start-session)
      (cursord-merge-mode))))

(defun cursord-merge-quit ()
  "Go back from conflicts, and decide nothing."
  (interactive (cursord-only-in 'cursord-merge-mode) cursord-merge-mode)
  (cursord--quit-copy))

;;;; Choices

(defun cursord--conflict-kept (conflict)
  "Return the choice in CONFLICT, or nil for none.
It is `before', `agent', `both' or `other'."
  (let ((text (buffer-substring-no-properties (cursord-conflict-beg conflict)
                                              (cursord-conflict-end conflict))))
    (pcase-let ((`(,before . ,agent)
                 (cursord--conflict-sides (cursord-conflict-group conflict))))
      (cond ((equal text (cursord-conflict-text conflict)) nil)
            ((equal text before) 'before)
            ((equal text agent) 'agent)
            ((and (equal text (concat before agent))
                  (cursord-contested-p (cursord--conflict-hunk conflict)))
             'both)
            ((string-match-p (concat "^\\(?:<<<<<<< \\(?:before\\|yours\\)"
                                     "\\|>>>>>>> agent\\)$")
                             text)
             (goto-char (cursord-conflict-beg conflict))
             (user-error (concat "This conflict is half decided: choose a side,"
                                 " or undo your edits in it")))
            (t 'other)))))

(defun cursord--merge-parts (kept isolated side)
  "Return the parts of hunks where SIDE was kept, for `cursord-decide'.
KEPT is an alist from groups to choices.  Only hunks that are ISOLATED count,
or only the others.  Of each hunk, return one run of groups: the rest of the
hunk becomes an edit."
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
                      (push (if (or (cursord-beside-p hunk)
                                    (and (eql from 0)
                                         (eql to
                                              (length
                                               (cursord-changed-lines
                                                hunk)))))
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
  "Accept and reject hunks by the choices here; the others stay pending.
Text that is neither side of a conflict is an edit of the file.  Save the file,
unless its buffer had other changes."
  (interactive (cursord-only-in 'cursord-merge-mode) cursord-merge-mode)
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
      (user-error (concat "%s has changed meanwhile: your choices stay here,"
                          " begin again beside them")
                  (cursord-document-path document)))
    (unless (or (buffer-modified-p) (seq-some #'cdr kept))
      (user-error "Nothing was chosen here yet"))
    (let* ((saved (not (buffer-modified-p file)))
           ;; If the file has the chosen side already, decide whole hunks alone:
           ;; of other hunks, some lines are edited or still undecided.
           (whole (lambda (parts)
                    (seq-filter (lambda (part) (keywordp (car part))) parts)))
           (rejects (append
                     (cursord--merge-parts kept nil 'before)
                     (funcall whole (cursord--merge-parts kept t 'before))))
           (both (cursord--merge-parts kept t 'both))
           (accepts (append
                     (cursord--merge-parts kept t 'agent)
                     (funcall whole (cursord--merge-parts kept nil 'agent)))))
      (named-let step ((ok t)
                       (steps (seq-filter
                               #'cadr
                               `((:diff/reject ,rejects)
                                 (:diff/accept
                                  ,(seq-remove #'cursord-beside-p accepts))
                                 (:diff/accept
                                  ,(seq-filter #'cursord-beside-p accepts)
                                  (:replace t))
                                 (:diff/accept ,both (:both t))))))
        (pcase steps
          ((guard (not ok)))
          (`((,method ,parts . ,more) . ,rest)
           (cursord-decide ws method parts (car more)
                           (lambda (ok) (step ok rest))))
          (_ (cursord--take-merge merge copy saved)))))))

(defun cursord--take-merge (merge copy saved)
  "Give the file of MERGE, whose sides were decided, the text of COPY.
Save it if SAVED."
  (let ((file (cursord-document-buffer (cursord-merge-document merge))))
    (when (and (buffer-live-p copy) (buffer-live-p file))
      (with-current-buffer copy
        (save-excursion
          (dolist (conflict (cursord-merge-conflicts merge))
            (unless (cursord--conflict-kept conflict)
              (goto-char (cursord-conflict-beg conflict))
              (delete-region (point) (cursord-conflict-end conflict))
              (insert (cursord--text-of-lines
                       (cursord-group-present
                        (cursord-conflict-group conflict))))))
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
