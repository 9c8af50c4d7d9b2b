// Command checkedclient is a client for "cursord check-client": a right one without an argument, and with one it makes a mistake.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"

	"cursord/daemon/api"
	"cursord/daemon/endpoint"
	"cursord/rpc"
	"cursord/sessions"
)

// A client keeps the map of objects that PROTOCOL.md tells of.
type client struct {
	mistake   string
	workspace string
	conn      io.Writer
	rpc       *rpc.Client

	mu    sync.Mutex
	seq   uint64
	epoch string
	turns map[string]*sessions.Turn
	items map[string]*sessions.Item
	diffs map[string]*sessions.Diff
}

func main() {
	c := &client{}
	if len(os.Args) > 1 {
		c.mistake = os.Args[1]
	}
	c.empty()
	err := c.run(context.Background())
	c.report()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (c *client) empty() {
	c.turns, c.items, c.diffs = map[string]*sessions.Turn{}, map[string]*sessions.Item{}, map[string]*sessions.Diff{}
}

func (c *client) run(ctx context.Context) error {
	var err error
	if c.workspace, err = os.Getwd(); err != nil {
		return err
	}
	unsaved := os.Getenv("CURSORD_CHECK") == "unsaved"
	for connection := 0; ; connection++ {
		err := c.connect(ctx, connection)
		if err == nil && unsaved {
			err = c.opens()
		}
		if err == nil {
			err = c.turn(ctx, connection)
		}
		if !errors.Is(err, rpc.ErrClosed) {
			if err == nil && unsaved {
				err = c.decide(ctx)
			}
			if err == nil {
				_, err = c.rpc.DaemonStatus(ctx) // what was sent before has arrived
			}
			return err
		}
		if c.mistake == "ends" {
			return nil
		}
	}
}

// dial connects to the socket or, if that is asked for, by "cursord stdio".
func (c *client) dial(ctx context.Context) (io.ReadWriteCloser, error) {
	if c.mistake != "by stdio" {
		return endpoint.Dial(ctx, os.Getenv("CURSORD_SOCKET"))
	}
	cmd := exec.CommandContext(ctx, "cursord", "stdio")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.WriteCloser
	}{out, in}, cmd.Start()
}

// connect connects and subscribes from where the client is.
func (c *client) connect(ctx context.Context, connection int) error {
	conn, err := c.dial(ctx)
	if err != nil {
		return err
	}
	c.conn = conn
	c.rpc = rpc.NewClient(conn, c.notified)
	p := rpc.SubscribeParams{Workspace: c.workspace}
	c.mu.Lock()
	if connection > 0 {
		after := c.seq
		if c.mistake == "ahead" {
			after += 1000
		}
		p.After, p.Epoch = &after, c.epoch
		for _, item := range c.items {
			if item.Status == sessions.ItemRunning {
				item.Text = ""
			}
		}
	}
	switch c.mistake {
	case "no after":
		p.After = nil
	case "no epoch":
		p.Epoch = ""
	}
	c.mu.Unlock()
	var s api.Subscribed
	if err := c.rpc.Call(ctx, "workspace/subscribe", p, &s); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.epoch = s.Epoch
	// Where the database is empty nothing follows that would be dropped here.
	if s.Reset && c.mistake != "no reset" {
		c.empty()
		c.seq = 0
	}
	return nil
}

// turn starts the turn, unless it was started, and waits for its end.
func (c *client) turn(ctx context.Context, connection int) error {
	start := rpc.TurnStartParams{Workspace: c.workspace, TurnID: "the-turn", Prompt: "Greet friendlier."}
	if c.mistake == "again" {
		start.TurnID = fmt.Sprint("turn-", connection)
	}
	if connection == 0 || c.mistake == "again" {
		if _, err := c.rpc.TurnStart(ctx, start); err != nil {
			return err
		}
	}
	switch c.mistake {
	case "leaves":
		os.Exit(0) // at once: what it would still wait for could come after the turn's end
	case "unknown method":
		_ = c.rpc.Call(ctx, "turn/sing", rpc.TurnParams{TurnID: start.TurnID}, nil)
	case "wrong parameter":
		_ = c.rpc.Call(ctx, "turn/cancel", map[string]any{"turnId": 5}, nil)
	case "not open":
		_ = c.rpc.Notify("document/didClose", rpc.DidCloseParams{URI: "file://" + c.workspace + "/greeting.txt"})
	case "impatient":
		for _, id := range []string{"a", "b"} {
			request := fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":"turn/wait","params":{"turnId":%q}}`, id, start.TurnID)
			if _, err := c.conn.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, []byte(request))); err != nil {
				return err
			}
		}
	}
	_, err := c.rpc.TurnWait(ctx, rpc.TurnParams{TurnID: start.TurnID})
	return err
}

