package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"strings"

	"cursord/daemon"
	"cursord/daemon/api"
	"cursord/daemon/endpoint"
)

// personal are the methods that no agent's process may call, in three groups: methods that decide what agents have done, may do or are told by
// a person; methods that end the daemon, or remove or copy what it has stored; and session/import, agent/environment and daemon/reload, by which
// an agent could choose where or with what later turns run.
var personal = []string{
	"diff/accept", "diff/reject", "diff/undo", "diff/redo", "diff/dismiss", "workspace/trust", "session/update", "session/delete", "session/rewind",
	"turn/steer", "attempt/check", "attempt/drop", "approval/answer", "approval/removeRule", "diff/comment", "session/import", "agent/environment",
	"daemon/stop", "daemon/gc", "daemon/backup", "daemon/forgetDamaged", "daemon/reload",
}

const (
	personalMessage = api.AgentsMessage
	personalHint    = api.AgentsHint
	unknownMessage  = "the process that connected has ended, or cannot be identified, and an agent is running that may have started it"
	unknownHint     = "connect from a process that lives until it has its answer, in a terminal or an editor that no agent has started"
)

// personalParams are the parameters by which an agent's process could let another agent do as it likes.
var personalParams = map[string]refusal{
	"force":      {message: personalMessage, hint: personalHint, except: "false"},
	"sandbox":    {message: personalMessage, hint: personalHint, except: `"enabled"`},
	"autoReview": {message: personalMessage, hint: personalHint, except: "false"},
	"addDirs":    {message: personalMessage, hint: personalHint, except: "[]"},
	"attempt":    {message: personalMessage, hint: personalHint}, // a check may do what the person may
	"rewind":     {message: personalMessage, hint: personalHint, except: `""`},
}

// callerOf returns who made a connection; nil: a person's process.
func callerOf(d *daemon.Daemon, c net.Conn) *api.Caller {
	if traced, ok := c.(tracedConn); ok {
		c = traced.Conn
	}
	return d.CallerOf(c)
}

// countsAsAgent returns a function that reports whether a caller counts as an agent's now; agents reports whether any agent runs. An unknown
// caller counts as one if an agent ran when it connected, or runs now.
func countsAsAgent(c api.Caller, agents func() bool) func() bool {
	always := !c.Unknown || agents() // the agent may end before its request is served
	return func() bool { return always || agents() }
}

// agent returns the process of an agent that has made the connection; nil: a person's has, as far as is known now.
func (f *face) agent() *api.Caller {
	if f.caller == nil || !f.countsAsAgent() {
		return nil
	}
	return f.caller
}

// mayReplace returns an error if an agent's process asks the daemon to become its program.
func (f *face) mayReplace(b endpoint.Build, program string) error {
	if program == "" || !f.d.OlderThan(b) || f.agent() == nil {
		return nil
	}
	e := api.Invalid("program", "an agent started this process, and agents must not replace the daemon")
	e.Hint = "run any command of the newer cursord (cursord status) in a terminal that no agent has started"
	return e
}

// forAgent returns the table for a process of an agent. It refuses what agents must not do while counts reports that the process counts as an
// agent's.
func (t table) forAgent(c api.Caller, counts func() bool, log *slog.Logger) table {
	message, hint := personalMessage, personalHint
	if c.Unknown {
		message, hint = unknownMessage, unknownHint
	}
	guard := func(name string, refuse func(json.RawMessage) error) {
		m := t.methods[name]
		serve := m.serve
		m.serve = func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
			if err := refuse(params); err != nil && counts() {
				log.Warn("refused to a process of an agent", "method", name, "pid", c.PID)
				reply(nil, err)
				return
			}
			serve(ctx, params, reply)
		}
		t.methods[name] = m
	}
	for _, name := range personal {
		guard(name, func(json.RawMessage) error { return &api.Error{Kind: api.KindInvalid, Message: message, Hint: hint} })
	}
	for _, name := range []string{"turn/start", "session/create"} {
		guard(name, func(params json.RawMessage) error { return refused(params, personalParams) })
	}
	if notified := t.notified; notified != nil {
		t.notified = func(name string, params json.RawMessage) {
			if strings.HasPrefix(name, "document/") && counts() { // a document's text counts as typed by a person
				log.Warn("ignored from a process of an agent", "method", name, "pid", c.PID)
				return
			}
			notified(name, params)
		}
	}
	return t
}
