package review

import (
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// count counts each line of a text.
func count(text string) map[string]int {
	n := map[string]int{}
	for l := range strings.Lines(text) {
		n[l]++
	}
	return n
}

// A state is what there is of a story at a moment.
type state struct {
	disk, text string
	seen       map[api.ClientID]*sessions.Diff
}

func (s *story) state() state { return state{seen: s.looks(), disk: s.disk(), text: s.text} }

// removed returns the lines of a kind of which a client sees that they are to go, or that something else is beside them.
func (st state) removed(client api.ClientID) map[string]bool {
	lines := map[string]bool{}
	if d := st.seen[client]; d != nil {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if l[0] == '-' {
					lines[l[1:]+"\n"] = true
				}
			}
		}
	}
	return lines
}

// beside returns the lines of the disk that conflicts show beside a client's.
func (st state) beside(client api.ClientID) map[string]bool {
	lines := map[string]bool{}
	if d := st.seen[client]; d != nil {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if h.State == "conflict" && l[0] == '+' {
					lines[l[1:]+"\n"] = true
				}
			}
		}
	}
	return lines
}

// once requires that no line is there twice, that each hunk is where it says, and that no line of the agent is settled on disk that nobody
// has accepted.
func (s *story) once(st state, what string) {
	story := what + "\n" + strings.Join(s.told, "\n")
	for name, text := range map[string]string{"disk": st.disk, "text": st.text} {
		for l, n := range count(text) {
			require.Equal(s.t, 1, n, "%s: %q is doubled: %s\n%s", name, l, short(text), story)
		}
	}
	if s.coming != nil {
		return
	}
	pending := added(st.seen[s.command])
	for l := range count(st.disk) {
		if strings.HasPrefix(l, "agent") {
			require.True(s.t, pending[l] || s.approved[l], "%q is settled, and nobody has accepted it\n%s", l, story)
		}
	}
	mine := st.text
	if len(s.docs.Unsaved(s.path())) == 0 {
		mine = st.disk // it has not read the file, or sees what the file has
	}
	for client, text := range map[api.ClientID]string{s.editor: mine, s.command: st.disk} {
		d := st.seen[client]
		if d == nil {
			continue
		}
		added, removed := 0, 0
		lines := strings.SplitAfter(text, "\n")
		for _, h := range d.Hunks {
			at := h.NewStart - 1
			if h.NewLines == 0 {
				at++
			}
			for _, l := range h.Lines {
				switch {
				case l[0] == '-':
					removed++
					require.True(s.t, h.State == "conflict" || count(text)[l[1:]+"\n"] == 0, "%s: %q is to come back, and there\n%s", s.who(client), l, story)
					continue
				case l[0] == '+':
					added++
				}
				if h.State == "" {
					require.Less(s.t, at, len(lines), story)
					require.Equal(s.t, l[1:]+"\n", lines[at], "%s: hunk %s is elsewhere\n%s", s.who(client), h.ID, story)
					at++
				}
			}
		}
		require.Equal(s.t, []int{added, removed}, []int{d.Added, d.Removed}, story)
		require.Equal(s.t, len(d.Hunks) > 0, d.State == "pending", story)
	}
}

// kept requires that a step of the daemon or of the agent has lost no line of the person from the file and what is known of it, nor from
// the editor's text, but for the lines of which an accept says so.
func (s *story) kept(before, after state, accepted map[string]bool) {
	for client, texts := range map[api.ClientID][2]string{s.editor: {before.text, after.text}, s.command: {before.disk, after.disk}} {
		there, gone, beside := count(texts[1]), after.removed(client), after.beside(client)
		for l := range count(texts[0]) {
			if !strings.HasPrefix(l, "mine") && !strings.HasPrefix(l, "other") {
				continue
			}
			require.True(s.t, there[l] > 0 || gone[l] || beside[l] || accepted[l], "%s: the person's %q is lost\n%s", s.who(client), l, strings.Join(s.told, "\n"))
		}
	}
}

// approve notes that a client accepts what it sees.
func (s *story) approve(editor bool) {
	if editor {
		s.approve(false) // of a conflict, all of the hunk on disk
	}
	for l := range added(s.looks()[s.client(editor)]) {
		s.approved[l] = true
	}
}

// added returns the lines that a diff shows as new.
func added(d *sessions.Diff) map[string]bool {
	lines := map[string]bool{}
	if d != nil {
		for _, h := range d.Hunks {
			for _, l := range h.Lines {
				if l[0] == '+' {
					lines[l[1:]+"\n"] = true
				}
			}
		}
	}
	return lines
}

// typedBack notes that lines of the editor's text count as the person's, if they are from before a decision or a change of the file.
func (s *story) typedBack() {
	for l := range strings.Lines(s.text) {
		s.approved[l] = s.approved[l] || !strings.Contains(s.disk(), l)
	}
}
