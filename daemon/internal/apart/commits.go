package apart

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/copytree"
	"cursord/daemon/internal/askgit"
	"cursord/sessions"
)

// Bounds of Commits.
const (
	commitsMost = 1000    // of the list
	patchMost   = 8 << 20 // of the mails, in bytes
	commitsTime = 30 * time.Second
)

// Commits lists what a session's agent has committed in its tree and the workspace's repository does not have, the oldest first. A commit
// counts as there if one has its author, time and subject: git am makes such a one of a mail. With only, Commits lists the commits whose
// names begin so. With patch, it adds the commits, but for merges, as mails for git am. A session without a tree has none. Git reads the agent's
// objects and nothing else of its repository.
func Commits(ctx context.Context, p Places, only []string, patch bool) (out api.Commits, err error) {
	ctx, cancel := context.WithTimeout(ctx, commitsTime)
	defer cancel()
	out.Commits = []api.Commit{}
	top, err := agentsRepository(p)
	if top == "" || err != nil {
		return out, err
	}
	agents, err := os.OpenRoot(top)
	if errors.Is(err, os.ErrNotExist) {
		return out, nil
	}
	if err != nil {
		return out, err
	}
	defer agents.Close()
	repo, in := askgit.Find(p.Root)
	if objects, err := agents.Lstat(".git/objects"); !in || err != nil || !objects.IsDir() {
		return out, nil
	}
	if more, err := agents.Lstat(".git/objects/info/alternates"); err == nil && !more.Mode().IsRegular() { // git waits for a FIFO
		return out, api.Errorf(api.KindUnavailable, "the agent's commits cannot be read: .git/objects/info/alternates in its copy is not a file")
	}
	view, err := p.guard().Open(ctx, repo)
	if err != nil {
		return out, err
	}
	g := asked{ctx, view.With(filepath.Join(top, ".git", "objects"))}
	if out.Commits, err = g.list(readRefs(ctx, agents)); err != nil {
		return out, err
	}
	if out.Commits, err = chosen(out.Commits, only); err != nil || !patch {
		return out, err
	}
	out.Patch, err = g.mails(out.Commits)
	return out, err
}

// agentsRepository returns the folder with the .git of a session's tree; "" if there is no tree.
func agentsRepository(p Places) (string, error) {
	t, err := Open(p)
	switch t := t.(type) {
	case *overlaid:
		return t.in(upperName), nil
	case copied:
		return filepath.Dir(t.Repository()), nil
	}
	if errors.Is(err, copytree.ErrNotACopy) {
		err = nil
	}
	return "", err
}

// chosen returns the commits whose names begin as only says, or all.
func chosen(all []api.Commit, only []string) ([]api.Commit, error) {
	if len(only) == 0 {
		return all, nil
	}
	take := map[string]bool{}
	for i, name := range only {
		field, found := "commits["+strconv.Itoa(i)+"]", ""
		for _, c := range all {
			switch {
			case name == "" || !strings.HasPrefix(c.ID, strings.ToLower(name)):
			case found != "":
				return nil, api.Invalid(field, "more than one commit of the agent begins with %q", name)
			default:
				found = c.ID
			}
		}
		if found == "" {
			return nil, api.Invalid(field, "no commit of the agent begins with %q", name)
		}
		take[found] = true
	}
	return slices.DeleteFunc(slices.Clone(all), func(c api.Commit) bool { return !take[c.ID] }), nil
}

// An asked is the workspace's repository, with the agent's objects.
type asked struct {
	ctx  context.Context
	view *askgit.View
}

// remotes are refs to what the agent has fetched.
const remotes = refsName + "/remotes/"

