package daemon

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/oklog/ulid/v2"

	"cursord/agent/hooks"
	"cursord/agent/process"
	"cursord/daemon/api"
	"cursord/daemon/config"
	"cursord/daemon/copytree"
	"cursord/daemon/endpoint"
	"cursord/daemon/internal/apart"
	"cursord/daemon/internal/atend"
	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/copies"
	"cursord/daemon/internal/documents"
	"cursord/daemon/internal/drivers"
	"cursord/daemon/internal/killed"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/savewatch"
	"cursord/daemon/internal/statusmessages"
	"cursord/daemon/internal/watch"
	"cursord/daemon/pictures"
	"cursord/daemon/whichagent"
	"cursord/sessions"
)

// A Step is a step of a decision, as tests inject faults into it.
type Step = atomicfile.Step

// StepCommit is the step before a commit of the database.
const StepCommit = "commit"

// Options say where a daemon keeps its data, and how it behaves.
type Options struct {
	Version  string
	Written  time.Time // of the program, see endpoint.Build
	StateDir string    // the database's folder
	Socket   string    // for Status; "" without one
	Config   config.Config
	Log      *slog.Logger

	// Reload reads the configuration again, and calls Configure if it has changed; nil: it cannot be read again. The daemon
	// calls it while there is no working agent, one call at a time.
	Reload func(*Daemon)
	// Reread reads the configuration again, and calls Configure or returns what is wrong; nil: it cannot be read again.
	Reread func(*Daemon) (api.Reloaded, error)

	// For tests, else nil.
	fault       func(Step) error // called in each step of a decision and before each commit, which fails with the error
	unloadAfter time.Duration    // 0: that of the constant
}

// A Daemon owns every session, turn and pending review of a user. It knows neither JSON-RPC nor editors.
//
// A root argument of its methods may be any path or file:// URI of a workspace. Methods return when they have the answer,
// which is quick, unless they take a reply function. reply is called exactly once, usually from a loop, and must not block.
// What it enqueues comes before any notification that the request causes.
type Daemon struct {
	// Constant after Open.
	build       endpoint.Build
	stateDir    string
	socket      string
	config      config.Config // as it was at the start, for settings that must not change while they are in use
	latest      atomic.Pointer[config.Config]
	log         *slog.Logger
	store       *sessions.Store
	agent       *whichagent.Agent
	drivers     *drivers.Set
	hooks       *hooks.Finder
	docs        *documents.Set
	pictures    pictures.Store
	copies      *copies.Collector
	killed      *killed.Turns
	overlays    *apart.Prober // whether isolated sessions get overlays
	started     sessions.Time
	began       time.Time // the same, by the monotonic clock
	lag         lags
	messages    *statusmessages.List
	watching    watch.Limits
	saves       savewatch.Watch // watches the files that open calls name
	unloadAfter time.Duration
	fault       func(Step) error
	stopping    chan struct{} // closed by Stop
	done        chan struct{} // closed by Close

	endTurns   sync.Once
	turns      sync.WaitGroup // the turns' own goroutines
	unfinished sync.WaitGroup // turns whose end is not published
	keeping    sync.WaitGroup // the goroutine of housekeep
	endKeeping context.CancelFunc
	clients    atomic.Int32

	importing sync.Mutex // held by ImportSession

	mu         sync.Mutex
	workspaces map[string]*workspace // guarded by mu
	claimed    map[string]turnOwner  // guarded by mu; who owns the ids of turns that clients have named, or that are being imported
	sweeper    *time.Timer           // guarded by mu
	sweeping   bool                  // guarded by mu; sweeper is set, or sweep runs
	idle       *time.Timer           // guarded by mu; nil: never
	idleLeft   int                   // guarded by mu; how many parts of the idle time are left
	asked      bool                  // guarded by mu; stopping is closed
	closed     bool                  // guarded by mu; Close was called

	successor      string         // guarded by mu; the program that will replace this daemon
	successorBuild endpoint.Build // guarded by mu
	atEnd          *atend.Runner
	reread         func(*Daemon) (api.Reloaded, error) // see Options
}

