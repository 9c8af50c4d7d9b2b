package hooks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParse(t *testing.T) {
	for _, c := range []struct{ name, text, hooks, err string }{
		{"empty file", "", "", ""},
		{"only blanks", " \n", "", ""},
		{"null", "null", "", ""},
		{"no hooks", `{"version": 1}`, "", ""},
		{"null hooks", `{"hooks": null}`, "", ""},
		{"empty hooks", `{"version": 1, "hooks": {}}`, "", ""},
		{"after an edit", `{"version": 1, "hooks": {"afterFileEdit": [{"command": "./fmt.sh"}]}}`, "afterFileEdit* ./fmt.sh", ""},
		{"after a tool", `{"hooks": {"postToolUse": [{"command": "./fmt.sh", "matcher": "Write"}]}}`, "postToolUse* ./fmt.sh", ""},
		{"before a tool", `{"hooks": {"preToolUse": [{"command": "gate"}]}}`, "preToolUse gate", ""},
		{"at the end", `{"hooks": {"stop": [{"command": "gate"}], "sessionEnd": [{"command": "tidy"}]}}`, "sessionEnd tidy; stop gate", ""},
		{"after a failure", `{"hooks": {"postToolUseFailure": [{"command": "x"}]}}`, "postToolUseFailure x", ""},
		{"several of one event", `{"hooks": {"afterFileEdit": [{"command": "b"}, {"command": "a"}]}}`, "afterFileEdit* b; afterFileEdit* a", ""},
		{"an event of the future", `{"hooks": {"beforeDawn": [{"command": "x"}]}}`, "beforeDawn x", ""},
		{"with a type", `{"hooks": {"afterFileEdit": [{"type": "command", "command": "x"}]}}`, "afterFileEdit* x", ""},
		{"a prompt is no program", `{"hooks": {"stop": [{"type": "prompt", "prompt": "done?", "command": "x"}]}}`, "", ""},
		{"empty command", `{"hooks": {"afterFileEdit": [{"command": " "}]}}`, "", ""},
		{"no command", `{"hooks": {"afterFileEdit": [{"timeout": 5}]}}`, "", ""},
		{"no list", `{"hooks": {"afterFileEdit": {"command": "x"}}}`, "", ""},
		{"no entries", `{"hooks": {"afterFileEdit": ["x", 1, null, [], {"command": 1}]}}`, "", ""},
		{"one good entry", `{"hooks": {"afterFileEdit": ["x", {"command": "y", "type": 7}, {"command": "z"}]}}`, "afterFileEdit* z", ""},
		{"no object of events", `{"hooks": [{"command": "x"}]}`, "", ""},
		{"byte order mark", "\ufeff" + `{"hooks": {"stop": [{"command": "x"}]}}`, "stop x", ""},

		{"Claude's", `{"hooks": {"PostToolUse": [{"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier"}]}]}}`,
			"PostToolUse* prettier", ""},
		{"Claude's, several", `{"hooks": {"PostToolUse": [{"hooks": [{"type": "command", "command": "a"}, {"type": "command", "command": "b"}]}],
			"Stop": [{"hooks": [{"type": "command", "command": "c"}]}], "SessionEnd": [{"hooks": [{"type": "command", "command": "d"}]}]}}`,
			"PostToolUse* a; PostToolUse* b; SessionEnd d; Stop c", ""},
		{"Claude's prompts", `{"hooks": {"Stop": [{"hooks": [{"type": "prompt", "prompt": "x"}]}]}}`, "", ""},
		{"Claude's settings without hooks", `{"permissions": {"allow": ["Bash(ls)"]}, "model": "opus"}`, "", ""},
		{"groups are not nested", `{"hooks": {"Stop": [{"hooks": [{"hooks": [{"command": "x"}]}]}]}}`, "", ""},

		{"cut off", `{"hooks": {"stop"`, "", "it is not JSON: unexpected end of JSON input"},
		{"text", `hooks`, "", "it is not JSON: invalid character 'h' looking for beginning of value"},
		{"a list", `[]`, "", "it is not a JSON object"},
		{"deep", `{"hooks": {"stop": ` + strings.Repeat("[", 20000), "", "it is not JSON: invalid character '[' exceeded max depth"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list, err := parse("f", []byte(c.text))
			if c.err != "" {
				require.EqualError(t, err, c.err)
			} else {
				require.NoError(t, err)
			}
			require.Equal(t, c.hooks, brief(list))
		})
	}
}

func brief(list []Hook) string {
	var all []string
	for _, h := range list {
		after := ""
		if h.AfterEdit {
			after = "*"
		}
		all = append(all, h.Event+after+" "+h.Command)
	}
	return strings.Join(all, "; ")
}

func TestLongCommandIsCut(t *testing.T) {
	list, err := parse("f", fmt.Appendf(nil, `{"hooks": {"stop": [{"command": "%s"}]}}`, strings.Repeat("ü", 200)))
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("ü", 100)+"…", list[0].Command)
}

// A disk is a folder of hook files with a Finder.
type disk struct {
	t      *testing.T
	dir    string
	finder *Finder
}

func newDisk(t *testing.T) *disk {
	dir := t.TempDir()
	return &disk{t, dir, newFinder(filepath.Join(dir, "etc/hooks.json"), filepath.Join(dir, "home"))}
}

func (d *disk) path(name string) string { return filepath.Join(d.dir, filepath.FromSlash(name)) }

// put writes a file with a time so old that it shows every later change.
func (d *disk) put(name, text string) {
	require.NoError(d.t, os.MkdirAll(filepath.Dir(d.path(name)), 0o755))
	require.NoError(d.t, os.WriteFile(d.path(name), []byte(text), 0o644))
	old := time.Now().Add(-time.Hour)
	require.NoError(d.t, os.Chtimes(d.path(name), old, old))
}

