//go:build unix

package acp

import (
	"encoding/json"
	"strings"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
	"cursord/sessions"
)

// turnsOf returns a session's turns, the latest first.
func turnsOf(w *world.World, session string) []*sessions.Turn {
	w.T.Helper()
	var list rpc.TurnList
	e := w.Joins()
	defer e.Client.Close()
	e.Must("turn/list", world.Obj{"sessionId": session}, &list)
	require.NotEmpty(w.T, list.Turns)
	return list.Turns
}

// An update is what is used of session/update.
type update struct {
	SessionID string
	Update    struct {
		SessionUpdate string
		Content       json.RawMessage
		MessageID     string
		ToolCallID    string
		Title         string
		Kind          string
		Status        string
		Locations     []struct {
			Path string
			Line int
		}
		Entries       []struct{ Content, Status string }
		ConfigOptions []option
		Used          int
	}
}

type option struct {
	ID, Type     string
	CurrentValue any
	Options      []struct{ Value string }
}

// text is the text of a chunk.
func (u update) text() string {
	var block struct{ Text string }
	_ = json.Unmarshal(u.Update.Content, &block)
	return block.Text
}

// goesThrough sends a prompt whose turn comes to its end, and returns the session's updates up to the answer.
func (c *client) goesThrough(session, text string) []update {
	c.t.Helper()
	mark := c.mark()
	id := c.asks(session, text)
	require.Equal(c.t, "end_turn", c.stops(id))
	return c.updates(session, mark, id)
}

// updates returns a session's updates from mark on, up to the answer to a request if that is not "".
func (c *client) updates(session string, mark int, until string) (all []update) {
	c.t.Helper()
	for _, m := range c.all()[mark:] {
		if until != "" && m.IsResponse() && string(m.ID) == until {
			break
		}
		if m.Method != "session/update" {
			continue
		}
		var u update
		require.NoError(c.t, json.Unmarshal(m.Params, &u))
		if u.SessionID == session {
			all = append(all, u)
		}
	}
	return all
}

// said joins the chunks of one kind.
func said(all []update, kind string) string {
	var b strings.Builder
	for _, u := range all {
		if u.Update.SessionUpdate == kind {
			b.WriteString(u.text())
		}
	}
	return b.String()
}
