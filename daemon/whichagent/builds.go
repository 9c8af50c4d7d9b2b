package whichagent

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
)

// builds are what is remembered about the agent's builds, in a file beside the database: which options they lack, and when
// one replaced another.
type builds struct {
	path       string
	log        *slog.Logger
	remembered *program.Builds

	mu    sync.Mutex
	file  buildsFile // guarded by mu
	dirty bool       // guarded by mu; the file on disk differs
}

type buildsFile struct {
	Lacks   json.RawMessage  `json:"lacks,omitempty"` // for program.LoadBuilds
	Changed *api.BuildChange `json:"changed,omitempty"`
}

// maxBuildsFile bounds the file that is read, in bytes; it is far above what is written.
const maxBuildsFile = 1 << 20

func openBuilds(stateDir string, log *slog.Logger) *builds {
	b := &builds{path: filepath.Join(stateDir, "builds.json"), log: log}
	b.read()
	b.remembered = program.LoadBuilds(b.file.Lacks, func(data []byte) {
		b.update(func(f *buildsFile) { f.Lacks = data })
		b.keep()
	})
	return b
}

func (b *builds) read() {
	f, err := endpoint.OpenOwn(b.path)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			b.log.Warn("what is remembered of the agent's builds cannot be read", "err", err)
		}
		return
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxBuildsFile))
	if err == nil {
		err = json.Unmarshal(data, &b.file)
	}
	if err != nil {
		b.log.Warn("what is remembered of the agent's builds cannot be read", "err", err)
		b.file = buildsFile{}
	}
}

// update changes what is remembered; it does not wait.
func (b *builds) update(change func(*buildsFile)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.file)
	b.dirty = true
}

// keep writes what was noted. If it cannot, the daemon remembers it until it ends.
func (b *builds) keep() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.dirty {
		return
	}
	b.dirty = false
	data, err := json.MarshalIndent(b.file, "", "  ")
	fresh := b.path + ".new"
	if err == nil {
		err = os.WriteFile(fresh, append(data, '\n'), 0o600)
	}
	if err == nil {
		err = os.Rename(fresh, b.path)
	}
	if err != nil {
		b.log.Warn("what is learned of the agent's builds cannot be kept", "err", err)
	}
}

func (b *builds) changed() *api.BuildChange {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.file.Changed
}

// A Build is the build of a program that is about to start.
type Build struct {
	guess string        // what the program said last
	asked chan struct{} // closed once it has answered
	now   string        // its answer, valid from then on
}

// Build finds out a program's build, and calls tell if the program says it. It asks a program that may have changed, and waits for
// the answer if a start depends on it: if nothing is known, or if the build before lacks an option. Else the start need not wait.
func (a *Agent) Build(ctx context.Context, bin string, tell func(version string)) *Build {
	b := &Build{asked: make(chan struct{})}
	ask := func() {
		defer close(b.asked)
		if b.now, _ = a.finder.Version(ctx, bin); b.now != "" {
			tell(b.now)
		}
	}
	known, certain := a.finder.Known(bin)
	if known == "" || certain || len(a.builds.remembered.Lacks(known)) > 0 {
		ask()
		return b
	}
	b.guess = known
	go ask()
	return b
}

// Known returns the build as far as it is known, without waiting; "" if the program does not say.
func (b *Build) Known() string {
	select {
	case <-b.asked:
		return b.now
	default:
		return b.guess
	}
}

// Settled waits for the program's answer and returns it; "" if the program does not say.
func (b *Build) Settled() string {
	<-b.asked
	return b.now
}

// Changed notes that one build of the agent replaced another.
func (a *Agent) Changed(c *api.BuildChange) { a.builds.update(func(f *buildsFile) { f.Changed = c }) }

// Keep writes to disk what was learned of builds.
func (a *Agent) Keep() { a.builds.keep() }

// Builds returns what the agent's launcher needs to know about builds.
func (a *Agent) Builds() *program.Builds { return a.builds.remembered }

// Offers reports whether messages may recommend an option for a build. A program without a version ("") is known by its
// path.
func (a *Agent) Offers(build, option string) bool {
	if build == "" {
		build = a.Path()
	}
	return a.builds.remembered.Offers(build, option)
}