// Open opens the database, ends what an earlier daemon left running, and returns a daemon that serves. Its errors are those
// of sessions.Open.
func Open(o Options) (*Daemon, error) {
	d := &Daemon{
		build: endpoint.Build{Version: o.Version, Written: o.Written}, stateDir: o.StateDir, socket: o.Socket, config: o.Config, log: o.Log,
		started: sessions.Now(), began: time.Now(), messages: statusmessages.New(),
		stopping: make(chan struct{}), done: make(chan struct{}), workspaces: map[string]*workspace{}, claimed: map[string]turnOwner{},
		watching: watch.DefaultLimits(), fault: o.fault, pictures: pictures.Store{Dir: filepath.Join(o.StateDir, "images")},
	}
	d.docs = documents.New(d.reviewers)
	home, _ := os.UserHomeDir() // without a home, the agent finds no hooks there either
	d.hooks = hooks.NewFinder(home)
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.unloadAfter = o.unloadAfter; d.unloadAfter == 0 {
		d.unloadAfter = unloadAfter
	}
	d.take(o.Config)
	d.atEnd = atend.New(d.log)
	d.reread = o.Reread
	which := whichagent.Setup{StateDir: o.StateDir, Log: d.log, Settings: d.settings}
	if o.Reload != nil {
		which.Reload = func() { o.Reload(d) }
	}
	storeOptions := sessions.Options{OnTrouble: d.storageTrouble, OnDamage: d.objectDamaged, LeftOpen: killed.LeftOpen(o.StateDir), Unanswered: killed.Unanswered}
	if o.fault != nil {
		storeOptions.Fault = func() error { return o.fault(Step{Name: StepCommit}) }
	}
	store, report, err := sessions.Open(filepath.Join(o.StateDir, "cursord.db"), storeOptions)
	if err != nil {
		return nil, err
	}
	if os.Getenv(storeVariable) == store.Epoch() {
		return nil, errors.Join(errAgents, store.Close())
	}
	d.store, d.agent = store, whichagent.New(which)
	d.drivers = drivers.New(d.agent.Builds(), drivers.Options{Version: o.Version, Log: d.log, Keep: d.keepNotices, Kept: d.keptNotices})
	if report.MovedAside != "" {
		d.log.Error("the database was damaged and has been moved aside", "to", report.MovedAside, "sessions saved", report.Salvaged)
		d.messages.Post("recovery", "", slog.LevelWarn, fmt.Sprintf(
			"the database was damaged: %d sessions could be read out of it, and it was kept as %s", report.Salvaged, report.MovedAside))
	}
	for _, t := range report.Interrupted {
		d.log.Warn("a turn was interrupted by the end of the last daemon", "turn", t.ID, "workspace", t.Workspace)
	}
	if err := os.RemoveAll(d.gitHome()); err != nil {
		d.log.Warn("the folder for asking git could not be emptied", "err", err)
	}
	// The process that has the store is the only daemon, so agents with its mark have lost their daemon.
	if n := process.KillOrphans(storeMark(store)); n > 0 {
		d.log.Warn("ended agents of the last daemon", "processes", n)
	}
	if d.killed, err = killed.Open(o.StateDir, store, report.Interrupted, d.log); err != nil {
		return nil, errors.Join(err, store.Close())
	}
	images := d.pictures.Folders()
	d.agent.Refresh()
	d.copies = copies.New(copies.Setup{
		StateDir: o.StateDir, Log: d.log, Store: store, Bounds: func() copytree.Bounds { return d.settings().Copies }, Removed: d.copyRemoved,
		Unseen: d.killed.Waiting,
	})
	d.restFor(o.Config.IdleExit)
	ctx, cancel := context.WithCancel(context.Background())
	d.endKeeping = cancel
	d.overlays = apart.NewProber(ctx, filepath.Join(o.StateDir, "overlay"), func() bool { return d.settings().Overlays })
	d.keeping.Go(func() { d.housekeep(ctx, images) })
	resumed := make(chan struct{})
	d.keeping.Go(func() { d.resumeAll(ctx, resumed) })
	select {
	case <-resumed:
	case <-time.After(resumeTime): // a file system hangs; the other workspaces are there
	}
	return d, nil
}

