//go:build unix

package authorship

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/rpc"
)

// TestLinesThatCommitsBring has an agent merge, pick, pull or check out what somebody else has committed. The lines come under review as the
// turn's. No prompt wrote them, so why names none; what the agent itself has written beside them is the agent's.
func TestLinesThatCommitsBring(t *testing.T) {
	t.Parallel()
	const as = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org; "
	mine := world.Shells("m", as+"echo agents >> a; git commit -qam mine")
	for _, c := range []struct {
		name     string
		played   []string
		agents   []int // lines of a, from 0
		trailers int
	}{
		{"merge", world.Lines(mine, world.Shells("s", as+"git merge -q --no-edit other")), []int{6}, 0},
		{"forward", world.Shells("s", as+"git merge -q other"), nil, 0},
		{"checkout", world.Shells("s", as+"git checkout -q other; echo agents >> a"), []int{6}, 0},
		{"rebase", world.Lines(mine, world.Shells("s", as+"git rebase -q other")), []int{6}, 1},
		{"cherry-pick", world.Lines(mine, world.Shells("s", as+"git cherry-pick other")), []int{6}, 0},
		{
			"conflict", world.Lines(world.Shells("c", as+"sed -i s/one/agents/ a; git commit -qam mine"), world.Shells("s", as+"git merge -q other"),
				world.Shells("r", as+`sed -i -e '/^<<<</,/^====/d' -e 's/^>>>>.*/both/' a; git commit -qam both`)), []int{2}, 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("a", "one\n2\n3\n4\nlast\n")
			w.Commits()
			w.Git("checkout", "-q", "-b", "other")
			theirs := "one\ntheirs\n2\n3\n4\nlast\n"
			if c.name == "conflict" {
				theirs = "1\ntheirs\n2\n3\n4\nlast\n"
			}
			w.Put("a", theirs)
			w.Put("new", "theirs\n")
			w.Git("add", "-A")
			w.Git("commit", "-q", "-m", "theirs", "--date", "2020-01-01 00:00 +0000")
			w.Git("checkout", "-q", "-")
			w.Plays(c.played...)
			w.Start()
			e := w.Opens()
			e.Turn(nil)
			require.Contains(t, e.Diffs(), "new", "it is under review")
			for range 2 {
				var said rpc.WhyResult
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": "a"}, &said)
				var agents []int
				for _, l := range said.Lines {
					for i := l.From; i < l.To; i++ {
						if l.Source != nil {
							agents = append(agents, i)
						}
					}
				}
				require.Equal(t, c.agents, slices.Clip(agents), w.Get("a"))
				e.Must("file/why", world.Obj{"workspace": w.Root, "path": "new"}, &said)
				require.Len(t, said.Lines, 1)
				require.Nil(t, said.Lines[0].Source)
				var commit api.CommitWhy
				e.Must("commit/why", world.Obj{"workspace": w.Root, "rev": "HEAD"}, &commit)
				require.Len(t, commit.Trailers, c.trailers, "%+v", commit)
				e.Decides("diff/accept", world.Obj{"all": true})
			}
		})
	}
}

// TestLinesThatCommandsTakeOutOfGit has an agent's commands bring lines out of git: of somebody's branch, stash or earlier commit, and of its own
// earlier turn. why names the commit that wrote them, and the earlier turn by their text.
func TestLinesThatCommandsTakeOutOfGit(t *testing.T) {
	t.Parallel()
	const as = "export GIT_AUTHOR_NAME=n GIT_AUTHOR_EMAIL=n@example.org GIT_COMMITTER_NAME=n GIT_COMMITTER_EMAIL=n@example.org; "
	const base, bobs = "first line\nlast line\n", "first line\nbob has written this\nand gil wrote that\n}\nlast line\n"
	branch := func(w *world.World) {
		w.Git("checkout", "-q", "-b", "bob")
		w.Put("x", "first line\nbob has written this\nlast line\n")
		w.Git("commit", "-q", "-a", "-m", "bob")
		w.Put("x", bobs)
		w.Git("commit", "-q", "-a", "-m", "gil")
		w.Git("checkout", "-q", "-")
	}
	own := world.Lines(world.Shells("b", as+"git checkout -q -b own"), world.Edits("e", "x", base, "first line\nthe agent wrote this\nlast line\n"),
		world.Shells("c", as+"GIT_COMMITTER_DATE=2026-01-01T12:00:00 git commit -qam own --date 2026-01-01T12:00:00; git checkout -q -")) // picked in the same second it would be the same commit
	for _, c := range []struct {
		name    string
		prepare func(*world.World)
		earlier []string // another turn
		command string
		want    string // by line: who
	}{
		{"squash", branch, nil, "git merge -q --squash bob; echo the agent appends >> x", "- bob gil gil - 2"},
		{"path", branch, nil, "git checkout -q bob -- x", "- bob gil gil -"},
		{"show", branch, nil, "git show bob:x > x; echo } >> x", "- bob gil gil - 2"},
		{"forward", branch, nil, "git merge -q --ff-only bob", "- bob gil gil -"},
		{"stash", func(w *world.World) {
			w.Put("x", "first line\nstashed by a person\nlast line\n")
			w.Git("stash")
		}, nil, "git stash pop -q", "- stash -"},
		{"changes taken back", func(w *world.World) { w.Put("x", "first line\nanother line\n") }, nil, "git checkout -q -- x", "- first"},
		{"revert", func(w *world.World) {
			w.Put("x", "first line\n")
			w.Git("commit", "-q", "-a", "-m", "shorter")
		}, nil, "git revert --no-edit HEAD", "- first"},
		{"its own branch, squashed", nil, own, "git merge -q --squash own", "- 1? -"},
		{"its own branch, merged", nil, own, "git merge -q own", "- 1? -"},
		{"its own branch, picked", nil, own, "git cherry-pick own", "- 1? -"},
		{"its own lines", nil, nil, "printf 'first line\\nnobody wrote this before\\nlast line\\n' > x", "- 2 -"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := world.New(t)
			w.Put("x", base)
			w.Commits()
			if c.prepare != nil {
				c.prepare(w)
			}
			w.Plays(c.earlier...)
			w.Start()
			e := w.Opens()
			turns := map[string]string{}
			if c.earlier != nil {
				turns[e.Turn(nil).ID] = "1"
				e.Call("diff/accept", world.Obj{"workspace": w.Root, "all": true}, nil)
			}
			shells := world.Shells("s", as+c.command)
			for i, line := range shells { // only commands that speak of git bring lines out of it
				shells[i] = strings.ReplaceAll(line, `"command":"x"`, `"command":"git x"`)
			}
			w.Plays(shells...)
			turns[e.Turn(nil).ID] = "2"
			var said rpc.WhyResult
			e.Must("file/why", world.Obj{"workspace": w.Root, "path": "x"}, &said)
			var lines []string
			for _, l := range said.Lines {
				who := "-"
				switch {
				case l.Source != nil && l.Source.ByText:
					who = turns[l.Source.TurnID] + "?"
				case l.Source != nil:
					who = turns[l.Source.TurnID]
				case l.Commit != "":
					who = strings.Fields(w.Git("log", "-1", "--format=%s", l.Commit))[0]
					who = strings.Replace(who, "WIP", "stash", 1)
				}
				lines = append(lines, slices.Repeat([]string{who}, l.To-l.From)...)
			}
			require.Equal(t, c.want, strings.Join(lines, " "), w.Get("x"))
		})
	}
}