func (c *client) notified(method string, params json.RawMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	var p struct {
		Seq  uint64
		Turn *sessions.Turn
		Item *sessions.Item
		Diff *sessions.Diff
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	c.seq = max(c.seq, p.Seq)
	switch method {
	case "turn/changed":
		c.turns[p.Turn.ID] = p.Turn
	case "item/changed":
		if c.mistake == "strict" && p.Item.Kind == "song" {
			os.Exit(3)
		}
		c.items[p.Item.ID] = p.Item
	case "diff/changed":
		c.diffs[p.Diff.Path] = p.Diff
	case "item/delta":
		var d rpc.DeltaParams
		if json.Unmarshal(params, &d) == nil && c.items[d.ItemID] != nil {
			c.items[d.ItemID].Text += d.Text
		}
	}
}

func (c *client) uri() string { return "file://" + c.workspace + "/greeting.txt" }

// opens has a file open, as it is.
func (c *client) opens() error {
	text := "hello\n"
	return c.rpc.Notify("document/didOpen", rpc.DidOpenParams{URI: c.uri(), Version: 1, Text: &text})
}

// decide reads the file again, which the agent has changed, types a line, saves nothing, and rejects the agent's line.
func (c *client) decide(ctx context.Context) error {
	disk, err := os.ReadFile("greeting.txt")
	if err != nil {
		return err
	}
	text := string(disk)
	if err := c.change(2, text); err != nil {
		return err
	}
	text += "mine\n"
	if err := c.change(3, text); err != nil {
		return err
	}
	list, err := c.rpc.DiffList(ctx, rpc.DiffParams{Workspace: c.workspace, Path: "greeting.txt"})
	if err != nil {
		return err
	}
	reject := rpc.DecideParams{Workspace: c.workspace, Path: "greeting.txt", Rev: &list.Diffs[0].Rev}
	if c.mistake == "no rev" {
		reject.Rev = nil
	}
	rejected, err := c.rpc.DiffReject(ctx, reject)
	if err != nil || c.mistake == "no edits" {
		return err
	}
	if text = edit(text, rejected.Edits); text != "hello\nmine\n" {
		return fmt.Errorf("the text is %q", text)
	}
	switch c.mistake {
	case "other text":
		return c.change(4, text+"!")
	case "version":
		return c.change(3, text)
	}
	return c.change(4, text)
}

func (c *client) change(version int, text string) error {
	return c.rpc.Notify("document/didChange", rpc.DidChangeParams{URI: c.uri(), Version: version, Text: text})
}

// edit makes edits, which are of whole lines.
func edit(text string, edits []api.DocumentEdits) string {
	lines := strings.SplitAfter(text, "\n")
	for _, e := range edits[0].Edits {
		lines = append(append(append([]string{}, lines[:e.Range.Start.Line]...), e.NewText), lines[e.Range.End.Line:]...)
	}
	return strings.Join(lines, "")
}

// report writes what the client holds.
func (c *client) report() {
	c.mu.Lock()
	defer c.mu.Unlock()
	turns, items, diffs := map[string]string{}, map[string]string{}, map[string]uint64{}
	for id, turn := range c.turns {
		turns[id] = string(turn.Status)
	}
	for id, item := range c.items {
		if item.Kind != sessions.ItemTool {
			items[id] = item.Text
		}
	}
	for path, diff := range c.diffs {
		if diff.State == "pending" {
			diffs[path] = diff.Rev
		}
	}
	raw, err := json.Marshal(map[string]any{"turns": turns, "items": items, "diffs": diffs})
	if err == nil {
		err = os.WriteFile(filepath.Clean(os.Getenv("CURSORD_CHECK_STATE")), raw, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}
