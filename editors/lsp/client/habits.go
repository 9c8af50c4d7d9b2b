package client

import (
	"fmt"
	"strings"
	"unicode"

	"cursord/agent/plaintext"
)

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

// Helix shows about 80 columns of a message, so messages for it begin with what to do.

// ToReload returns what to do for files that have changed on disk: the advice, and this editor's command if it is known.
// unsaved says that some buffer has unsaved changes, which Helix would drop.
func (c *Client) ToReload(unsaved bool) string {
	if unsaved && c.IsHelix() {
		return ":reload it (:reload-all drops unsaved)"
	}
	reload, _ := c.habits()
	if c.IsHelix() {
		return strings.Trim(reload, " ()") + " shows it"
	}
	return "reload to see it" + reload
}

// ToReloadFirst returns what to do if the user has begun to type in a text that is older than its file.
func (c *Client) ToReloadFirst() string {
	if c.IsHelix() {
		return "u, then :reload; :w! drops its lines"
	}
	return "undo your changes and reload it; saving undoes what is there"
}

// ToName returns what to do where the name of a file is not enough.
func (c *Client) ToName() string {
	if c.IsHelix() {
		return "\"cursord editor install helix\" brings keys that name the file, or use space a"
	}
	return "give the absolute path"
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

// ChangesOvertake reports whether the editor may send changes of a document in another order than they were made, as Helix does
// before 25.07. It is to send whole texts then: an old one can be told by its version, but an edit cannot be made later.
func (c *Client) ChangesOvertake() bool { return c.IsHelix() && c.Version < "25.07" }

// Merged returns the message that changes on disk came into an unsaved document, with that number of conflicts beside them. overlaps
// says that another program has changed lines that the document changes too: a save overwrites its lines. Helix refuses :w over a
// file that has changed.
func (c *Client) Merged(file string, conflicts int, overlaps bool) string {
	n := plaintext.Count(conflicts, "conflict")
	switch {
	case overlaps && c.IsHelix():
		return file + ": :w! drops another program's lines – changes on disk came in"
	case overlaps:
		return "changes on disk came into " + file + ", but another program has changed your unsaved lines too – compare before you save it"
	case conflicts > 0 && c.IsHelix():
		return n + " in " + file + ": space a, then :w! – changes on disk came in"
	case conflicts > 0:
		return "changes on disk came into " + file + ", which is not saved – decide " + n + " before you save it"
	case c.IsHelix():
		return "changes on disk came into " + file + ": :w! saves both, u takes them out"
	}
	return "changes on disk came into " + file + ", which is not saved (undo takes them out)"
}

// AboutConflicts returns the message that the user and the agent have changed the same lines of a file. A save keeps the user's.
func (c *Client) AboutConflicts(file string, n int) string {
	if c.IsHelix() {
		return fmt.Sprintf("%s in %s – space a decides; :w! keeps your lines", plaintext.Count(n, "conflict"), file)
	}
	return fmt.Sprintf("%s in %s: the agent has changed these lines too – decide there; a save keeps your lines", plaintext.Count(n, "conflict"), file)
}

// AboutSave returns the message that a save has put the user's lines over the agent's, and so rejected that many hunks.
func (c *Client) AboutSave(rejected int) string {
	them := "them"
	if rejected == 1 {
		them = "it"
	}
	return fmt.Sprintf("the save rejected %s – %s brings %s back", plaintext.Count(rejected, "hunk"), c.Key("undo"), them)
}

// helixKeys are the keys behind "space i" that "cursord editor install helix" sets, by their commands.
var helixKeys = map[string]string{
	"next": "n", "compose": "c", "undo": "u", "ask": "i", "allow": "a", "deny": "d", "rejectComment": "m", "resume": "r", "recap": "R", "approvals": "a",
}

// Key returns how a user starts a command, for messages: its name, and in Helix the key that is installed for it.
func (c *Client) Key(command string) string {
	switch {
	case !c.IsHelix() || helixKeys[command] == "":
		return "cursord." + command
	case command == "approvals":
		command = "allow" // which asks again while the agent waits for an answer
	}
	return "space i " + helixKeys[command] + " (cursord." + command + ")"
}

// Back says how hunks come back that one command has decided, as the end of a message; "" unless it has rejected several, which it does
// without a question.
func (c *Client) Back(verb string, hunks int) string {
	if verb != "rejected" || hunks < 2 {
		return ""
	}
	return "; " + c.Key("undo") + " brings them back"
}

// PopupsTakeKeys reports whether a question of the editor takes the keys that a person types, as in all editors but Visual Studio Code.
func (c *Client) PopupsTakeKeys() bool { return !c.ReloadsByItself() }

// InPopup returns a text as a popup of the editor shows all of it. Helix counts its rows by its width but breaks it at blanks, so it would
// not show the last rows of a text with long lines; their blanks are those at which it does not break.
func (c *Client) InPopup(text string) string {
	const narrow = 40 // characters that fit in one row of a narrow window
	if !c.IsHelix() {
		return text
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if len(line) > narrow {
			lines[i] = strings.Map(func(r rune) rune {
				if unicode.IsSpace(r) {
					return '\u00a0'
				}
				return r
			}, line)
		}
	}
	return strings.Join(lines, "\n")
}

// Menu returns how a user of this editor gets the code actions.
func (c *Client) Menu() string {
	if c.IsHelix() {
		return "with space a (code actions)"
	}
	return "from the code actions"
}

// ReloadsByItself reports whether the editor loads open files again by itself when they change on disk and have no unsaved changes.
func (c *Client) ReloadsByItself() bool {
	name := strings.ToLower(c.Name)
	return strings.HasPrefix(name, "visual studio code") || strings.HasPrefix(name, "code") || strings.HasPrefix(name, "vscod") ||
		strings.HasPrefix(name, "cursor")
}
