package rpc

import (
	"context"
	"encoding/json"
	"log/slog"
	"net"
	"strings"

	"cursord/daemon"
	"cursord/daemon/api"
)

// personal are the methods that decide about what agents did or may do, and those that would end the daemon or hide its
// findings.
var personal = []string{
	"diff/accept", "diff/reject", "diff/undo", "diff/redo", "diff/dismiss", "workspace/trust", "session/update", "session/delete", "session/rewind",
	"turn/steer", "approval/answer", "approval/removeRule",
	"daemon/stop", "daemon/gc", "daemon/forgetDamaged", "daemon/reload",
}

const (
	personalMessage = "an agent started this process, and agents must not decide about their own work"
	personalHint    = "do it in a terminal or an editor that no agent has started"
)

// personalParams are the parameters by which an agent's process could let another agent do as it likes.
var personalParams = map[string]refusal{
	"force":      {message: personalMessage, hint: personalHint, except: "false"},
	"sandbox":    {message: personalMessage, hint: personalHint, except: `"enabled"`},
	"autoReview": {message: personalMessage, hint: personalHint, except: "false"},
	"addDirs":    {message: personalMessage, hint: personalHint, except: "[]"},
}

// agentOf returns the process at the other end of a connection if an agent has started it; otherwise 0.
func agentOf(d *daemon.Daemon, c net.Conn) int {
	if traced, ok := c.(tracedConn); ok {
		c = traced.Conn
	}
	return d.OfAgent(c)
}

// forAgent returns the table for a process that an agent has started.
func (t table) forAgent(pid int, log *slog.Logger) table {
	for _, name := range personal {
		m := t.methods[name]
		m.serve = func(_ context.Context, _ json.RawMessage, reply func(any, error)) {
			log.Warn("refused to a process of an agent", "method", name, "pid", pid)
			reply(nil, &api.Error{Kind: api.KindInvalid, Message: personalMessage, Hint: personalHint})
		}
		t.methods[name] = m
	}
	m := t.methods["turn/start"]
	serve := m.serve
	m.serve = func(ctx context.Context, params json.RawMessage, reply func(any, error)) {
		if err := refused(params, []map[string]refusal{personalParams}); err != nil {
			log.Warn("refused to a process of an agent", "method", "turn/start", "pid", pid)
			reply(nil, err)
			return
		}
		serve(ctx, params, reply)
	}
	t.methods["turn/start"] = m
	if notified := t.notified; notified != nil {
		t.notified = func(name string, params json.RawMessage) {
			if strings.HasPrefix(name, "document/") { // a document's text counts as typed by a person
				log.Warn("ignored from a process of an agent", "method", name, "pid", pid)
				return
			}
			notified(name, params)
		}
	}
	return t
}
