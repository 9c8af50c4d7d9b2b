//go:build unix

package acpdriver

import (
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// TestMadeAlthoughRefused: what the agent does though a person has refused it is under review, and a notice says so. What it does before the
// answer may as well be a person's.
func TestMadeAlthoughRefused(t *testing.T) {
	for name, test := range map[string]struct {
		plays  string
		via    string
		status sessions.ItemStatus
		notice string
	}{
		"edit, openly": {`{"fake":"edit","path":"f","text":"AGENT\n","ask":true,"defies":"openly"}`, "edit", sessions.ItemCompleted,
			"The agent did this although it was refused: Edit f"},
		"edit, silently": {`{"fake":"edit","path":"f","text":"AGENT\n","ask":true,"defies":"silently"}`, "edit", sessions.ItemRejected,
			"The agent did this although it was refused: Edit f. It has changed f."},
		"edit, early": {`{"fake":"edit","path":"f","text":"AGENT\n","ask":true,"defies":"early"}`, "unknown", sessions.ItemRejected,
			"The agent may have done this although it was refused: Edit f."},
		"command, openly": {`{"fake":"shell","command":"echo AGENT >f","ask":true,"defies":"openly"}`, "shell", sessions.ItemCompleted,
			"The agent ran this although it was refused: echo AGENT >f"},
		"command, silently": {`{"fake":"shell","command":"echo AGENT >f; sleep 0.3","ask":true,"defies":"silently"}`, "shell", sessions.ItemRejected,
			"The agent did this although it was refused: echo AGENT >f; sleep 0.3. It has changed f."},
		"command, early": {`{"fake":"shell","command":"echo AGENT >f","ask":true,"defies":"early"}`, "unknown", sessions.ItemRejected,
			"The agent may have done this although it was refused: echo AGENT >f."},
		"edit, not at all":    {`{"fake":"edit","path":"f","text":"AGENT\n","ask":true}`, "not listed", sessions.ItemRejected, ""},
		"command, not at all": {`{"fake":"shell","command":"echo AGENT >f","ask":true}`, "not listed", sessions.ItemRejected, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("f", "one\n")
			w.Plays(`{"fake":"sleep","ms":50}`, test.plays, `{"fake":"say","text":"Done."}`)
			turn := e.Asks(byACP)
			id := pending(e)
			w.Rests() // else what was done before and the answer could be in one tick of the file system's clock
			e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "reject-once"}, nil)
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			vias := world.Vias(e.Diffs()["f"])
			if test.via == "shell" && slices.Equal(vias, []string{"unknown"}) { // the scan came late, and it says so
				test.via = "unknown"
			}
			require.Equal(t, []string{test.via}, vias)
			require.Equal(t, test.status, e.Items(turn.ID)[0].Status)
			if test.notice == "" {
				require.Empty(t, e.Notices(turn.ID))
				return
			}
			require.Contains(t, e.Notices(turn.ID), test.notice)
			if test.via != "unknown" {
				e.Decides("diff/reject", world.Obj{"all": true})
				require.Equal(t, "one\n", w.Get("f"))
			}
		})
	}
}

// TestSavedWhileRefused: what a person saves in an editor stays theirs while a command is refused, and nobody is blamed.
func TestSavedWhileRefused(t *testing.T) {
	for _, plays := range []string{
		`{"fake":"shell","command":"echo AGENT >f","ask":true}`, `{"fake":"shell","command":"echo AGENT >g","ask":true}`,
	} {
		t.Run(plays[24:42], func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("f", "one\n")
			w.Plays(`{"fake":"sleep","ms":50}`, plays, world.Waits("go"), `{"fake":"say","text":"Done."}`)
			doc := e.OpenDocument("f")
			saves := func(text string) {
				doc.Set(text)
				e.Must("daemon/status", nil, nil) // the daemon has the text before it is on disk, as with a person who types
				w.Put("../saved", text)
				require.NoError(t, os.Rename(w.Path("../saved"), w.Path("f"))) // a look at the end of the call may not see half of it
				doc.Note("document/didSave", world.Obj{})
			}
			turn := e.Asks(byACP)
			id := pending(e)
			saves("two\n")
			w.Rests() // else the save and the answer could be in one tick of the file system's clock
			e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "reject-once"}, nil)
			e.Until("the refusal", func(n world.Notification) bool {
				return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemRejected
			})
			e.Diffs() // the daemon has looked at what the call has left
			w.Rests()
			saves("three\n")
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			require.NotContains(t, e.Diffs(), "f")
			require.Empty(t, e.Notices(turn.ID))
		})
	}
}