// storeVariable is the name of the variable in storeMark.
const storeVariable = "CURSORD_STORE"

// errAgents is why a process of an agent does not become the daemon: all later turns would run in its environment.
var errAgents = errors.New("an agent started this process, and agents must not start the daemon: " + api.AgentsHint)

// storeMark is in the environment of every agent whose daemon has this store.
func storeMark(s *sessions.Store) string { return storeVariable + "=" + s.Epoch() }

// gitHome is the folder in which askgit creates its own.
func (d *Daemon) gitHome() string { return filepath.Join(d.stateDir, "git") }

// Version returns the daemon's own.
func (d *Daemon) Version() string { return d.build.Version }

// newID returns an id that sorts by time.
func newID() string { return ulid.Make().String() }

// workspace returns the loop of a root, which must be a directory. The caller must release it.
func (d *Daemon) workspace(path string) (*workspace, error) {
	root, err := params.Root(path)
	if err != nil {
		return nil, d.withAdvice(path, err)
	}
	return d.workspaceAt(root)
}

// workspaceAt returns the loop of a resolved root, and starts it on first use. The caller must release it.
func (d *Daemon) workspaceAt(root string) (*workspace, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if w := d.workspaces[root]; w != nil {
		return w.use(), nil
	}
	if d.closed {
		return nil, api.ErrStopped
	}
	rec, err := d.store.Workspace(root)
	if err != nil {
		return nil, api.StoreError(err)
	}
	w, err := newWorkspace(d, rec)
	if err != nil {
		return nil, api.StoreError(err)
	}
	d.workspaces[root] = w
	d.sweepLater()
	return w.use(), nil
}

func (d *Daemon) workspaceOfSession(id string) (*workspace, error) {
	s, err := d.store.Session(id)
	if err != nil {
		return nil, api.StoreError(err)
	}
	return d.workspaceAt(s.Workspace)
}

func (d *Daemon) workspaceOfTurn(id string) (*workspace, error) {
	t, err := d.store.Turn(id)
	if err != nil {
		return nil, api.StoreError(err)
	}
	return d.workspaceAt(t.Workspace)
}

func (d *Daemon) loops() []*workspace {
	d.mu.Lock()
	defer d.mu.Unlock()
	var all []*workspace
	for _, w := range d.workspaces {
		all = append(all, w)
	}
	return all
}

// ClientJoined counts a connection in Status, and keeps the daemon from ending for idleness. Call left when the connection
// ends.
func (d *Daemon) ClientJoined() (left func()) {
	d.clients.Add(1)
	return sync.OnceFunc(func() {
		d.clients.Add(-1)
		d.rest()
	})
}

// rest restarts the idle time.
func (d *Daemon) rest() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle != nil {
		d.idleLeft = idleLooks
		d.idle.Reset(d.settings().IdleExit / idleLooks)
	}
}

// idlesOn reports whether a part of the idle time is left, and begins that part.
func (d *Daemon) idlesOn() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.idleLeft--
	if d.idle == nil || d.idleLeft <= 0 {
		return false
	}
	d.idle.Reset(d.settings().IdleExit / idleLooks)
	return true
}

// stops reports whether Stop was called.
func (d *Daemon) stops() bool {
	select {
	case <-d.stopping:
		return true
	default:
		return false
	}
}

// idleLooks is the number of parts of the idle time. If the daemon, or the machine, is stopped meanwhile, only one part can
// pass.
const idleLooks = 8

func (d *Daemon) idled() {
	if d.clients.Load() > 0 {
		return // the last client to leave restarts the time
	}
	if d.idlesOn() {
		return
	}
	if err := d.Stop(false); err != nil {
		d.rest()
		return
	}
	d.log.Info("nobody was here for a while", "idle_exit", d.settings().IdleExit)
}
