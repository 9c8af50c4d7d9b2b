package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"sync"

	"cursord/agent/jsontext"
	"cursord/daemon"
	"cursord/daemon/api"
)

// MaxPrompt is the size in bytes of the longest prompt with its context; the core checks it.
const MaxPrompt = 8 << 20

// A face is the native protocol on one connection. It translates, and keeps nothing but the connection's subscriptions.
type face struct {
	d             *daemon.Daemon
	box           *outbox
	client        api.ClientID
	caller        *api.Caller // who made the connection; nil: a person's process
	countsAsAgent func() bool // whether caller counts as an agent's now; see agent

	initialized bool // owned by the ordered worker

	mu       sync.Mutex
	name     string                 // the name that the client gave itself
	asker    api.Asker              // where it would find the agent
	env      []string               // its whole environment; nil: it has not sent that
	remarked map[string]bool        // remarks about its notifications
	subs     map[string]*subscriber // by workspace
	news     *daemon.MessageReader  // the daemon's own messages; nil before they begin
	ended    bool
}

func newFace(d *daemon.Daemon, box *outbox) *face {
	return &face{d: d, box: box, client: d.NewClient(), subs: map[string]*subscriber{}}
}

// table returns the methods. Requests that may take long run beside the others; reviews stay in order within a workspace.
func (f *face) table() table {
	return table{
		methods: map[string]method{
			"initialize":            typed(inOrder, f.initialize),
			"workspace/subscribe":   typed(awaited, f.subscribe),
			"workspace/unsubscribe": quick(f.unsubscribe),
			"workspace/list":        quick(f.workspaces),
			"workspace/trust":       quick(f.trust),
			"session/create":        refusing(quick(f.createSession), ofTurns),
			"session/list":          encoded[SessionList](quick(f.listSessions)),
			"session/read":          quick(f.readSession),
			"session/update":        refusing(quick(f.updateSession), ofTurns),
			"session/delete":        quick(f.deleteSession),
			"session/fork":          slow(f.forkSession),
			"search":                slow(f.search),
			"session/rewind":        typed(deferred, f.rewindSession),
			"session/export":        slow(f.exportSession),
			"session/commits":       slow(f.sessionCommits),
			"session/import":        slow(f.importSession),
			"item/read":             quick(f.readItem),
			"turn/list":             quick(f.listTurns),
			"turn/start":            typed(awaited, f.startTurn),
			"turn/wait":             typed(deferred, f.waitTurn),
			"turn/steer":            typed(awaited, f.steerTurn),
			"turn/cancel":           quick(f.cancelTurn),
			"attempt/list":          slow(f.listAttempts),
			"attempt/check":         quick(f.checkAttempt),
			"attempt/drop":          slow(f.dropAttempts),
			"diff/list":             review(f.diffs),
			"diff/unified":          review(f.unified),
			"diff/accept":           decision(f.accept),
			"diff/reject":           decision(f.reject),
			"diff/undo":             decision(f.undo),
			"diff/redo":             decision(f.redo),
			"diff/merge":            decision(f.merge),
			"diff/place":            review(f.place),
			"file/why":              review(f.why),
			"commit/why":            review(f.commitWhy),
			"diff/comment":          review(f.comment),
			"diff/dismiss":          review(f.dismiss),
			"approval/list":         quick(f.listApprovals),
			"approval/answer":       quick(f.answerApproval),
			"approval/rules":        quick(f.approvalRules),
			"approval/removeRule":   quick(f.removeApprovalRule),
			"agent/status":          slow(f.agentStatus),
			"agent/environment":     quick(f.agentEnvironment),
			"agent/models":          slow(f.agentModels),
			"agent/chats":           slow(f.agentChats),
			"daemon/join":           quick(f.join),
			"daemon/status":         quick(f.status),
			"daemon/stop":           quick(f.stop),
			"daemon/gc":             slow(f.gc),
			"daemon/backup":         slow(f.backup),
			"daemon/forgetDamaged":  slow(f.forgetDamaged),
			"daemon/reload":         slow(f.reload),
		},
		notified: f.notified,
		client:   f.clientName,
		ended:    f.end,
	}
}

