package copytree

import (
	"bytes"
	"context"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"cursord/daemon/internal/askgit"
	"cursord/daemon/internal/filestat"
)

// gitFiles are small files of a repository that its copy gets too. Files of an unfinished rebase or bisection stay behind,
// because they belong to one work tree.
var gitFiles = []string{
	"info/exclude", "info/attributes", "info/sparse-checkout", "info/grafts", "shallow",
	"MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "CHERRY_PICK_HEAD", "REVERT_HEAD",
}

// A gitState is the state of a repository without its files' contents.
type gitState struct {
	head   string            // the content of HEAD
	refs   map[string]string // names of refs, and HEAD if it has one, to object names
	config []askgit.Setting
	common string            // its common folder, which contains its objects
	borrow []string          // folders of objects
	lends  map[string]bool   // the settings that the copy may have
	files  map[string][]byte // contents of gitFiles
	index  string            // path of the index
}

func readGit(ctx context.Context, g git) (*gitState, error) {
	st := &gitState{refs: map[string]string{}, files: map[string][]byte{}}
	out, err := g.run(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(string(out)) {
		if oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			st.refs[ref] = oid
		}
	}
	if oid, err := g.line(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err == nil {
		st.refs["HEAD"], st.head = oid, oid+"\n"
	}
	if branch, err := g.line(ctx, "symbolic-ref", "-q", "HEAD"); err == nil {
		st.head = "ref: " + branch + "\n"
	}
	v, err := g.open(ctx)
	if err != nil {
		return nil, err
	}
	st.config, st.common, st.lends = settings(v), v.Common, v.Lends()
	st.borrow = append([]string{v.Objects()}, v.Alternates...)
	// The folder info is shared by all worktrees, except for the sparse checkout.
	for _, name := range gitFiles {
		from := filepath.Join(g.dir, filepath.FromSlash(name))
		if name == "shallow" || strings.HasPrefix(name, "info/") && name != "info/sparse-checkout" {
			from = filepath.Join(st.common, filepath.FromSlash(name))
		}
		data, err := filestat.ReadRegular(from)
		if err == nil {
			st.files[name] = data
		} else if !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, filestat.ErrNotRegular) && !inTheWay(err) {
			return nil, err
		}
	}
	st.index = filepath.Join(g.dir, "index")
	return st, ctx.Err()
}

// digest returns a hash by which states are compared.
func (st *gitState) digest(index []byte) (sum [sha256.Size]byte) {
	w := &writer{}
	w.text(st.head)
	for _, ref := range sorted(st.refs) {
		w.text(ref)
		w.text(st.refs[ref])
	}
	for _, s := range st.config {
		w.text(s.Key)
		w.text(s.Value)
	}
	for _, name := range sorted(st.files) {
		w.text(name)
		w.text(string(st.files[name]))
	}
	for _, dir := range st.borrow {
		w.text(dir)
	}
	w.Write(index)
	return sha256.Sum256(w.Bytes())
}

// takeGit gives the copy the HEAD, refs and index of the workspace's repository, unless it has them already. What the agent
// has committed is then no longer on a branch, but on a ref below refs/cursord/kept. takeGit returns the files that differ
// from the index.
func (c *Copy) takeGit(ctx context.Context, g git, s *scan) (dirty map[string]bool, err error) {
	if g.dir == "" {
		return nil, nil
	}
	st, err := readGit(ctx, g)
	if err != nil {
		return nil, err
	}
	own := git{
		dir: filepath.Join(c.top(), ".git"), tree: c.top(), in: c.Path(), own: true,
		guard: &askgit.Guard{Home: c.guard().Home, Root: c.top(), Trust: func(_, claim string) bool { return st.lends[claim] }},
	}
	state := st.digest(s.index.Sum(nil))
	if state == c.t.state && filestat.Of(filepath.Join(own.dir, "HEAD")).Mode.IsRegular() && filestat.Of(own.dir).Mode.IsDir() {
		return nil, nil
	}
	if err := c.writeGit(ctx, own, st); err != nil {
		return nil, err
	}
	if err := c.takeIndex(ctx, g, own, st); err != nil {
		return nil, err
	}
	out, err := own.run(ctx, nil, "diff-files", "-z", "--name-only", "--relative", "--ignore-submodules=all")
	if err != nil {
		return nil, err
	}
	dirty = map[string]bool{}
	for name := range strings.SplitSeq(string(out), "\x00") {
		dirty[name] = true
	}
	c.t.state, c.t.heads, c.changed = state, st.refs, true
	return dirty, nil
}

