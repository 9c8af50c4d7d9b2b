package sessions

import (
	"slices"
	"strings"
)

// A DiffKind is the strongest thing that happened to a file; rpc/PROTOCOL.md orders them.
type DiffKind string

const (
	DiffModified DiffKind = "modified"
	DiffCreated  DiffKind = "created"
	DiffDeleted  DiffKind = "deleted"
	DiffRenamed  DiffKind = "renamed"
	DiffMode     DiffKind = "mode"
	DiffSymlink  DiffKind = "symlink"
	DiffBinary   DiffKind = "binary"
	DiffLarge    DiffKind = "large"
)

// A Diff is what is left to review in one file. There is one per path and workspace.
type Diff struct {
	Workspace string   `json:"workspace"`
	Path      string   `json:"path"`
	URI       string   `json:"uri"`
	OldPath   string   `json:"oldPath,omitempty"`
	Kind      DiffKind `json:"kind"`
	OldMode   string   `json:"oldMode,omitempty"`
	NewMode   string   `json:"newMode,omitempty"`
	OldTarget string   `json:"oldTarget,omitempty"`
	NewTarget string   `json:"newTarget,omitempty"`
	State     string   `json:"state"`    // "pending" or "clean"
	Baseline  string   `json:"baseline"` // "known" or "unknown"
	Added     int      `json:"added"`
	Removed   int      `json:"removed"`
	Rev       uint64   `json:"rev"`
	Hunks     []Hunk   `json:"hunks"`
	Turns     []string `json:"turns"`
	// For a client's unsaved text: how many lines the agent has changed on disk that the text does not have.
	DiskOnly int `json:"diskOnly,omitempty"`
	// For the same text: how many changes on disk diff/merge would bring into it.
	Mergeable int `json:"mergeable,omitempty"`
	// For the same text: how many changes on disk, not an agent's, are of lines that it changes too.
	Overlaps int    `json:"overlaps,omitempty"`
	Seq      uint64 `json:"seq"`
}

// A Hunk is a part of a diff that is decided as a whole, unless a person decides single lines of it.
type Hunk struct {
	ID       string   `json:"id"`
	Kind     string   `json:"kind"`            // "text" or "file"
	State    string   `json:"state,omitempty"` // "conflict": a person has changed the same lines, and not saved them
	OldStart int      `json:"oldStart"`
	OldLines int      `json:"oldLines"`
	NewStart int      `json:"newStart"`
	NewLines int      `json:"newLines"`
	Lines    []string `json:"lines"`
	OldNoEOL bool     `json:"oldNoEol,omitempty"`
	NewNoEOL bool     `json:"newNoEol,omitempty"`
	Linked   []string `json:"linked,omitempty"`
	Isolated bool     `json:"isolated,omitempty"` // it is in its session's copy, and not in the file
	Beside   []int    `json:"beside,omitempty"`   // of an isolated hunk: the indices of those Lines that a person has put where the agent has changed the file, too
	Sources  []Source `json:"sources"`
}

// MaybeYours returns the ids of the hunks that may be a person's: those with an unknown source, and those that are decided
// together with one. A reject takes them only by their ids.
func (d *Diff) MaybeYours() map[string]bool {
	ids := map[string]bool{}
	for i := range d.Hunks {
		if h := &d.Hunks[i]; h.MaybeYours() {
			ids[h.ID] = true
			for _, linked := range h.Linked {
				ids[linked] = true
			}
		}
	}
	return ids
}

// InConflict reports whether a person has changed the same lines in an unsaved text: the hunk is only on disk.
func (h *Hunk) InConflict() bool { return h.State == "conflict" }

// BothChanged reports whether a person has changed the lines of the hunk, too: in an unsaved text, or in the work tree, if the agent works in a
// copy.
func (h *Hunk) BothChanged() bool { return h.InConflict() || len(h.Beside) > 0 }

// Elsewhere reports whether the hunk's new lines are not in the text that the client has: they are only in a copy, or only on disk.
func (h *Hunk) Elsewhere() bool { return h.Isolated || h.InConflict() }

// MaybeYours reports whether no call of the agent explains some part of the hunk.
func (h *Hunk) MaybeYours() bool {
	return slices.ContainsFunc(h.Sources, func(s Source) bool { return s.Via == ViaUnknown })
}

// MadeBy says for people how the agent made the hunk, by the calls that explain it: "edit", or "edit and command".
func (h *Hunk) MadeBy() string {
	var words []string
	for _, s := range h.Sources {
		word := string(s.Via)
		if s.Via == ViaShell {
			word = "command"
		}
		if s.Via != ViaUnknown && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	return strings.Join(words, " and ")
}

// A Source says who made a hunk.
type Source struct {
	SessionID string `json:"sessionId"`
	TurnID    string `json:"turnId"`
	ItemID    string `json:"itemId,omitempty"`
	Via       Via    `json:"via"`
}

// A Via is the way in which the agent made a hunk. A hunk with an unknown source may be a person's: no call of the
// agent explains it.
type Via string

const (
	ViaEdit    Via = "edit"
	ViaShell   Via = "shell"
	ViaTool    Via = "tool" // an MCP server, a sub-agent or a tool of another kind
	ViaHook    Via = "hook" // a formatter that the agent's hooks ran on lines which the turn wrote
	ViaUnknown Via = "unknown"
)