// notificationNames returns the notifications that clients get, sorted.
func notificationNames() []string {
	return []string{"$/logTrace", "approval/changed", "diff/changed", "item/changed", "item/delta", "log/message", "session/changed", "turn/changed"}
}

// methodNames returns the requests that clients may make, sorted.
func methodNames() []string {
	names := slices.Collect(maps.Keys(new(face).table().methods))
	names = append(names, "shutdown") // the dispatcher's
	slices.Sort(names)
	return names
}

// quick makes a method that runs in order.
func quick[P, R any](f func(context.Context, *P) (R, error)) method {
	return typed(inOrder, func(ctx context.Context, p *P, reply func(R, error)) { reply(f(ctx, p)) })
}

// encoded returns a method that replies with encoded JSON, and says that R is its result type, for the schema.
func encoded[R any](m method) method {
	m.result = reflect.TypeFor[R]()
	return m
}

// slow makes a method that runs beside all others.
func slow[P, R any](f func(context.Context, *P) (R, error)) method {
	return typed(concurrent, func(ctx context.Context, p *P, reply func(R, error)) { reply(f(ctx, p)) })
}

// review makes a method that runs in order with the other reviews of its workspace.
func review[P, R any](f func(context.Context, *P) (R, error)) method {
	m := typed(inLane, func(ctx context.Context, p *P, reply func(R, error)) { reply(f(ctx, p)) })
	m.lane = workspaceOf
	return m
}

// decision makes a review that may have to wait for an agent; others do not wait for it.
func decision[P, R any](f func(context.Context, *P, func(R, error))) method {
	m := typed(deferredInLane, f)
	m.lane = workspaceOf
	return m
}

// typed makes a method with parameters P and result R.
func typed[P, R any](o order, f func(context.Context, *P, func(R, error))) method {
	return method{
		order: o, params: reflect.TypeFor[P](), result: reflect.TypeFor[R](),
		serve: func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
			var p P
			if err := DecodeParams(params, &p); err != nil {
				reply(nil, err)
				return
			}
			f(ctx, &p, func(result R, err error) { reply(result, err) })
		},
	}
}

// workspaceOf returns the workspace in params, as it is written there.
func workspaceOf(params json.RawMessage) string {
	name := ""
	if len(params) > 0 && params[0] == '{' {
		for member, value := range jsontext.Value(params).Members() {
			if string(member) == "workspace" {
				name = string(value)
			}
		}
	}
	return name
}

// clientName returns the name that the client gave itself; "" if none.
func (f *face) clientName() string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.name
}

// end closes the connection's subscriptions and its documents.
func (f *face) end() {
	f.mu.Lock()
	subs, news := f.subs, f.news
	f.subs, f.ended = nil, true
	f.mu.Unlock()
	if news != nil {
		news.Stop()
	}
	for _, s := range subs {
		s.close()
	}
	f.d.CloseClient(f.client)
}

// listen has the daemon's own messages sent to the client from now on: those about the workspaces to which it is subscribed, and those about none.
// It is called when the client subscribes or initializes. A script that does neither expects nothing but its answers.
func (f *face) listen() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return
	}
	if f.news == nil {
		f.news = f.d.Messages(f.logMessage)
	}
	for workspace := range f.subs {
		f.news.Follow(workspace)
	}
}

func (f *face) logMessage(level slog.Level, text string) {
	params, err := encode(LogMessage{Level: api.LevelName(level), Message: text})
	if err != nil { // strings can always be encoded
		panic(err)
	}
	// An error means that the connection has ended.
	_ = f.box.send(AppendRequest(nil, nil, "log/message", params))
}