// writeGit creates the copy's repository, or updates everything but its index.
func (c *Copy) writeGit(ctx context.Context, own git, st *gitState) error {
	// The agent may have replaced it by anything, for example a link to the user's repository.
	if is := filestat.Of(own.dir); is.Exists() && (!is.Mode.IsDir() || filestat.Of(filepath.Join(own.dir, "commondir")).Exists()) {
		if err := removeAll(own.dir); err != nil {
			return err
		}
	}
	refs := map[string]string{}
	for ref, oid := range st.refs {
		if ref != "HEAD" {
			refs[ref] = oid
		}
	}
	for ref, oid := range c.ownRefs(ctx, own) {
		if c.t.heads[ref] != oid && st.refs[ref] != oid {
			refs["refs/cursord/kept/"+oid] = oid
			if _, taken := st.refs[ref]; !taken && ref != "HEAD" && c.t.heads[ref] == "" {
				refs[ref] = oid
			}
		}
	}
	var packed strings.Builder
	for _, ref := range sorted(refs) {
		fmt.Fprintf(&packed, "%s %s\n", refs[ref], ref)
	}
	for _, sub := range []string{"objects/info", "objects/pack", "info", "refs"} {
		at := own.dir
		for _, name := range strings.Split(sub, "/") {
			at = filepath.Join(at, name)
			if is := filestat.Of(at); is.Exists() && !is.Mode.IsDir() {
				if err := os.Remove(at); err != nil {
					return err
				}
			}
		}
		if err := os.MkdirAll(at, 0o777); err != nil {
			return err
		}
	}
	files := map[string]string{
		"config": writeConfig(st.config), "HEAD": st.head, "packed-refs": packed.String(),
		"objects/info/alternates": askgit.FormatAlternates(st.borrow),
	}
	for _, name := range gitFiles {
		if data, ok := st.files[name]; ok {
			files[name] = string(data)
		} else if err := os.Remove(filepath.Join(own.dir, filepath.FromSlash(name))); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	if exclude := c.excludeLinks(); exclude != "" {
		files["info/exclude"] = strings.TrimSuffix(files["info/exclude"], "\n") + "\n" + exclude
	}
	for _, name := range sorted(files) {
		if err := replaceFile(filepath.Join(own.dir, filepath.FromSlash(name)), []byte(files[name])); err != nil {
			return err
		}
	}
	// Loose refs are removed once the packed ones are written.
	for _, sub := range []string{"refs", "index.lock", "HEAD.lock", "config.lock", "packed-refs.lock"} {
		if err := removeAll(filepath.Join(own.dir, sub)); err != nil {
			return err
		}
	}
	return errors.Join(os.MkdirAll(filepath.Join(own.dir, "refs", "heads"), 0o777), os.MkdirAll(filepath.Join(own.dir, "refs", "tags"), 0o777))
}

// ownRefs returns the copy's present refs; none if git cannot say.
func (c *Copy) ownRefs(ctx context.Context, own git) map[string]string {
	refs := map[string]string{}
	if !filestat.Of(own.dir).Exists() {
		return refs
	}
	if oid, err := own.line(ctx, "rev-parse", "-q", "--verify", "HEAD^{commit}"); err == nil {
		refs["HEAD"] = oid
	}
	out, err := own.run(ctx, nil, "for-each-ref", "--format=%(objectname) %(refname)")
	if err != nil {
		return refs
	}
	for line := range strings.Lines(string(out)) {
		if oid, ref, ok := strings.Cut(strings.TrimSuffix(line, "\n"), " "); ok {
			refs[ref] = oid
		}
	}
	return refs
}

// takeIndex gives the copy the part of the index that is about the workspace.
func (c *Copy) takeIndex(ctx context.Context, g, own git, st *gitState) error {
	data, err := filestat.ReadRegular(st.index)
	if errors.Is(err, fs.ErrNotExist) {
		err = os.Remove(filepath.Join(own.dir, "index"))
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return err
	}
	if err != nil {
		return err
	}
	if shared, err := g.line(ctx, "rev-parse", "--shared-index-path"); err == nil && shared != "" {
		if !filepath.IsAbs(shared) {
			shared = filepath.Join(g.in, shared)
		}
		part, err := filestat.ReadRegular(shared)
		if err != nil {
			return err
		}
		if err := replaceFile(filepath.Join(own.dir, filepath.Base(shared)), part); err != nil {
			return err
		}
	}
	if err := replaceFile(filepath.Join(own.dir, "index"), data); err != nil {
		return err
	}
	if c.t.prefix != "." {
		if err := c.skipRest(ctx, own); err != nil {
			return err
		}
	}
	if _, err := own.run(ctx, nil, "update-index", "-q", "--unmerged", "--refresh"); err != nil && ctx.Err() != nil {
		return err // git says that some files differ, or that a filter is missing, as git status in the copy would too
	}
	return c.hideLinks(ctx, own)
}

// skipRest marks the files outside of the workspace as not checked out.
func (c *Copy) skipRest(ctx context.Context, own git) error {
	own.in = own.tree
	out, err := own.run(ctx, nil, "ls-files", "-z")
	if err != nil {
		return err
	}
	var rest bytes.Buffer
	for name := range strings.SplitSeq(string(out), "\x00") {
		if name != "" && !strings.HasPrefix(name, c.t.prefix+"/") {
			rest.WriteString(name + "\x00")
		}
	}
	_, err = own.run(ctx, &rest, "update-index", "-z", "--skip-worktree", "--stdin")
	return err
}

// hideLinks makes git skip links that differ from the original only because they lead elsewhere in the copy.
func (c *Copy) hideLinks(ctx context.Context, own git) error {
	var names bytes.Buffer
	for _, p := range sorted(c.t.entries) {
		e := c.t.entries[p]
		if e.Mode&fs.ModeSymlink != 0 && moved(e.Target, c.t.root, "") != e.Target && blobName(e.Target, len(e.oid)) == e.oid {
			names.WriteString(p + "\x00")
		}
	}
	if names.Len() == 0 {
		return nil
	}
	_, err := own.run(ctx, &names, "update-index", "-z", "--assume-unchanged", "--stdin")
	return err
}

// blobName returns git's name of a content, in n hexadecimal digits.
func blobName(content string, n int) string {
	var h hash.Hash
	if n == 2*sha256.Size {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	io.WriteString(h, "blob "+strconv.Itoa(len(content))+"\x00"+content)
	return hex.EncodeToString(h.Sum(nil))
}

// excludeLinks returns rules by which git ignores links to folders that it ignores.
func (c *Copy) excludeLinks() string {
	var b strings.Builder
	for _, p := range sorted(c.t.entries) {
		if c.t.entries[p].linked && !strings.Contains(p, "\n") {
			at := strings.TrimPrefix(c.t.prefix+"/"+p, "./")
			for _, special := range []string{`\`, "*", "?", "[", " "} {
				at = strings.ReplaceAll(at, special, `\`+special)
			}
			b.WriteString("/" + at + "\n")
		}
	}
	return b.String()
}

// replaceFile replaces a file in the copy's repository. If there is a link, it replaces the link, not the file it leads to.
func replaceFile(name string, data []byte) error {
	if err := removeAll(name + ".new"); err != nil {
		return err
	}
	if filestat.Of(name).Mode.IsDir() {
		if err := removeAll(name); err != nil {
			return err
		}
	}
	if err := os.WriteFile(name+".new", data, 0o666); err != nil {
		return err
	}
	return os.Rename(name+".new", name)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}