func (d *disk) find() (Set, string) {
	set := d.finder.Find(d.path("ws"))
	return set, brief(set.Hooks)
}

func hook(event, command string) string {
	return fmt.Sprintf(`{"hooks": {%q: [{"command": %q}]}}`, event, command)
}

func TestFind(t *testing.T) {
	d := newDisk(t)
	set, _ := d.find()
	require.Equal(t, Set{}, set, "there is nothing")

	places := []string{
		"etc/hooks.json", "home/.cursor/hooks.json", "home/.claude/settings.json", "ws/.cursor/hooks.json",
		"ws/.claude/settings.json", "ws/.claude/settings.local.json",
	}
	for _, after := range []bool{false, true} {
		for _, place := range places {
			event := "stop"
			if after {
				event = "postToolUse"
			}
			d.put(place, hook(event, place))
			set, _ := d.find()
			require.True(t, set.Any, place)
			require.Equal(t, after, set.AfterEdit, place)
			require.Empty(t, set.Unreadable)
			require.Equal(t, d.path(place), set.Hooks[0].File)
			require.NoError(t, os.Remove(d.path(place)))
		}
	}
	for _, place := range places {
		d.put(place, hook("stop", place))
	}
	_, found := d.find()
	require.Equal(t, "stop "+strings.Join(places, "; stop "), found)
	set = d.finder.Find(d.path("home"))
	require.Equal(t, "stop "+strings.Join(places[:3], "; stop "), brief(set.Hooks), "each once")

	set = newFinder("", "").Find(d.path("ws"))
	require.Equal(t, "stop "+strings.Join(places[3:], "; stop "), brief(set.Hooks), "without a home")
}

func TestManyHooksCount(t *testing.T) {
	d := newDisk(t)
	one := `{"command": "x"}`
	d.put("ws/.cursor/hooks.json", `{"hooks": {"a": [`+strings.Repeat(one+",", 300)+one+`], "postToolUse": [`+one+`]}}`)
	set, _ := d.find()
	require.Len(t, set.Hooks, maxHooks)
	require.True(t, set.AfterEdit, "also by one that is not listed")
}

// TestFindSeesChanges changes a file in every way after a read.
func TestFindSeesChanges(t *testing.T) {
	const name = "ws/.cursor/hooks.json"
	d := newDisk(t)
	for i, change := range []func(){
		func() { d.put(name, hook("stop", "a")) },
		func() { d.put(name, hook("stop", "longer")) },
		func() { // the same length, at once, in place
			require.NoError(t, os.WriteFile(d.path(name), []byte(hook("stop", "LONGER")), 0o644))
		},
		func() { // the same length, at the same moment
			require.NoError(t, os.WriteFile(d.path(name), []byte(hook("stop", "longer")), 0o644))
		},
		func() { // the same length and time
			d.put("new", hook("stop", "Longer"))
			require.NoError(t, os.Rename(d.path("new"), d.path(name)))
		},
		func() { d.put(name, "{") },
		func() { require.NoError(t, os.Remove(d.path(name))) },
		func() { d.put(name, hook("stop", "b")) },
	} {
		change()
		set, found := d.find()
		require.Equal(t, []string{
			"stop a", "stop longer", "stop LONGER", "stop longer", "stop Longer", "", "", "stop b",
		}[i], found, i)
		require.Equal(t, i == 5, len(set.Unreadable) == 1, i)
	}
}

// TestUnchangedIsNotReadAgain: the remembered hooks of a file are used while the file looks the same.
func TestUnchangedIsNotReadAgain(t *testing.T) {
	d := newDisk(t)
	file := "ws/.cursor/hooks.json"
	d.put(file, hook("stop", "a"))
	d.find()
	known := d.finder.known[d.path(file)]
	known.hooks = []Hook{{Event: "stop", Command: "remembered"}}
	d.finder.known[d.path(file)] = known
	_, found := d.find()
	require.Equal(t, "stop remembered", found)
}

func TestFinderRemembersLittle(t *testing.T) {
	d := newDisk(t)
	for i := range 2 * maxFiles {
		dir := fmt.Sprintf("ws%d", i)
		d.put(dir+"/.cursor/hooks.json", hook("stop", dir))
		require.Equal(t, "stop "+dir, brief(d.finder.Find(d.path(dir)).Hooks))
		require.LessOrEqual(t, len(d.finder.known), maxFiles)
	}
}

func TestFindAtOnce(t *testing.T) {
	d := newDisk(t)
	d.put("ws/.cursor/hooks.json", hook("stop", "a"))
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 50 {
				if _, found := d.find(); found != "stop a" {
					t.Errorf("found %q", found)
					return
				}
			}
		})
	}
	wg.Wait()
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(hook("postToolUse", "x")))
	f.Add([]byte(`{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "x"}]}]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		list, err := parse("f", data)
		if err != nil && len(list) > 0 {
			t.Fatal("hooks of a file that cannot be understood")
		}
		for _, h := range list {
			if h.Command == "" || len(h.Command) > maxCommand+len("…") {
				t.Fatalf("command %q", h.Command)
			}
		}
	})
}

func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	for _, name := range []string{"home/.cursor/hooks.json", "ws/.claude/settings.json"} {
		path := filepath.Join(dir, name)
		require.NoError(b, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(b, os.WriteFile(path, []byte(hook("postToolUse", strings.Repeat("x", 4000))), 0o644))
		old := time.Now().Add(-time.Hour)
		require.NoError(b, os.Chtimes(path, old, old))
	}
	f := newFinder(filepath.Join(dir, "etc"), filepath.Join(dir, "home"))
	for b.Loop() {
		f.Find(filepath.Join(dir, "ws"))
	}
}
