//go:build unix

package trees

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/sessions"
)

// A plant is a set of files that an agent writes into a repository so that another user's git runs a program or leaves the
// repository.
type plant struct {
	name  string
	files world.Tree // by paths from the top of the work tree; "@git/" is git's folder, "@common/" that of all work trees
	shell string
	// notice is part of the turn's notice; empty if the daemon need not come upon the plant.
	notice string
}

// plants returns all plants. Every planted program makes the file mark, which nothing else makes. outside is a repository
// beside the workspace, with a file whose content is "secret".
func plants(mark, outside string) []plant {
	run := "sh -c 'cat >/dev/null; touch " + mark + "' #"
	touch := "touch " + mark + " #"
	hook := "#!/bin/sh\ntouch " + mark + "\n"
	appended := func(text string) world.Tree { return world.Tree{"@common/config+": text} }
	filtered := func(config string) world.Tree {
		return world.Tree{"@common/config+": config, ".gitattributes": "* filter=evil diff=evil merge=evil\n"}
	}
	list := []plant{
		{name: "clean and smudge", files: filtered("[filter \"evil\"]\n\tclean = \"" + run + "\"\n\tsmudge = \"" + run + "\"\n\trequired = true\n"), notice: "filter.evil.smudge"},
		{name: "process", files: filtered("[filter \"evil\"]\n\tprocess = \"" + run + "\"\n\trequired\n"), notice: "filter.evil.process"},
		{name: "a filter of a file that the attributes of the repository name", files: world.Tree{
			"@common/config+":         "[filter \"evil\"]\n\tclean = \"" + run + "\"\n\tsmudge = \"" + run + "\"\n",
			"@common/info/attributes": "* filter=evil\n",
		}, notice: "filter.evil.smudge"},
		{name: "a filter for this work tree", files: world.Tree{
			"@common/config+":      "[extensions]\n\tworktreeConfig = true\n",
			"@git/config.worktree": "[filter \"evil\"]\n\tclean = \"" + run + "\"\n\tsmudge = \"" + run + "\"\n[core]\n\tfsmonitor = \"" + touch + "\"\n",
			".gitattributes":       "* filter=evil\n",
		}, notice: "filter.evil.smudge"},
		{name: "an included filter", files: world.Tree{
			"@common/config+": "[include]\n\tpath = evil\n[includeIf \"gitdir:/\"]\n\tpath = evil\n",
			"@common/evil":    "[filter \"evil\"]\n\tclean = \"" + run + "\"\n\tsmudge = \"" + run + "\"\n[core]\n\tfsmonitor = \"" + touch + "\"\n",
			".gitattributes":  "* filter=evil\n",
		}},
		{name: "a git-lfs in the work tree", files: world.Tree{"git-lfs": hook, "git": hook, "cat": hook, ".gitattributes": "* filter=mine\n"}, shell: "chmod +x git-lfs git cat"},
		{name: "fsmonitor", files: appended("[core]\n\tfsmonitor = \"" + touch + "\"\n\tuntrackedCache = true\n")},
		{name: "hooksPath", files: world.Tree{"@common/config+": "[core]\n\thooksPath = \"@common/evil\"\n", "@common/evil/post-index-change": hook, "@common/evil/reference-transaction": hook}},
		{name: "pager and editor", files: appended("[core]\n\tpager = \"" + touch + "\"\n\teditor = \"" + touch + "\"\n\taskPass = \"" + touch + "\"\n[pager]\n\tls-files = \"" + touch + "\"\n\tcat-file = \"" + touch + "\"\n\tdiff-tree = \"" + touch + "\"\n")},
		{name: "aliases", files: appended("[alias]\n\tls-files = \"!" + touch + "\"\n\tcat-file = \"!" + touch + "\"\n\trev-parse = \"!" + touch + "\"\n\tdiff-tree = \"!" + touch + "\"\n\tcheck-ignore = \"!" + touch + "\"\n")},
		{name: "diff and merge drivers", files: filtered("[diff]\n\texternal = \"" + touch + "\"\n[diff \"evil\"]\n\tcommand = \"" + touch + "\"\n\ttextconv = \"" + touch + "\"\n[merge \"evil\"]\n\tdriver = \"" + touch + "\"\n")},
		{name: "a remote that fetches what is missing", files: appended("[core]\n\trepositoryformatversion = 1\n\tsshCommand = \"" + touch + "\"\n\tgitProxy = \"" + touch + "\"\n[extensions]\n\tpartialClone = evil\n[remote \"evil\"]\n\turl = \"ext::" + touch + "\"\n\tpromisor = true\n\tuploadpack = \"" + touch + "\"\n[protocol]\n\tallow = always\n[protocol \"ext\"]\n\tallow = always\n[credential]\n\thelper = \"!" + touch + "\"\n"),
			shell: "find @common/objects -type f -name '*' -size -1k -path '*/[0-9a-f][0-9a-f]/*' | head -1 | xargs rm -f"},
		{name: "submodules", files: world.Tree{
			"@common/config+": "[submodule \"evil\"]\n\tupdate = \"!" + touch + "\"\n\turl = \"ext::" + touch + "\"\n\tactive = true\n[submodule]\n\trecurse = true\n",
			".gitmodules":     "[submodule \"evil\"]\n\tpath = evil\n\turl = \"ext::" + touch + "\"\n\tupdate = \"!" + touch + "\"\n",
		}},
		{name: "signing", files: appended("[gpg]\n\tprogram = \"" + touch + "\"\n[commit]\n\tgpgSign = true\n[log]\n\tshowSignature = true\n[user]\n\tsigningKey = x\n")},
		{name: "another work tree", files: appended("[core]\n\tworktree = " + outside + "\n")},
		{name: "an extension that nobody knows", files: appended("[core]\n\trepositoryformatversion = 1\n[extensions]\n\tnobodyKnows = " + mark + "\n\trefStorage = \"files\"\n")},
		{name: "rules elsewhere", files: appended("[core]\n\texcludesFile = " + outside + "/rules\n\tattributesFile = " + outside + "/rules\n"), notice: "core.excludesfile"},
		{name: "alternates", files: world.Tree{"@common/objects/info/alternates": outside + "/.git/objects\n"}, notice: "objects/info/alternates"},
	}
	hooks := plant{name: "hooks", files: world.Tree{}, shell: "chmod +x @common/hooks/*"}
	for _, name := range []string{"post-index-change", "reference-transaction", "post-checkout", "pre-auto-gc", "fsmonitor-watchman", "pre-commit"} {
		hooks.files["@common/hooks/"+name] = hook
	}
	return append(list, hooks)
}

