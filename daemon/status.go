package daemon

import (
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/gauge"
	"cursord/daemon/internal/statusmessages"
)

// Status describes the daemon. It does not wait.
func (d *Daemon) Status() api.Status {
	s := api.Status{
		Version: d.build.Version, PID: os.Getpid(), StartedAt: d.started, Socket: d.socket, Database: d.store.Path(),
		Clients: int(d.clients.Load()), MemoryBytes: gauge.Memory(),
		UptimeSeconds: int64(time.Since(d.began).Seconds()), PerWorkspace: []api.WorkspaceStatus{},
	}
	s.Storage.Waiting = d.store.Backlog()
	if use, err := d.store.DiskUse(); err == nil {
		s.Storage.Bytes, s.Storage.FreeBytes = use.Bytes, use.Free
	}
	if n, err := d.store.Damaged(); err == nil {
		s.Storage.Damaged = n
	}
	if err := d.store.Trouble(); err != nil {
		s.Storage.Trouble = err.Error()
	}
	s.Agent, s.Messages = d.AgentState(), d.messages.Now()
	s.Lag = api.Lag{CommitMS: d.lag.commit.Status(), LoopMS: d.lag.loop.Status()}
	for _, w := range d.loops() {
		s.Workspaces++
		each := api.WorkspaceStatus{
			Workspace: w.root, Running: int(w.running.Load()), Queued: int(w.queued.Load()), Background: int(w.background.Load()),
			Subscribers: int(w.subscribers.Load()), Waiting: len(w.inbox) + len(w.events),
		}
		s.Turns.Running += each.Running
		s.Turns.Queued += each.Queued
		s.Turns.Background += each.Background
		s.PerWorkspace = append(s.PerWorkspace, each)
		if state := w.review.Watching(); state != nil {
			s.Watching.Directories += state.Dirs
			if state.Polling != "" {
				s.Watching.Polling = append(s.Watching.Polling, api.Polling{Workspace: w.root, Reason: state.Polling})
			}
		}
	}
	slices.SortFunc(s.PerWorkspace, func(a, b api.WorkspaceStatus) int { return strings.Compare(a.Workspace, b.Workspace) })
	return s
}

// lags are the times that a change takes: to get on disk, and then through the workspace's loop.
type lags struct{ commit, loop gauge.Gauge }

// NoteConfiguration makes the daemon's status show what is wrong with its configuration; no warnings mean that nothing is.
func (d *Daemon) NoteConfiguration(warnings []string) {
	d.messages.Keep("configuration", slog.LevelWarn, strings.Join(warnings, "\n"))
}

// A MessageReader gets messages about the daemon itself and, once it follows workspaces, about these.
type MessageReader = statusmessages.Reader

// Messages calls take with messages about the daemon itself: at once with those that apply now, later with new ones, until
// the reader stops. take must not block.
func (d *Daemon) Messages(take func(level slog.Level, text string)) *MessageReader {
	return d.messages.Read(take)
}

// polls says how the daemon notices changes of files under review.
func (w *workspace) polls(why string) {
	topic := "watch " + w.root
	if why == "" {
		w.d.messages.Withdraw(topic, "files under review in "+w.root+" are watched again")
		return
	}
	w.d.messages.Post(topic, w.root, slog.LevelWarn, "files under review in "+w.root+" cannot be watched, and are looked at every other second; new files of an agent's commands may be listed as perhaps yours: "+why)
}
