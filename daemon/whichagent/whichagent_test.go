package whichagent

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/config"
)

func testAgent(t *testing.T, dir string, settings *config.Config) *Agent {
	a := New(Setup{StateDir: dir, Log: slog.New(slog.DiscardHandler), Settings: func() *config.Config { return settings }})
	t.Cleanup(a.Close)
	return a
}

// TestPlaces lists the places where the daemon looks for the agent: its own first, then those of the latest client that came
// while there was none.
func TestPlaces(t *testing.T) {
	t.Setenv("PATH", "/own")
	for _, test := range []struct {
		name          string
		agent, inFile string
		asker         *api.Asker
		want          []string // PROGRAM by WHO in PATH of WHOSE
	}{
		{"nobody asked", "cursor-agent", "cursor-agent", nil, []string{"cursor-agent by the file in /own of the daemon's"}},
		{"the same place", "", "", &api.Asker{Path: "/own"}, []string{" by the file in /own of the daemon's"}},
		{"another PATH", "", "", &api.Asker{Path: "/bin"}, []string{" by the file in /own of the daemon's", " by the file in /bin of a client's"}},
		{"another program", "", "", &api.Asker{Agent: "/a"}, []string{" by the file in /own of the daemon's",
			"/a by CURSORD_AGENT in a client's environment in /own of the daemon's"}},
		{"the daemon's CURSORD_AGENT is not the client's", "/gone", "/x", &api.Asker{Path: "/own"}, []string{
			"/gone by the file in /own of the daemon's", "/x by the setting agent in /own of the daemon's"}},
	} {
		a := testAgent(t, t.TempDir(), &config.Config{Agent: test.agent, AgentBy: "the file", FileAgent: test.inFile})
		if test.asker != nil {
			a.asker.Store(test.asker)
		}
		var got []string
		for _, p := range a.places() {
			got = append(got, p.Program+" by "+p.By+" in "+p.Path+" of "+p.Whose)
		}
		require.Equal(t, test.want, got, test.name)
	}
}

func TestSane(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the paths of this table are those of Unix")
	}
	for have, want := range map[api.Asker]api.Asker{
		{}:                               {},
		{Path: "/a:b::/c", Agent: "x"}:   {Path: "/a:/c", Agent: "x"},
		{Path: "/a\x00", Agent: "x\x00"}: {},
		{Path: "/" + strings.Repeat("a", maxAskerPath)}: {},
		{Agent: "a/b"}: {},
	} {
		require.Equal(t, want, sane(have), "%.40q", have)
	}
}

// TestNoneOf names each reason once.
func TestNoneOf(t *testing.T) {
	none := func(why ...string) string {
		var list []*program.NotFound
		for _, w := range why {
			list = append(list, &program.NotFound{Why: w})
		}
		return noneOf(list).Why
	}
	require.Equal(t, "it is not in the daemon's PATH", none("it is not in the daemon's PATH"))
	require.Equal(t, "it is not in the daemon's PATH or a client's", none("it is not in the daemon's PATH", "it is not in a client's PATH"))
	require.Equal(t, "/x is gone", none("/x is gone", "/x is gone"))
	require.Equal(t, "/x is gone; it is not in a client's PATH", none("/x is gone", "it is not in a client's PATH"))
}

// TestBuildsAreRemembered: the next daemon knows what this one learned of builds; a damaged file counts as empty.
func TestBuildsAreRemembered(t *testing.T) {
	dir := t.TempDir()
	a := testAgent(t, dir, &config.Config{})
	require.True(t, a.Offers("2026.10.01-abc", "--sandbox"))
	a.Builds().Learn("2026.10.01-abc", "--sandbox")
	change := &api.BuildChange{From: "1", To: "2"}
	a.Changed(change)
	a.Keep()
	a = testAgent(t, dir, &config.Config{})
	require.False(t, a.Offers("2026.10.01-abc", "--sandbox"))
	require.Equal(t, "2", a.builds.changed().To)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "builds.json"), []byte("{"), 0o600))
	a = testAgent(t, dir, &config.Config{})
	require.True(t, a.Offers("2026.10.01-abc", "--sandbox"))
	require.Nil(t, a.builds.changed())
}

// TestTurnsTellOfTheLogin: the latest turn decides whether the login is shown as working.
func TestTurnsTellOfTheLogin(t *testing.T) {
	a := testAgent(t, t.TempDir(), &config.Config{})
	a.state = api.AgentStatus{State: "unknown", Message: "token present", Account: "me@x", Path: "/a", Version: "1"}
	a.Answered("/a", "2")
	require.Equal(t, api.AgentStatus{State: "ready", Account: "me@x", Path: "/a", Version: "2"}, a.State())
	a.NotLoggedIn("it has run out")
	require.Equal(t, "notLoggedIn", a.State().State)
	a.Answered("/b", "3")
	require.Equal(t, api.AgentStatus{State: "ready", Path: "/b", Version: "3"}, a.State(), "whose account that is, is not known")
}
