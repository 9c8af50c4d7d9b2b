//go:build unix

package isolation

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
)

// TestCommitsOfAnAgent: what the agent commits in its copy stays there, and a person can make the same commits in the repository.
func TestCommitsOfAnAgent(t *testing.T) {
	bothKinds(t, testCommitsOfAnAgent)
}

func testCommitsOfAnAgent(t *testing.T) {
	w := newWorld(t)
	w.Put("f", world.Numbered(9, nil))
	w.Put("mine", "mine\n")
	w.Commits()
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	none := func() {
		t.Helper()
		out, said, code := w.Cursord("diff", "--commits")
		require.Zero(t, code, said)
		require.Empty(t, out)
		require.Contains(t, said, "no agent has committed anything in a copy of "+w.Root)
	}
	none() // there is no copy yet
	shell := func(commands string) {
		t.Helper()
		w.Plays(world.Lines(world.Shells("c", commands))...)
		e.Ok(s)
	}
	commit := func(day string) string {
		return "git -c user.name=Ann -c user.email=ann@x commit -q --date=2026-01-0" + day + "T10:00:00Z "
	}
	shell("sed -i s/5/five/ f && " + commit("1") + "-am 'f: spell 5' -m 'In words.' && printf 'a\\000b' >bin && git add bin && " + commit("2") + "-m 'Ünder: bin'")
	list := func() (subjects []string) {
		t.Helper()
		var said api.Commits
		require.NoError(t, json.Unmarshal([]byte(w.CursordOK("diff", "--commits", "--json")), &said))
		for _, c := range said.Commits {
			subjects = append(subjects, c.Subject)
			require.Equal(t, "Ann <ann@x>", c.Author)
			require.NotNil(t, c.At)
		}
		return subjects
	}
	require.Equal(t, []string{"f: spell 5", "Ünder: bin"}, list())
	lines := strings.Split(strings.TrimSpace(w.CursordOK("diff", "--commits", "--stat")), "\n")
	require.Len(t, lines, 2)
	first, _, _ := strings.Cut(lines[0], " ")
	mail := w.CursordOK("diff", "--commits", first)
	require.Contains(t, mail, "Subject: [PATCH] f: spell 5\n")
	require.Contains(t, mail, "\nIn words.\n")
	require.Contains(t, mail, "\n-line 5\n+line five\n")
	require.NotContains(t, mail, "bin")
	_, said, code := w.Cursord("diff", "--commits", "feed")
	require.NotZero(t, code)
	require.Contains(t, said, `no commit of the agent begins with "feed"`)
	require.Equal(t, "1\n", w.Git("rev-list", "--count", "--all"), "they are not the user's")

	// The user's branch goes on, and the next turn begins with it.
	w.Makes("echo more >>mine && git -c user.name=me -c user.email=me@x commit -qam mine")
	shell("echo 10 >>f; " + commit("3") + "-am 'f: 10'")
	require.Equal(t, []string{"f: spell 5", "Ünder: bin", "f: 10"}, list())
	other := e.Isolates()
	w.Plays(world.Lines(world.Shells("c", "echo other >>other; git add other; "+commit("4")+"-m other"))...)
	e.Ok(other)
	_, said, code = w.Cursord("diff", "--commits")
	require.NotZero(t, code)
	require.Contains(t, said, s.ID)
	require.Contains(t, said, other.ID)
	require.Contains(t, w.CursordOK("diff", "--commits", "--session", other.ID), "Subject: [PATCH] other\n")

	// A person takes them.
	mails := w.CursordOK("diff", "--commits", "--session", s.ID)
	require.NoError(t, os.WriteFile(w.Path("../mails"), []byte(mails), 0o600))
	w.Makes("git -c user.name=me -c user.email=me@x am -q -3 ../mails")
	require.Equal(t, "f: 10\nÜnder: bin\nf: spell 5\nmine\n", w.Git("log", "-4", "--format=%s"))
	require.Equal(t, "a\x00b", w.Get("bin"))
	require.True(t, world.Comes(world.Patience, func() bool { return e.Diffs()["f"] == nil && e.Diffs()["bin"] == nil }), "nothing of it is left to review")
	require.Equal(t, []string{"other"}, list())
}

// TestCommitsOfAHostileAgent: what the agent has made of its repository harms nobody, and runs nothing.
func TestCommitsOfAHostileAgent(t *testing.T) {
	bothKinds(t, testCommitsOfAHostileAgent)
}

func testCommitsOfAHostileAgent(t *testing.T) {
	w := newWorld(t)
	w.Put("f", "f\n")
	w.Commits()
	w.Put("../elsewhere/.git/HEAD", strings.Repeat("a", 40)+"\n")
	w.Start()
	e := w.Opens()
	s := e.Isolates()
	for _, tt := range []struct{ commands, want, fails string }{
		{"echo '* diff=x' >.gitattributes; git add -A; git -c user.name=A -c user.email=a@x commit -qm one; git config core.fsmonitor 'touch " + w.Path("../ran") + "'; git config diff.external 'touch " + w.Path("../ran") + "'; " +
			"git config diff.x.textconv 'touch " + w.Path("../ran") + "'; git config pager.log 'touch " + w.Path("../ran") + "'", "A <a@x>  one", ""},
		{"echo " + strings.Repeat("c", 40) + " >.git/refs/heads/nowhere; echo '--output=f' >.git/refs/heads/odd", "A <a@x>  one", ""},
		{"rm -f .git/objects/info/alternates; mkfifo .git/objects/info/alternates", "", "alternates in its copy is not a file"},
		{"rm -rf .git; ln -s " + w.Path("../elsewhere/.git") + " .git", "", "no agent has committed anything"},
		{"rm .git; mkfifo .git", "", "no agent has committed anything"},
	} {
		w.Plays(world.Lines(world.Shells("c", tt.commands))...)
		e.Ok(s)
		out, said, _ := w.Cursord("diff", "--commits", "--stat")
		require.Contains(t, out, tt.want, tt.commands)
		require.Contains(t, said, tt.fails, tt.commands)
		w.Cursord("diff", "--commits")
		require.NoFileExists(t, w.Path("../ran"))
		require.Equal(t, "f\n", w.Get("f"))
	}
}
