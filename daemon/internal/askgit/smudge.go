package askgit

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
)

// Smudge has the contents of files, by their paths from the top of the work tree, pass the filters that their attributes
// name. A filter that fails changes nothing.
//
// Filters come from the user's and the system's configuration, and from the repository's as far as that is trusted. They run
// here and not from git: in an empty folder, so that no program of the work tree runs because a command is relative.
func (v *View) Smudge(ctx context.Context, contents map[string][]byte) error {
	filters, err := v.filters(ctx)
	if err != nil || len(filters) == 0 {
		return err
	}
	var ask bytes.Buffer
	for path := range contents {
		ask.WriteString(path + "\x00")
	}
	out, err := v.run(ctx, Question{In: &ask, Most: 2*ask.Len() + 1<<20}, true, "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return err
	}
	fields := strings.Split(string(out), "\x00")
	for ; len(fields) > 3; fields = fields[3:] {
		path, cmd := fields[0], filters[fields[2]]
		if data, ok := contents[path]; ok && cmd != "" {
			if filtered, err := v.smudge(ctx, cmd, path, data); err == nil {
				contents[path] = filtered
			}
		}
	}
	return ctx.Err()
}

// filters returns the commands of filters by their names.
func (v *View) filters(ctx context.Context) (map[string]string, error) {
	out, err := v.run(ctx, Question{Most: 8 * configBytes}, true, "config", "-z", "--get-regexp", `^filter\..*\.smudge$`)
	if exit := (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) { // exit code 1 means that there is no filter
		return nil, err
	}
	found := map[string]string{}
	set := func(key, cmd string) {
		name, ok := strings.CutSuffix(strings.TrimPrefix(key, "filter."), ".smudge")
		if !ok {
			return
		}
		for _, dir := range v.guard.outside(v.Repository) {
			if dir != "" && strings.Contains(cmd, dir) {
				cmd = "" // the agent could have written the program
			}
		}
		found[name] = cmd
	}
	for rec := range strings.SplitSeq(string(out), "\x00") {
		key, cmd, _ := strings.Cut(rec, "\n")
		set(key, cmd)
	}
	for _, s := range v.Counted {
		if strings.HasPrefix(s.Key, "filter.") {
			set(s.Key, s.Value)
		}
	}
	return found, nil
}

func (v *View) smudge(ctx context.Context, cmd, path string, data []byte) ([]byte, error) {
	common, err := v.common(true)
	if err != nil {
		return nil, err
	}
	c := command{
		dir: filepath.Join(common, emptyName), env: v.environment(common), in: bytes.NewReader(data), most: 256 << 20,
		out: v.guard.outside(v.Repository),
	}
	dirs := programDirs(c.out)
	sh := lookFor("sh", dirs)
	if sh == "" {
		return nil, errNoGit
	}
	quoted := "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	return c.run(ctx, dirs, []string{sh, "-c", strings.ReplaceAll(cmd, "%f", quoted)})
}
