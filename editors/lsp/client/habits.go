package client

import "strings"

// habits are how people load and save files in each editor. name is the beginning, in lower case, of the name in clientInfo:
// Neovim sends "Neovim", Helix "helix", Eglot "Eglot" and lsp-mode "emacs".
var habits = []struct{ name, reload, save string }{
	{"helix", " (:reload-all)", " (:wa)"},
	{"neovim", " (:checktime)", " (:wa)"},
	{"vim", " (:checktime)", " (:wa)"},
	{"coc.nvim", " (:checktime)", " (:wa)"},
	{"kak", " (:edit!)", " (:write-all)"},
	{"eglot", " (M-x revert-buffer)", " (C-x s)"},
	{"emacs", " (M-x revert-buffer)", " (C-x s)"},
}

// ToReload returns the command by which this editor loads files again, in parentheses after a space; "" if it is unknown. unsaved
// says that some buffer has unsaved changes: Helix would drop them.
func (c *Client) ToReload(unsaved bool) string {
	if unsaved && c.IsHelix() {
		return " (:reload in it; :reload-all drops your unsaved changes)"
	}
	reload, _ := c.habits()
	return reload
}

// ToSave returns the command by which this editor saves all files, like ToReload.
func (c *Client) ToSave() string { _, save := c.habits(); return save }

func (c *Client) habits() (reload, save string) {
	name := strings.ToLower(c.Name)
	for _, one := range habits {
		if strings.HasPrefix(name, one.name) {
			return one.reload, one.save
		}
	}
	return "", ""
}

// IsHelix reports whether the editor is Helix, which refuses to save over a file that has changed on disk.
func (c *Client) IsHelix() bool { return strings.HasPrefix(strings.ToLower(c.Name), "helix") }

// ToSaveMerged returns how this editor saves a document after the agent's changes to its file were merged into it, behind a
// semicolon; "" where an ordinary save does.
func (c *Client) ToSaveMerged() string {
	if c.IsHelix() {
		return "; :w! saves both, since Helix refuses :w there"
	}
	return ""
}

// ReloadsByItself reports whether the editor loads open files again by itself when they change on disk and have no unsaved changes.
func (c *Client) ReloadsByItself() bool {
	name := strings.ToLower(c.Name)
	return strings.HasPrefix(name, "visual studio code") || strings.HasPrefix(name, "code") || strings.HasPrefix(name, "vscod") ||
		strings.HasPrefix(name, "cursor")
}