// TestSavedWhileEditIsRefused: what an editor reports as saved stays the person's while an edit of the same file is refused, in whatever order the
// text is reported (T), on disk (D) and reported as saved (S; N with a text that was not reported), the question answered (A), and the call's end
// taken in (E).
func TestSavedWhileEditIsRefused(t *testing.T) {
	for _, order := range []string{
		"TDASE", "TDSAE", "TADES", "TADSE", "ATDSE", "DTSAE", "DTASE", "DTAES", "DATSE", "DAETS", "ADETS", "DNAE", "DANE", "DAEN", "ADEN", "ADNE",
	} {
		t.Run(order, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("f", "one\n")
			w.Plays(`{"fake":"sleep","ms":50}`, `{"fake":"edit","path":"f","text":"AGENT\n","ask":true}`, world.Waits("go"), `{"fake":"say","text":"Done."}`)
			doc := e.OpenDocument("f")
			turn := e.Asks(byACP)
			id := pending(e)
			for _, step := range order {
				switch step {
				case 'T':
					doc.Set("two\n")
					e.Must("daemon/status", nil, nil) // the daemon has the text before it is on disk, as with a person who types
				case 'D':
					w.Put("../saved", "two\n")
					require.NoError(t, os.Rename(w.Path("../saved"), w.Path("f"))) // a look at the end of the call may not see half of it
				case 'N':
					doc.Version++
					fallthrough
				case 'S':
					doc.Note("document/didSave", world.Obj{})
				case 'A':
					e.Must("approval/answer", world.Obj{"approvalId": id, "optionId": "reject-once"}, nil)
				case 'E':
					e.Until("the refusal", func(n world.Notification) bool {
						return n.Item != nil && n.Item.Tool != nil && n.Item.Status == sessions.ItemRejected
					})
					e.Diffs() // the daemon has looked at what the call has left
				}
			}
			e.Diffs()
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			require.NotContains(t, e.Diffs(), "f")
			require.Empty(t, e.Notices(turn.ID))
			require.Empty(t, e.Items(turn.ID)[0].Changes)
		})
	}
}

// TestMadeAfterARefusal: what changes after the end of a refused command, as the agent reports it, counts as a person's, and a notice tells it, if no
// editor has reported it.
func TestMadeAfterARefusal(t *testing.T) {
	for name, reported := range map[string]bool{"by nobody knows whom": false, "by a person": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("f", "one\n")
			w.Plays(`{"fake":"shell","command":"echo AGENT >f","ask":true}`, `{"fake":"say","text":"So. "}`, world.Waits("go"), `{"fake":"say","text":"Done."}`)
			doc := e.OpenDocument("f")
			turn := e.Asks(byACP)
			e.Must("approval/answer", world.Obj{"approvalId": pending(e), "optionId": "reject-once"}, nil)
			e.Says("So. ") // the daemon has looked at what the call has left
			if reported {
				doc.Set("AGENT\n")
				e.Must("daemon/status", nil, nil)
				doc.Save()
			} else {
				w.Ticks() // at the moment of the end the command may have done it
				w.Put("f", "AGENT\n")
			}
			w.Put("../go", "")
			require.Equal(t, sessions.TurnCompleted, e.Ends(turn.ID).Status)
			require.NotContains(t, e.Diffs(), "f")
			if reported {
				require.Empty(t, e.Notices(turn.ID))
				return
			}
			require.Contains(t, e.Notices(turn.ID), "f has changed after the agent was refused this: echo AGENT >f. No call explains that, so it counts as yours")
		})
	}
}

// TestMadeAlthoughCancelled: a cancel of the turn takes the question back, which is a no.
func TestMadeAlthoughCancelled(t *testing.T) {
	for name, plays := range map[string]string{
		"edit":    `{"fake":"edit","path":"f","text":"AGENT\n","ask":true,"defies":"silently"}`,
		"command": `{"fake":"shell","command":"echo AGENT >f","ask":true,"defies":"silently"}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, e := starts(t)
			w.Put("f", "one\n")
			w.Plays(`{"fake":"sleep","ms":50}`, plays, `{"fake":"say","text":"Done."}`)
			turn := e.Asks(byACP)
			pending(e)
			e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
			require.Equal(t, sessions.TurnCancelled, e.Ends(turn.ID).Status)
			require.NotEqual(t, []string{"not listed"}, world.Vias(e.Diffs()["f"]))
			require.Regexp(t, "The agent (did|may have done) this although it was refused: ", e.Notices(turn.ID))
		})
	}
}
