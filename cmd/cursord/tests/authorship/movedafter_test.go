//go:build linux

package authorship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestAMoveOfWhatTheAgentHasWritten: the agent changes a file, and a later command of the same turn moves it. The text was written after
// the turn's beginning and before the command, but by the agent: no part of it may be a person's. Once it was.
func TestAMoveOfWhatTheAgentHasWritten(t *testing.T) {
	t.Parallel()
	before := world.Numbered(12, nil)
	after := world.Numbered(12, map[int]string{4: "agent\n"})
	pause := []string{`{"fake":"sleep","ms":1200}`}
	edit, makes := world.Edits("1", "f", before, after), world.Edits("1", "g", "(absent)", "new\n")
	command := world.Shells("1", "sed -i s/line.4/agent/ f")
	for name, lines := range map[string][]string{
		"an edit":                      world.Lines(edit, pause, world.Shells("2", "mv f m")),
		"an edit, and one after":       world.Lines(edit, pause, world.Shells("2", "mv f m; echo more >>m")),
		"an edit, into a folder":       world.Lines(edit, pause, world.Shells("2", "mkdir d; mv f d/m")),
		"an edit, by git":              world.Lines(edit, pause, world.Shells("2", "git mv f m")),
		"an edit, moved by the second": world.Lines(edit, pause, world.Shells("2", "true"), pause, world.Shells("3", "mv f m")),
		"a command":                    world.Lines(command, pause, world.Shells("2", "mv f m")),
		"a new file":                   world.Lines(makes, pause, world.Shells("2", "mv g m")),
		"a mode":                       world.Lines(edit, pause, world.Shells("2", "chmod +x f")),
		"a copy":                       world.Lines(edit, pause, world.Shells("2", "cp -p f m")),
		"twice":                        world.Lines(edit, pause, world.Shells("2", "mv f m"), pause, world.Shells("3", "mv m n")),
		"there and back":               world.Lines(edit, pause, world.Shells("2", "mv f m"), pause, world.Shells("3", "mv m f")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("f", before)
			w.Commits()
			was := w.Listing()
			w.Start()
			e := w.Opens()
			w.Plays(lines...)
			e.Turn(nil)
			all := e.Diffs()
			require.NotEmpty(t, all)
			for path, d := range all {
				for _, h := range d.Hunks {
					for _, s := range h.Sources {
						require.NotEqual(t, "unknown", string(s.Via), "%s %s %v", path, d.Kind, h.Lines)
					}
				}
			}
			require.Empty(t, e.Decides("diff/reject", world.Obj{"all": true}).Skipped)
			require.Equal(t, was, w.Listing())
		})
	}
}
