package origins

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cursord/diffs"
	"cursord/sessions"
)

func text(lines ...string) diffs.Content {
	return diffs.Content{Exists: true, Data: []byte(strings.Join(append(lines, ""), "\n")), Mode: 0o644}
}

func edit(turn string) *diffs.Source {
	return &diffs.Source{SessionID: "s", TurnID: turn, ItemID: turn + ":0", Via: diffs.ViaEdit}
}

// exported has a review of another text of the file learn what a session has written, by way of an export.
func exported(from *diffs.Review, now diffs.Content) *diffs.Review {
	to := diffs.New(now)
	if file := (&Exporter{Session: "s"}).File("f", from); file != nil {
		Recall(to, Imported(file, "s", map[string]string{"1": "1", "2": "2", "3": "3"}), file.Sums, nil)
	}
	return to
}

// turns returns the turn of each line; - for none.
func turns(r *diffs.Review) (by []string) {
	for _, o := range r.Origins() {
		turn := "-"
		if o.Source != nil {
			turn = o.Source.TurnID
		}
		for range o.To - o.From {
			by = append(by, turn)
		}
	}
	return by
}

// TestRecallKnowsShortLines: of a file that an import finds as it was exported, short lines and those of several turns between each other
// were a person's.
func TestRecallKnowsShortLines(t *testing.T) {
	r := diffs.New(text("package main", "", "func main() {", "}"))
	r.Observe(text("package main", "", `import "fmt"`, "", "func main() {", "\tx()", "}"), edit("1"))
	r.Observe(text("package main", "", `import "fmt"`, "", "func main() {", "\ty()", "\tx()", "\tz()", "}", "four"), edit("2"))
	r.Observe(text("package main", "", `import "fmt"`, "", "// hi", "func main() {", "\ty()", "\tx()", "\tz()", "}", "four"), nil)
	want := strings.Fields("- - 1 1 - - 2 1 2 - 2")
	require.Equal(t, want, turns(r))
	now := string(r.Current().Data)
	for name, one := range map[string]struct{ text, want string }{
		"the same":         {now, "- - 1 1 - - 2 1 2 - 2"},
		"with CRLF":        {strings.ReplaceAll(now, "\n", "\r\n"), "- - 1 1 - - 2 1 2 - 2"},
		"changed since":    {strings.Replace(now, "\tx()", "mine\n\tx(2)", 1) + "last\n", "- - 1 1 - - 2 - - 2 - 2 -"},
		"without its end":  {strings.TrimSuffix(now, "\n"), "- - 1 1 - - 2 1 2 - 2"},
		"a part of it":     {"package main\n\nimport \"fmt\"\n\n", "- - - -"},
		"in another text":  {strings.Repeat("other\n", 20) + now, strings.Repeat("- ", 31)},
		"another main":     {"package main\n\nimport \"fmt\"\n\nfunc other(n int) {\n\tfor range n {\n\t\tfmt.Println(n)\n\t}\n}\n\nfunc main() {\n\tother(1)\n}\n", strings.Repeat("- ", 13)},
		"its lines turned": {"four\n\tz()\n\ty()\n\tx()\n\nimport \"fmt\"\n", strings.Repeat("- ", 6)},
		"not text":         {now + "\x00", ""},
		"nothing":          {"", ""},
	} {
		there := exported(r, diffs.Content{Exists: true, Data: []byte(one.text), Mode: 0o644})
		require.Equal(t, strings.Fields(one.want), append([]string{}, turns(there)...), name)
		for _, l := range (&Teller{turns: map[string]*sessions.Turn{"1": nil, "2": nil, "3": nil}}).lines(there.Origins()) {
			require.True(t, l.Source == nil || l.Source.ByText, "%s: it is a guess", name)
		}
	}
}

// TestExportOfAFork has what the turns have written that came with a fork, as the fork's, and nothing of later turns of the session that it was made of.
func TestExportOfAFork(t *testing.T) {
	r := diffs.New(text())
	r.Observe(text("one"), edit("1"))
	r.Observe(text("one", "two"), edit("2"))
	r.Observe(text("one", "two", "three"), &diffs.Source{SessionID: "fork", TurnID: "f3", ItemID: "f3:7", Via: diffs.ViaEdit})
	fork := &Exporter{Session: "fork", From: []string{"s"}, Turns: map[string]string{"1": "f1"}}
	require.True(t, fork.Knows([]string{"x", "s"}))
	require.False(t, fork.Knows([]string{"x"}))
	lines := fork.File("f", r).Lines
	require.Len(t, lines, 2)
	require.Equal(t, []string{"f1", "f1:0", "one"}, []string{lines[0].TurnID, lines[0].ItemID, lines[0].Text[0]})
	require.Equal(t, []string{"f3", "f3:7", "three"}, []string{lines[1].TurnID, lines[1].ItemID, lines[1].Text[0]})
	require.Nil(t, (&Exporter{Session: "fork2", From: []string{"s"}}).File("f", r))
}

// TestRecallIsTheOriginal imports what random edits of turns and people have made, beside what a person changes in it then.
func TestRecallIsTheOriginal(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		line := rapid.SampledFrom([]string{"", "}", "a", "b", "return nil", "\tif err != nil {", `import "fmt"`, "telling line one", "telling line two"})
		lines := rapid.SliceOfN(line, 0, 8).Draw(t, "lines")
		change := func(what string) diffs.Content {
			from := rapid.IntRange(0, len(lines)).Draw(t, what+" from")
			to := min(len(lines), from+rapid.IntRange(0, 3).Draw(t, what+" removes"))
			added := rapid.SliceOfN(line, 0, 4).Draw(t, what)
			lines = append(append(append([]string{}, lines[:from]...), added...), lines[to:]...)
			return text(lines...)
		}
		r := diffs.New(text(lines...))
		for i := range rapid.IntRange(1, 8).Draw(t, "edits") {
			who := rapid.SampledFrom([]*diffs.Source{nil, edit("1"), edit("2"), edit("3"), {SessionID: "other", TurnID: "other", Via: diffs.ViaShell}}).Draw(t, "who")
			r.Observe(change(fmt.Sprint("edit ", i)), who)
			if h := r.Hunks(); len(h) > 0 && rapid.Bool().Draw(t, "accepts") {
				_, _ = r.Decide([]uint64{h[0].ID}, true, nil)
			}
		}
		there := exported(r, r.Current())
		want := turns(r)
		for i := range want {
			if want[i] == "other" {
				want[i] = "-"
			}
		}
		require.Equal(t, want, turns(there))
		there = exported(there, there.Current())
		require.Equal(t, want, turns(there), "an import that is exported again")
		before := there.Current()
		_, left, err := there.Rewind(diffs.Undone{Session: "s", Turns: []string{"1", "2", "3"}})
		require.ErrorIs(t, err, diffs.ErrNotFound, "nobody knows what the lines replaced")
		require.False(t, left.Changed)
		require.Equal(t, before, there.Current())

		written := map[string]map[string]bool{}
		for i, l := range lines {
			if written[l] == nil {
				written[l] = map[string]bool{}
			}
			written[l][want[i]] = true
		}
		there = exported(r, change("changed since"))
		for i, turn := range turns(there) {
			require.True(t, turn == "-" || written[lines[i]][turn], "line %d is of turn %s", i, turn)
		}
	})
}