// list lists the commits that the agent's refs lead to, and those of the repository and of remotes do not.
func (g asked) list(refs map[string]string) ([]api.Commit, error) {
	there, err := g.commits(slices.Collect(maps.Values(refs)))
	if err != nil {
		return nil, err
	}
	var heads, others []string
	for name, oid := range refs {
		switch {
		case !there[oid]:
		case strings.HasPrefix(name, remotes):
			others = append(others, "^"+oid)
		default:
			heads = append(heads, oid)
		}
	}
	list := []api.Commit{}
	if len(heads) == 0 {
		return list, nil
	}
	all, err := g.read(append(heads, others...), "--author-date-order", "--reverse", "--not", "--all")
	if err != nil || len(all) == 0 {
		return list, err
	}
	theirs, err := g.read(nil, "--all")
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range theirs {
		known[c.like()] = true
	}
	for _, c := range all {
		if !known[c.like()] {
			list = append(list, c.Commit)
		}
	}
	return list, nil
}

// commits returns which objects are commits, or tags. The agent may have written names of others, or of none.
func (g asked) commits(oids []string) (map[string]bool, error) {
	out, err := g.view.Run(g.ctx, askgit.Question{In: strings.NewReader(strings.Join(oids, "\n") + "\n"), Most: patchMost}, "cat-file", "--batch-check")
	there := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		if f := strings.Fields(line); len(f) == 3 && (f[1] == "commit" || f[1] == "tag") {
			there[f[0]] = true
		}
	}
	return there, err
}

// A read is a commit as git tells it.
type read struct {
	api.Commit
	seconds string // when it was written
}

// like returns what stays of a commit when it is applied elsewhere.
func (c read) like() string { return c.Author + "\x00" + c.seconds + "\x00" + c.Subject }

// read lists the latest commits that names and args name.
func (g asked) read(names []string, args ...string) (list []read, err error) {
	out, err := g.run(names, append([]string{
		"-z", "--max-count=" + strconv.Itoa(commitsMost), "--no-patch", "--encoding=UTF-8", "--format=%H%x1f%P%x1f%an <%ae>%x1f%at%x1f%s",
	}, args...)...)
	if err != nil {
		return nil, err
	}
	for line := range strings.SplitSeq(strings.ToValidUTF8(string(out), "\uFFFD"), "\x00") {
		f := strings.SplitN(line, "\x1f", 5)
		if len(f) < 5 {
			continue
		}
		c := read{api.Commit{ID: f[0], Parents: strings.Fields(f[1]), Author: f[2], Subject: f[4]}, f[3]}
		if seconds, err := strconv.ParseInt(f[3], 10, 64); err == nil {
			c.At = &sessions.Time{Time: time.Unix(seconds, 0).UTC()}
		}
		list = append(list, c)
	}
	return list, nil
}

// mails returns commits as mails for git am.
func (g asked) mails(list []api.Commit) ([]byte, error) {
	var names []string
	for _, c := range list {
		if len(c.Parents) < 2 {
			names = append(names, c.ID)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	out, err := g.run(names, "--no-walk=unsorted", "--pretty=email", "--patch", "--stat", "--binary", "--full-index", "--no-ext-diff", "--no-textconv", "--submodule=short",
		"--src-prefix=a/", "--dst-prefix=b/")
	if errors.Is(err, askgit.ErrTooMuch) {
		return nil, &api.Error{
			Kind: api.KindTooLarge, Message: "the commits are over the limit of " + strconv.Itoa(patchMost>>20) + " MiB together",
			Hint: "name some of them: cursord diff --commits COMMIT",
		}
	}
	return out, err
}

// plain are settings that a user may have, and that would change the mails.
var plain = []string{
	"-c", "diff.relative=false", "-c", "diff.noprefix=false", "-c", "diff.mnemonicPrefix=false", "-c", "log.mailmap=false", "-c", "log.showRoot=true",
}

// run asks for the log of commits.
func (g asked) run(names []string, args ...string) ([]byte, error) {
	in := strings.NewReader(strings.Join(names, "\n") + "\n")
	args = append([]string{"log", "--stdin", "--no-show-signature", "--no-color"}, args...)
	out, err := g.view.Run(g.ctx, askgit.Question{Args: plain, In: in, Most: patchMost}, args...)
	if g.ctx.Err() != nil {
		return nil, api.Errorf(api.KindUnavailable, "git has not read the agent's commits within %v", commitsTime)
	}
	return out, err
}
