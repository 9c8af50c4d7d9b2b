package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"cursord/agent/program"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
	"cursord/sessions"
)

// builds are what is remembered of the agent's builds, in a file beside the database: which options they lack, and when
// one took the place of another.
type builds struct {
	path       string
	log        *slog.Logger
	remembered *program.Builds

	mu    sync.Mutex
	file  buildsFile // guarded by mu
	dirty bool       // guarded by mu; the file on disk is another
}

type buildsFile struct {
	Lacks   json.RawMessage  `json:"lacks,omitempty"` // as agent.LoadBuilds takes it
	Changed *api.BuildChange `json:"changed,omitempty"`
}

// maxBuildsFile is far above what is written.
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

// update changes what is remembered, and waits for nothing.
func (b *builds) update(change func(*buildsFile)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	change(&b.file)
	b.dirty = true
}

// keep writes what was noted. Where it cannot be written, the memory lasts as long as the daemon.
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

// ranBuild notes which build a turn has, and tells whom it may concern if the session's turn before had another. The loop
// calls it. The turn's next change publishes it.
func (w *workspace) ranBuild(t *liveTurn, version string) {
	if version == "" || t.turn.AgentVersion == version {
		return
	}
	turn := *t.turn
	turn.AgentVersion = version
	t.turn = &turn
	before := t.session.build
	t.session.build = version
	if before == "" || before == version {
		return
	}
	change := &api.BuildChange{From: before, To: version, At: sessions.Now()}
	w.d.log.Debug("the agent's build has changed between two turns", "session", turn.SessionID, "from", before, "to", version)
	w.d.messages.announce(slog.LevelDebug, fmt.Sprintf("cursor-agent is another build than in the turn before: %s, before %s (session %s)",
		version, before, turn.SessionID))
	w.d.builds.update(func(f *buildsFile) { f.Changed = change })
}

// buildBefore returns the build of a session's latest turn.
func (w *workspace) buildBefore(session string) string {
	t, err := w.d.store.LastTurn(session)
	if err != nil {
		return ""
	}
	return t.AgentVersion
}

// learnBuild returns the build of a turn's program, "" if it does not tell: its start says what is wrong with it. A program
// that may be another one by now is asked ahead of the start, so that what it lacks is known; the snapshot is made meanwhile.
func (w *workspace) learnBuild(ctx context.Context, t *liveTurn, bin string) string {
	version, certain := w.d.finder.Known(bin)
	if !certain {
		version, _ = w.d.finder.Version(ctx, bin)
	}
	if version != "" {
		w.sendEvents(turnEvents{turn: t, build: version})
	}
	return version
}

// offers returns which options a notice after a turn may name. Where the program tells no version, it is known by its path.
func (w *workspace) offers(turn *sessions.Turn) func(option string) bool {
	return func(option string) bool {
		build := turn.AgentVersion
		if build == "" {
			found, _, _ := w.d.look()
			build = found.Path
		}
		return w.d.builds.remembered.Offers(build, option)
	}
}
