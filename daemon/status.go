package daemon

import (
	"os"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"cursord/sessions"
)

// Status describes the daemon. It waits for nobody.
func (d *Daemon) Status() Status {
	s := Status{
		Version: d.build.Version, PID: os.Getpid(), StartedAt: d.started, Socket: d.socket, Database: d.store.Path(),
		Clients: int(d.clients.Load()), MemoryBytes: residentMemory(),
		UptimeSeconds: int64(time.Since(d.began).Seconds()), PerWorkspace: []WorkspaceStatus{},
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
	s.Lag = Lag{CommitMS: d.lag.commit.status(), LoopMS: d.lag.loop.status()}
	for _, w := range d.loops() {
		s.Workspaces++
		each := WorkspaceStatus{
			Workspace: w.root, Running: int(w.running.Load()), Queued: int(w.queued.Load()), Background: int(w.background.Load()),
			Subscribers: int(w.subscribers.Load()), Waiting: len(w.inbox) + len(w.events),
		}
		s.Turns.Running += each.Running
		s.Turns.Queued += each.Queued
		s.Turns.Background += each.Background
		s.PerWorkspace = append(s.PerWorkspace, each)
		if state := w.review.watch.State.Load(); state != nil {
			s.Watching.Directories += state.Dirs
			if state.Polling != "" {
				s.Watching.Polling = append(s.Watching.Polling, Polling{Workspace: w.root, Reason: state.Polling})
			}
		}
	}
	slices.SortFunc(s.PerWorkspace, func(a, b WorkspaceStatus) int { return strings.Compare(a.Workspace, b.Workspace) })
	return s
}

// goMemory returns what Go's runtime has of the system and has not given back, in bytes.
func goMemory() uint64 {
	var mem runtime.MemStats
	runtime.ReadMemStats(&mem)
	return mem.Sys - mem.HeapReleased
}

// lags are what it takes to tell a change: to get it on disk, and to get it from there through a workspace's loop.
type lags struct{ commit, loop gauge }

// A gauge knows the latest of a span that is measured over and over, and the longest of the last minute or two.
type gauge struct {
	last   atomic.Int64 // ns
	worst  [2]atomic.Int64
	minute atomic.Int64 // since which time the first of them counts, as a number of minutes of the process's life
}

// minutes are counted from here, by the clock that does not jump.
var minutesFrom = time.Now()

func (g *gauge) measured(d time.Duration) {
	g.turn()
	g.last.Store(int64(d))
	for w := &g.worst[0]; ; {
		old := w.Load()
		if int64(d) <= old || w.CompareAndSwap(old, int64(d)) {
			return
		}
	}
}

// turn begins a new minute when the present one is over.
func (g *gauge) turn() {
	now := int64(time.Since(minutesFrom) / time.Minute)
	then := g.minute.Load()
	if now == then || !g.minute.CompareAndSwap(then, now) {
		return
	}
	worst := g.worst[0].Swap(0)
	if now > then+1 {
		worst = 0
	}
	g.worst[1].Store(worst)
}

func (g *gauge) status() Span {
	g.turn()
	ms := func(ns int64) float64 { return float64(ns/1000) / 1000 }
	return Span{Last: ms(g.last.Load()), Worst: ms(max(g.worst[0].Load(), g.worst[1].Load()))}
}

// A Status is the answer to daemon/status.
type Status struct {
	Version       string            `json:"version"`
	PID           int               `json:"pid"`
	StartedAt     sessions.Time     `json:"startedAt"`
	UptimeSeconds int64             `json:"uptimeSeconds"`
	Socket        string            `json:"socket"`
	Database      string            `json:"database"`
	Clients       int               `json:"clients"`
	Workspaces    int               `json:"workspaces"` // that are loaded: in use, or a moment ago
	Turns         TurnCounts        `json:"turns"`
	MemoryBytes   uint64            `json:"memoryBytes"` // resident: what ps tells
	Storage       Storage           `json:"storage"`
	Lag           Lag               `json:"lag"`
	PerWorkspace  []WorkspaceStatus `json:"perWorkspace"`
	Watching      Watching          `json:"watching"`
}

// A Storage is the state of the database.
type Storage struct {
	Bytes     int64  `json:"bytes"`             // of its file
	FreeBytes int64  `json:"freeBytes"`         // of them, what holds nothing
	Waiting   int    `json:"waiting"`           // changes that are not on disk yet
	Trouble   string `json:"trouble,omitempty"` // why it takes no changes at present
	Damaged   int    `json:"damaged,omitempty"` // objects that were found damaged and set aside, and not forgotten
}

// A Lag says how long it takes until a change is told, in ms.
type Lag struct {
	CommitMS Span `json:"commitMs"` // until it is on disk
	LoopMS   Span `json:"loopMs"`   // from then on, in the workspace's own queue
}

// A Span is one that is measured over and over: the latest, and the longest of the last minute or two.
type Span struct {
	Last  float64 `json:"last"`
	Worst float64 `json:"worst"`
}

// A WorkspaceStatus counts what goes on in a workspace.
type WorkspaceStatus struct {
	Workspace   string `json:"workspace"`
	Running     int    `json:"running"` // turns
	Queued      int    `json:"queued"`
	Background  int    `json:"background,omitempty"` // commands in the background that turns only wait for
	Subscribers int    `json:"subscribers"`
	Waiting     int    `json:"waiting"` // messages in its queues
}

// Watching says how changes by people to files under review are noticed.
type Watching struct {
	Directories int       `json:"directories"`       // that are watched
	Polling     []Polling `json:"polling,omitempty"` // workspaces whose folders cannot be watched
}

// A Polling is a workspace whose files under review are looked at every other second, and why.
type Polling struct {
	Workspace string `json:"workspace"`
	Reason    string `json:"reason"`
}

// TurnCounts counts the turns that have not ended.
type TurnCounts struct {
	Running    int `json:"running"`
	Queued     int `json:"queued"`
	Background int `json:"background,omitempty"` // commands in the background that turns only wait for
}