var everyPlant = flag.Bool("every-plant", false, "plant everything in every kind of place, in every way")

// TestPlants: an agent plants programs and ways out, and the test makes the daemon ask git. No planted program may run.
// Without -every-plant each plant is tried in one of the four ways and places; "make fuzz" tries all.
func TestPlants(t *testing.T) {
	t.Parallel()
	for i, p := range plants("/mark", "/outside") {
		for at, where := range []string{"edit", "shell", "nested", "worktree"} {
			if !*everyPlant && at != i%4 {
				continue
			}
			t.Run(where+"/"+p.name, func(t *testing.T) {
				t.Parallel()
				plantsAndLooks(t, where, p.name)
			})
		}
	}
}

// plantsAndLooks tries one plant: where is the tool that writes it, or the kind of repository.
func plantsAndLooks(t *testing.T, where, name string) {
	w := world.New(t)
	mark, outside := filepath.Join(w.Dir, "mark"), filepath.Join(w.Dir, "outside")
	w.RepositoryIn("../outside", world.Tree{"secret": "secret\n", "rules": "*\n"})
	var p plant
	for _, one := range plants(mark, outside) {
		if one.name == name {
			p = one
		}
	}
	files := world.Tree{"a": "a\n", "b": "b\n", "c": "c\n", "d/e": "e\n"}
	top, common := "", ".git"
	switch where {
	case "nested":
		w.RepositoryIn(".", world.Tree{"x": "x\n"})
		top, common = "in/", "in/.git"
	case "worktree":
		w.RepositoryIn("../main", files)
		w.GitIn("../main", "worktree", "add", "-q", w.Root)
		common = "../main/.git"
	}
	for path, text := range files {
		w.Put(top+path, text)
		w.Ages(top + path)
	}
	if where == "worktree" {
		w.Git("update-index", "-q", "--refresh")
	} else {
		w.RepositoryIn(top, nil)
	}
	git := common
	if where == "worktree" {
		git = "../main/.git/worktrees/ws"
	}
	was := state(w, outside)
	put := func(text string) string {
		return strings.NewReplacer("@common", w.Path(common), "@git", w.Path(git)).Replace(text)
	}
	var script [][]string
	commands := ""
	for path, text := range p.files {
		full, appends := strings.CutSuffix(put(path), "+")
		if full == path {
			full = w.Path(top + path)
		}
		text = put(text)
		before := ""
		if data, err := os.ReadFile(full); err == nil {
			before = string(data)
		}
		if appends {
			text = before + text
		}
		rel, err := filepath.Rel(w.Root, full)
		require.NoError(t, err)
		if where == "edit" && filepath.IsLocal(rel) {
			script = append(script, world.Edits(fmt.Sprint("p", len(script)), rel, before, text))
		} else {
			w.Put("../plants/"+fmt.Sprint(len(commands)), text)
			commands += fmt.Sprintf("mkdir -p '%s'; cat '%s' > '%s'; ", filepath.Dir(full), w.Path("../plants/"+fmt.Sprint(len(commands))), full)
		}
	}
	if commands += "cd " + w.Path(top) + "; " + put(p.shell); p.shell != "" || where != "edit" {
		script = append(script, world.Shells("plants", commands))
	}
	nothing := func(when string) {
		t.Helper()
		require.NoFileExists(t, mark, when)
		require.Equal(t, was, state(w, outside), when)
	}

	w.Put("../.gitconfig", "[filter \"mine\"]\n\tclean = ./cat\n\tsmudge = ./cat\n[safe]\n\tdirectory = *\n")
	w.Start()
	e := w.Opens()
	// The script writes the plant, and makes changes whose former contents the daemon needs.
	script = append(script, world.Edits("x", top+"a", "a\n", "a\nx\n"), world.Shells("y", fmt.Sprintf("cd %s; touch c; echo y >> b; rm d/e; echo n > n", w.Path(top))))
	w.Plays(world.Lines(script...)...)
	first := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, first.Status)
	nothing("in the turn")
	found := e.Diffs()
	require.Equal(t, "known", found[top+"b"].Baseline)
	require.Equal(t, "known", found[top+"d/e"].Baseline)
	if p.notice != "" {
		require.Contains(t, e.Notices(first.ID), p.notice)
	}

	w.Plays(world.Lines(world.Shells("z", fmt.Sprintf("cd %s; echo z >> c; echo z >> b", w.Path(top))))...)
	second := e.Turn(nil)
	require.Equal(t, sessions.TurnCompleted, second.Status)
	nothing("in a second turn")
	require.Contains(t, e.Diffs(), top+"c")
	e.Must("diff/unified", world.Obj{"workspace": w.Root}, nil)
	e.Decides("diff/accept", world.Obj{"path": top + "c"})
	e.Decides("diff/reject", world.Obj{"path": top + "b"})
	require.Equal(t, "b\n", w.Get(top+"b"))
	nothing("in a review")

	var s struct{ Session *sessions.Session }
	e.Must("session/create", world.Obj{"workspace": w.Root, "isolation": "copy"}, &s)
	w.Plays(world.Lines(world.Shells("i", fmt.Sprintf("cd ./%s; git config filter.evil.clean 'touch %s'; echo '* filter=evil' > .gitattributes; echo i >> a; touch c", top, mark)))...)
	isolated := e.Turn(world.Obj{"sessionId": s.Session.ID})
	require.Equal(t, sessions.TurnCompleted, isolated.Status)
	isolated = e.Turn(world.Obj{"sessionId": s.Session.ID})
	require.Equal(t, sessions.TurnCompleted, isolated.Status)
	nothing("in a copy")
	e.Decides("diff/reject", world.Obj{"all": true})
	nothing("in the end")
}
