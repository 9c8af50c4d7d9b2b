package lsp

import "strings"

// The commands of editors, by the beginnings of the names that they give in clientInfo, in lower case. Neovim says "Neovim", Helix
// "helix", Eglot "Eglot"; lsp-mode says "emacs".
var habits = []struct{ name, reload, save string }{
	{"helix", " (:reload-all; unsaved edits are lost)", " (:wa)"},
	{"neovim", " (:checktime)", " (:wa)"},
	{"vim", " (:checktime)", " (:wa)"},
	{"coc.nvim", " (:checktime)", " (:wa)"},
	{"kak", " (:edit!)", " (:write-all)"},
	{"eglot", " (M-x revert-buffer)", " (C-x s)"},
	{"emacs", " (M-x revert-buffer)", " (C-x s)"},
}

// toReload returns how this editor loads files again, behind a sentence that asks for it; "" where that is not known.
func (c *client) toReload() string { reload, _ := c.habits(); return reload }

// toSave is toReload of saving all files.
func (c *client) toSave() string { _, save := c.habits(); return save }

func (c *client) habits() (reload, save string) {
	name := strings.ToLower(c.name)
	for _, one := range habits {
		if strings.HasPrefix(name, one.name) {
			return one.reload, one.save
		}
	}
	return "", ""
}

// isHelix reports whether the editor is Helix, which refuses to save over a file that has changed on disk.
func (c *client) isHelix() bool { return strings.HasPrefix(strings.ToLower(c.name), "helix") }

// toSaveMerged says how a document is saved that has what is on disk, too.
func (c *client) toSaveMerged() string {
	if c.isHelix() {
		return "; :w! saves both, since Helix refuses :w there"
	}
	return ""
}

// rereads reports whether the editor itself loads files that have changed on disk, and which it has open without changes.
func (c *client) rereads() bool {
	name := strings.ToLower(c.name)
	return strings.HasPrefix(name, "visual studio code") || strings.HasPrefix(name, "code") || strings.HasPrefix(name, "vscod") ||
		strings.HasPrefix(name, "cursor")
}
