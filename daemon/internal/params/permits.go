package params

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/paths"
	"cursord/sessions"
)

const (
	sandboxDefault = "default"
)

// checkPermits checks what does not depend on the disk.
func checkPermits(p *api.Permits, ofSession bool) error {
	if p.Sandbox != nil {
		if _, err := config.CheckSandbox(*p.Sandbox); err != nil && (!ofSession || *p.Sandbox != sandboxDefault) {
			if ofSession {
				return api.Invalid("sandbox", `must be "enabled", "disabled" or "default"`)
			}
			return api.Invalid("sandbox", `must be "enabled" or "disabled"`)
		}
	}
	if p.AddDirs == nil {
		return nil
	}
	if n := len(*p.AddDirs); n > config.MaxAddDirs {
		return api.Invalid("addDirs", "has %d folders; %d are the most", n, config.MaxAddDirs)
	}
	for i, dir := range *p.AddDirs {
		field := fmt.Sprintf("addDirs[%d]", i)
		if dir == "" {
			return api.Invalid(field, "must not be empty")
		}
		if err := api.NoNUL(field, dir); err != nil {
			return err
		}
		if why := paths.TooLong(dir); why != "" {
			return api.Invalid(field, "%s", why)
		}
	}
	return nil
}

// ResolvePermits makes the folders absolute paths without symlinks. They must exist.
func ResolvePermits(p *api.Permits, root string) error {
	if p.AddDirs == nil {
		return nil
	}
	dirs, err := ResolveDirs(root, *p.AddDirs)
	p.AddDirs = &dirs
	return err
}

// ApplyPermits sets in a session what p names.
func ApplyPermits(p *api.Permits, s *sessions.Session) {
	if p.Sandbox != nil {
		if s.Sandbox = *p.Sandbox; s.Sandbox == sandboxDefault {
			s.Sandbox = ""
		}
	}
	if p.AutoReview != nil {
		s.AutoReview = p.AutoReview
	}
	if p.AddDirs != nil {
		s.AddDirs = *p.AddDirs
	}
}

// madeBy reports whether p, with resolved folders, may be the permits of a turn.
func madeBy(p *api.Permits, t *sessions.Turn) bool {
	return (p.Sandbox == nil || *p.Sandbox == t.Sandbox) && (p.AutoReview == nil || *p.AutoReview == t.AutoReview) &&
		(p.AddDirs == nil || slices.Equal(*p.AddDirs, t.AddDirs))
}

// ResolveDirs returns absolute paths without symlinks, each once; it leaves out root itself. The error is about the first
// that is no folder; the list then contains that path as it would be.
func ResolveDirs(root string, dirs []string) (list []string, err error) {
	for i, dir := range dirs {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(root, dir)
		}
		dir = filepath.Clean(dir)
		real, openErr := filepath.EvalSymlinks(dir)
		if openErr != nil {
			real = dir
		}
		if err == nil {
			err = checkDir(fmt.Sprintf("addDirs[%d]", i), dir, real, openErr)
		}
		if real != root && !slices.Contains(list, real) {
			list = append(list, real)
		}
	}
	return list, err
}

func checkDir(field, dir, real string, err error) error {
	var info os.FileInfo
	if err == nil {
		info, err = os.Stat(real)
	}
	if err != nil {
		return api.Invalid(field, "%s cannot be opened: %v", dir, paths.Cause(err))
	}
	if !info.IsDir() {
		return api.Invalid(field, "%s is not a directory", dir)
	}
	return nil
}

// AboutDirs says what it means that the agent may work in folders beside the workspace; "" if there are none.
func AboutDirs(root string, dirs []string, isolated bool) string {
	beside := slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		_, inside := paths.Within(root, dir)
		return inside
	})
	if len(beside) == 0 {
		return ""
	}
	const most = 5
	more := ""
	if n := len(beside); n > most {
		beside, more = beside[:most], fmt.Sprintf(" and %d more", n-most)
	}
	text := "The agent may also work in " + strings.Join(beside, ", ") + more + ". What it changes there cannot be rejected here: " +
		"its edits are listed and can be looked at, and changes by its commands are not even listed."
	if isolated {
		text += " The copy of this session does not cover these folders: it writes to them directly."
	}
	return paths.Shown(text)
}
