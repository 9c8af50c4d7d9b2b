// Package exportfile reads the files that "cursord export --format ndjson" writes: a header, the session, each turn followed
// by its items in order, what the session has written in files and was told of decisions, and an end with the numbers of turns
// and items, each as JSON on a line. It refuses a file that was cut off, changed or written by hand, and names the wrong line. It
// returns a session in which nothing runs, as if it had ended when it was exported.
package exportfile

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"unicode/utf8"

	"cursord/agent/plaintext"
	"cursord/daemon/api"
	"cursord/sessions"
)

// Version is the version in the header of a file.
const Version = 1

// A Line is a line of a file: a session, a turn or an item. If a turn or an item has no end time, its start time is used.
type Line struct {
	Session *sessions.Session // only in the first Line
	Turn    *sessions.Turn
	Item    *sessions.Item // belongs to the turn before
	Written *api.WrittenFile
	Told    *api.Told
	Size    int // bytes
}

// Read calls take for the session, each turn and each item of a file; it also checks the header and the end. Its errors are
// api.Errors about the parameter path. An error of take ends it: an api.Error is returned unchanged, any other with the
// number of the line.
func Read(ctx context.Context, f io.Reader, take func(Line) error) error {
	r := reader{take: take, lines: bufio.NewReaderSize(f, 1<<20)}
	for {
		if ctx.Err() != nil {
			return &api.Error{Kind: api.KindCancelled, Message: "cancelled"}
		}
		line, whole, err := readLine(r.lines)
		if err == io.EOF {
			return r.ended()
		}
		r.n++
		if err == nil {
			err = r.line(line, whole)
		}
		if e := (*api.Error)(nil); err != nil && !errors.As(err, &e) {
			return api.Invalid("path", "line %d: %v", r.n, err)
		}
		if err != nil {
			return err
		}
	}
}

type reader struct {
	take  func(Line) error
	lines *bufio.Reader
	n     int            // the line's number, from 1
	has   api.ExportEnd  // the turns and items read so far
	end   *api.ExportEnd // the numbers in the file's end
	turn  string         // the turn whose items follow
	next  int            // the lowest index for its next item
}

func (r *reader) line(line []byte, whole bool) error {
	if r.end != nil {
		return errors.New("the file continues after the end of the session: a file has one session")
	}
	if whole && !utf8.Valid(line) {
		return errors.New("not UTF-8")
	}
	if r.n == 1 {
		return header(line)
	}
	var l api.ExportLine
	if err := json.Unmarshal(line, &l); err != nil && !whole {
		return cutOff(r.has, "the file is cut off in line %d", r.n)
	} else if err != nil {
		return err
	}
	switch {
	case r.n == 2 && l.Session != nil:
		return r.take(Line{Session: l.Session, Size: len(line)})
	case r.n == 2 || l.Session != nil:
		return errors.New("the session must be the second line, and only there")
	case l.Turn != nil:
		r.turn, r.next = l.Turn.ID, 0
		r.has.Turns++
		if err := settleTurn(l.Turn); err != nil {
			return err
		}
		return r.take(Line{Turn: l.Turn, Size: len(line)})
	case l.Item != nil:
		if l.Item.TurnID != r.turn || r.turn == "" || l.Item.Index < r.next {
			return fmt.Errorf("item %q does not follow its turn and the items before it", l.Item.ID)
		}
		r.next = l.Item.Index + 1
		r.has.Items++
		if err := settleItem(l.Item); err != nil {
			return err
		}
		return r.take(Line{Item: l.Item, Size: len(line)})
	case l.Written != nil:
		return r.take(Line{Written: l.Written, Size: len(line)})
	case l.Told != nil:
		return r.take(Line{Told: l.Told, Size: len(line)})
	case l.End != nil:
		r.end = l.End
	}
	return nil // a later version may have written it
}

func header(line []byte) error {
	var h api.ExportHeader
	if json.Unmarshal(line, &h) != nil || h.Cursord != "session" {
		return errors.New(`not a file from "cursord export --format ndjson"`)
	}
	if h.Version != Version {
		return fmt.Errorf("version %d of the format; this cursord reads version %d", h.Version, Version)
	}
	return nil
}

// ended returns an error if turns or items are missing.
func (r *reader) ended() error {
	switch {
	case r.n < 2:
		return api.Invalid("path", "the file ends before the session")
	case r.end == nil:
		return cutOff(r.has, "the file has no end: it was cut off after %s and %s", plaintext.Count(r.has.Turns, "turn"), plaintext.Count(r.has.Items, "item"))
	case *r.end != r.has:
		return cutOff(r.has, "lines are missing: the file has %s and %s, and had %d and %d",
			plaintext.Count(r.has.Turns, "turn"), plaintext.Count(r.has.Items, "item"), r.end.Turns, r.end.Items)
	}
	return nil
}

// settleTurn ends a turn that was exported while it ran. It returns an error for a turn that cannot exist.
func settleTurn(t *sessions.Turn) error {
	switch t.Status {
	case sessions.TurnQueued, sessions.TurnRunning: // exported while it ran
		t.Status, t.Background = sessions.TurnInterrupted, nil
	case sessions.TurnCompleted, sessions.TurnFailed, sessions.TurnCancelled, sessions.TurnInterrupted:
	default:
		return fmt.Errorf("%q is not a turn's status", t.Status)
	}
	t.Waiting = false
	if t.EndedAt == nil {
		t.EndedAt = &t.CreatedAt
	}
	return nil
}

// settleItem does the same with an item.
func settleItem(it *sessions.Item) error {
	switch it.Kind {
	case sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemPlan, sessions.ItemNotice:
		it.Tool = nil
	case sessions.ItemTool:
		if it.Tool == nil {
			return errors.New("a tool call without a tool")
		}
	default:
		return fmt.Errorf("%q is no kind of item", it.Kind)
	}
	switch it.Status {
	case sessions.ItemRunning: // exported while it ran
		it.Status = sessions.ItemCancelled
	case sessions.ItemCompleted, sessions.ItemFailed, sessions.ItemRejected, sessions.ItemCancelled:
	default:
		return fmt.Errorf("%q is not an item's status", it.Status)
	}
	if it.EndedAt == nil {
		it.EndedAt = &it.StartedAt
	}
	if it.Index < 0 || it.Index >= math.MaxInt32 {
		return fmt.Errorf("%d is no index", it.Index)
	}
	return nil
}
