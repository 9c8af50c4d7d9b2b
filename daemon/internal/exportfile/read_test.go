package exportfile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

const (
	head    = `{"cursord":"session","version":1}`
	session = `{"session":{"id":"s","mode":"agent"}}`
	turn    = `{"turn":{"id":"t","mode":"agent","status":"completed"}}`
	item    = `{"item":{"id":"t.0","turnId":"t","index":0,"kind":"assistant","status":"completed","text":"hello"}}`
	call    = `{"item":{"id":"t.3","turnId":"t","index":3,"kind":"tool","status":"running","tool":{"name":"shell"}}}`
)

func end(turns, items int) string {
	return fmt.Sprintf(`{"end":{"turns":%d,"items":%d}}`, turns, items)
}

func file(lines ...string) string { return strings.Join(lines, "\n") + "\n" }

func TestRead(t *testing.T) {
	for _, test := range []struct {
		name, text, want string // the error; "" for none
	}{
		{"whole", file(head, session, turn, item, call, end(1, 2)), ""},
		{"without the last line's end", strings.TrimSuffix(file(head, session, end(0, 0)), "\n"), ""},
		{"blank lines", file("", head, " ", session, "", turn, end(1, 0), ""), ""},
		{"lines of a later version", file(head, session, `{"remark":1}`, turn, end(1, 0)), ""},
		{"empty", "", "path: the file ends before the session"},
		{"another file", file(`{"a":1}`), `path: line 1: not a file from "cursord export --format ndjson"`},
		{"another format", file(`{"cursord":"session","version":2}`), "path: line 1: version 2 of the format; this cursord reads version 1"},
		{"no session", file(head), "path: the file ends before the session"},
		{"no session first", file(head, turn), "path: line 2: the session must be the second line, and only there"},
		{"two sessions", file(head, session, session), "path: line 3: the session must be the second line, and only there"},
		{"no end", file(head, session, turn, item), "path: the file has no end: it was cut off after 1 turn and 1 item"},
		{"cut off", file(head, session, turn) + item[:20], "path: the file is cut off in line 4"},
		{"lines are missing", file(head, session, turn, end(1, 1)), "path: lines are missing: the file has 1 turn and 0 items, and had 1 and 1"},
		{"more behind the end", file(head, session, end(0, 0), turn), "path: line 4: the file continues after the end of the session: a file has one session"},
		{"an item without a turn", file(head, session, item), `path: line 3: item "t.0" does not follow its turn and the items before it`},
		{"items out of order", file(head, session, turn, call, item), `path: line 5: item "t.0" does not follow its turn and the items before it`},
		{"no JSON", file(head, session, "{"), "path: line 3: unexpected end of JSON input"},
		{"not UTF-8", file(head, session, "{\"turn\":\"\xff\"}"), "path: line 3: not UTF-8"},
		{"a status", file(head, session, strings.Replace(turn, "completed", "merry", 1)), `path: line 3: "merry" is not a turn's status`},
		{"a kind", file(head, session, turn, strings.Replace(item, "assistant", "song", 1)), `path: line 4: "song" is no kind of item`},
		{"an item's status", file(head, session, turn, strings.Replace(item, "completed", "merry", 1)), `path: line 4: "merry" is not an item's status`},
		{"a call without a tool", file(head, session, turn, strings.Replace(item, "assistant", "tool", 1)), "path: line 4: a tool call without a tool"},
		{"an index", file(head, session, turn, strings.Replace(item, `"index":0`, `"index":2147483647`, 1)), "path: line 4: 2147483647 is no index"},
	} {
		err := Read(t.Context(), strings.NewReader(test.text), func(Line) error { return nil })
		if test.want == "" {
			require.NoError(t, err, test.name)
			continue
		}
		require.EqualError(t, err, test.want, test.name)
		var e *api.Error
		require.ErrorAs(t, err, &e, test.name)
		require.Equal(t, "path", e.Field)
	}
}

// TestNothingRunsInAFile: an import ends everything that ran at the export.
func TestNothingRunsInAFile(t *testing.T) {
	running := strings.Replace(turn, "completed", "running", 1)
	var lines []Line
	require.NoError(t, Read(t.Context(), strings.NewReader(file(head, session, running, call, end(1, 1))), func(l Line) error {
		lines = append(lines, l)
		return nil
	}))
	require.Len(t, lines, 3)
	require.Equal(t, "s", lines[0].Session.ID)
	require.Equal(t, sessions.TurnInterrupted, lines[1].Turn.Status)
	require.NotNil(t, lines[1].Turn.EndedAt)
	require.Equal(t, len(running), lines[1].Size)
	require.Equal(t, sessions.ItemCancelled, lines[2].Item.Status)
	require.NotNil(t, lines[2].Item.EndedAt)
}

// TestErrorsOfTake returns errors for people unchanged, and others with their line.
func TestErrorsOfTake(t *testing.T) {
	read := func(err error) error {
		return Read(t.Context(), strings.NewReader(file(head, session, turn, end(1, 0))), func(l Line) error {
			if l.Turn == nil {
				return nil
			}
			return err
		})
	}
	require.EqualError(t, read(errors.New("comes twice")), "path: line 3: comes twice")
	full := &api.Error{Kind: api.KindStorage, Message: "no room"}
	require.Same(t, full, read(full))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var e *api.Error
	require.ErrorAs(t, Read(ctx, strings.NewReader(file(head)), nil), &e)
	require.Equal(t, api.KindCancelled, e.Kind)
}

// TestCutFilesSayHowToTakeThemIn cuts a file at each byte: the rest is refused, and accepted with the line of the hint.
func TestCutFilesSayHowToTakeThemIn(t *testing.T) {
	whole := file(head, session, turn, item, call, end(1, 2))
	behind := len(file(head, session))
	for n := range len(whole) - 1 { // only the last line feed may be missing
		err := Read(t.Context(), strings.NewReader(whole[:n]), func(Line) error { return nil })
		require.Error(t, err, "cut at %d", n)
		var e *api.Error
		require.ErrorAs(t, err, &e)
		_, line, ok := strings.Cut(e.Hint, "let the last line be ")
		if n <= behind || !ok {
			continue
		}
		lines, last := whole[:strings.LastIndexByte(whole[:n], '\n')+1], whole[strings.LastIndexByte(whole[:n], '\n')+1:n]
		if json.Valid([]byte(last)) {
			lines += last + "\n"
		}
		require.NoError(t, Read(t.Context(), strings.NewReader(lines+line), func(Line) error { return nil }), "cut at %d, %s", n, line)
	}
}
