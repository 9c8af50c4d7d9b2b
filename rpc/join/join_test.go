package join

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/rpc"
)

func TestJoin(t *testing.T) {
	j := startJoin(t)
	// initialize is answered while there is no line yet.
	j.says(askInitialize)
	require.Contains(t, j.hears(), `{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,`)
	j.connect()
	require.Equal(t, `{"jsonrpc":"2.0","id":"`+j.own+`initialize","method":"initialize","params":{"clientInfo":{"name":"me"}}}`, j.asked())

	// Requests and notifications pass as they are; the daemon's own answer to initialize does not.
	odd := `{ "id" : 1e0, "method":"odd\u0021", "params" : [ ] , "more":"ü" }`
	j.says(odd, `{"id":9,"result":"unasked"}`, "not json")
	require.Equal(t, odd, j.asked())
	require.Contains(t, j.hears(), `"id":null,"error":{"code":-32700`)
	j.tells(`{"jsonrpc":"2.0","method":"early"}`, `{"jsonrpc":"2.0","id":"`+j.own+`initialize","result":{}}`, `{"id":1e0,"result":7}`)
	j.hearsAll(`{"jsonrpc":"2.0","method":"early"}`, `{"id":1e0,"result":7}`)

	// The joiner passes the end of the input on, and waits for the last answers.
	j.says(`{"id":2,"method":"x"}`)
	require.Equal(t, `{"id":2,"method":"x"}`, j.asked())
	require.NoError(t, j.in.Close())
	_, err := j.down.Read()
	require.ErrorIs(t, err, io.EOF)
	j.tells(`{"id":2,"result":"last"}`)
	require.NoError(t, j.daemon.Close())
	j.hearsAll(`{"id":2,"result":"last"}`)
	require.True(t, <-j.ended)
}

func TestJoinHeaders(t *testing.T) {
	j := startJoin(t)
	j.connect()
	_, err := io.WriteString(j.in, "content-length: 18\nX: y\n\n{\"method\":\"line\"\n}")
	require.NoError(t, err)
	require.Equal(t, "{\"method\":\"line\"\n}", j.asked())

	j.tells(`{"method":"1"}`)
	client := rpc.NewFrameReader(j.out, rpc.MaxMessage)
	body, err := client.Read()
	require.NoError(t, err)
	require.Equal(t, `{"method":"1"}`, string(body))

	// A header that cannot be read ends the connection, after an error.
	_, err = io.WriteString(j.in, "nonsense\r\n")
	require.NoError(t, err)
	body, err = client.Read()
	require.NoError(t, err)
	require.Contains(t, string(body), `"id":null,"error":{"code":-32700`)
	_, err = j.down.Read()
	require.ErrorIs(t, err, io.EOF)
	require.NoError(t, j.daemon.Close())
	require.False(t, <-j.ended)
}

// TestJoinDeafEditor: what an editor that does not read sends, say a cancel, goes to the daemon.
func TestJoinDeafEditor(t *testing.T) {
	j := startJoin(t)
	j.connect()
	j.says(`{"method":"1"}`)
	j.asked()
	long := `{"method":"` + strings.Repeat("x", 1<<20) + `"}`
	j.tells(long)
	_, err := j.out.Peek(1) // the rest of the message waits for its reader
	require.NoError(t, err)
	j.says(`{"method":"2"}`)
	require.Equal(t, `{"method":"2"}`, j.asked())
	j.hearsAll(long)
}

func TestJoinSkipsWhatIsTooLong(t *testing.T) {
	j := startJoin(t)
	j.connect()
	go func() {
		// This write fails only if the test does.
		_, _ = io.WriteString(j.in, `{"x":"`+strings.Repeat("x", rpc.MaxMessage)+"\"}\n"+`{"method":"after"}`+"\n")
	}()
	require.Equal(t, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"a message over the limit of 16777216 bytes"}}`, j.hears())
	require.Equal(t, `{"method":"after"}`, j.asked())
}

// TestJoinAsksAgain: a daemon ends before it has answered. Repeatable requests go to the next daemon; the others fail with a
// hint at what may have happened.
func TestJoinAsksAgain(t *testing.T) {
	j := startJoin(t)
	j.says(askInitialize)
	j.hears()
	j.connect()
	j.asked()
	again := []string{
		`{"id":10,"method":"session/list"}`,
		`{"id":11,"method":"turn/start","params":{"workspace":"/w","prompt":"p","turnId":"t"}}`,
		`{"id":"12","method":"workspace/trust","params":{"workspace":"/w","trusted":true}}`,
		`{"id":13,"method":"turn/wait","params":{"turnId":"t"}}`,
	}
	never := []string{
		`{"id":20,"method":"turn/start","params":{"workspace":"/w","prompt":"p"}}`,
		`{"id":21,"method":"diff/reject","params":{"workspace":"/w","all":true}}`,
		`{"id":22,"method":"what/ever"}`,
		`{"id":23,"method":"session/list"}`,
	}
	answered := `{"id":30,"method":"session/list"}`
	ending := `{"id":31,"method":"diff/accept","params":{"workspace":"/w","all":true}}`
	j.says(append(append(again, never...), answered, `{"method":"$/cancelRequest","params":{"id":23}}`, ending)...)
	for range len(again) + len(never) + 3 {
		j.asked()
	}
	j.tells(`{"jsonrpc":"2.0","id":30,"result":{"sessions":[]}}`,
		`{"jsonrpc":"2.0","id":31,"error":{"code":-32022,"message":"the daemon is stopping"}}`, // it has done nothing
		`{"jsonrpc":"2.0","id":13,"error":{"code":-32800,"message":"the connection is about to end"}}`)
	j.hearsAll(`{"jsonrpc":"2.0","id":30,"result":{"sessions":[]}}`)
	// The client gets no half message.
	_, err := j.daemon.Write([]byte("Content-Length: 100\r\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"half"))
	require.NoError(t, err)
	require.NoError(t, j.daemon.Close())
	for _, id := range []string{"20", "21", "22"} {
		heard := j.hears()
		require.Contains(t, heard, `"id":`+id+`,"error":{"code":-32022,"message":"the daemon ended before it answered `)
		require.Contains(t, heard, `"kind":"unavailable"`)
		require.Contains(t, heard, `"mayHaveHappened":true`)
	}
	require.Contains(t, j.hears(), `"id":23,"error":{"code":-32800`)

	j.connect()
	j.hearsAll(saysConnected)
	require.Contains(t, j.asked(), `initialize","method":"initialize","params":{"clientInfo":{"name":"me"}}}`)
	for _, want := range append(again[:3:3], ending, again[3]) {
		require.Equal(t, want, j.asked())
	}
	j.tells(`{"jsonrpc":"2.0","id":11,"result":{}}`, `{"jsonrpc":"2.0","id":31,"result":{}}`)
	j.hearsAll(`{"jsonrpc":"2.0","id":11,"result":{}}`, `{"jsonrpc":"2.0","id":31,"result":{}}`)

	// A request that no daemon survives is given up.
	for range maxSent - 2 {
		require.NoError(t, j.daemon.Close())
		j.connect()
		j.hearsAll(saysConnected)
	}
	require.NoError(t, j.daemon.Close())
	require.Contains(t, j.hears(), `"id":10,"error":{"code":-32022`)
}

// TestJoinGoesOn: the next daemon goes on with the subscriptions, documents and texts of the last one.
func TestJoinGoesOn(t *testing.T) {
	changed := func(seq, item string) string {
		return `{"jsonrpc":"2.0","method":"item/changed","params":{"workspace":"/w","seq":` + seq + `,"item":` + item + `}}`
	}
	item := func(id, status, text string) string {
		return `{"id":"` + id + `","turnId":"t","sessionId":"s","workspace":"/w","index":0,"kind":"assistant","status":"` + status + `","text":"` + text + `","startedAt":"2026-01-02T15:04:05.678Z","seq":1}`
	}
	delta := func(id, offset, text string) string {
		return `{"jsonrpc":"2.0","method":"item/delta","params":{"workspace":"/w","sessionId":"s","turnId":"t","itemId":"` + id + `","kind":"assistant","offset":` + offset + `,"text":"` + text + `"}}`
	}
	j := startJoin(t)
	j.connect()
	j.says(`{"id":1,"method":"workspace/subscribe","params":{"workspace":"file:///l","diffs":"summary","odd":[1]}}`,
		`{"id":2,"method":"workspace/subscribe","params":{"workspace":"/empty"}}`,
		`{"id":3,"method":"workspace/subscribe","params":{"workspace":"/seen","after":7,"epoch":"e"}}`,
		`{"id":4,"method":"workspace/subscribe","params":{"workspace":"/left","after":7}}`,
		`{"id":5,"method":"workspace/unsubscribe","params":{"workspace":"/left"}}`,
		`{"method":"$/setTrace","params":{"value":"messages"}}`,
		`{"method":"document/didOpen","params":{"uri":"file:///w/a","version":1,"text":"one"}}`,
		`{"method":"document/didOpen","params":{"uri":"file:///w/b","version":1,"text":"one"}}`,
		`{"method":"document/didOpen","params":{"uri":"file:///w/c","version":1,"text":"one"}}`,
		`{"method":"document/didChange","params":{"uri":"file:///w/a","version":3,"text":"three"}}`,
		`{"method":"document/didChange","params":{"uri":"file:///w/a","version":2,"text":"two"}}`,
		`{"method":"document/didChange","params":{"uri":"file:///w/b","version":2,"text":"two"}}`,
		`{"method":"document/didSave","params":{"uri":"file:///w/b"}}`,
		`{"method":"document/didClose","params":{"uri":"file:///w/%63"}}`)
	for range 14 {
		j.asked()
	}
	told := []string{
		`{"jsonrpc":"2.0","id":1,"result":{"workspace":"/w","seq":3,"epoch":"e","reset":false}}`,
		`{"jsonrpc":"2.0","id":2,"result":{"workspace":"/empty","seq":9,"epoch":"e","reset":false}}`,
		`{"jsonrpc":"2.0","id":3,"result":{"workspace":"/seen","seq":9,"epoch":"e","reset":false}}`,
		`{"jsonrpc":"2.0","id":4,"result":{"workspace":"/left","seq":9,"epoch":"e","reset":false}}`,
		`{"jsonrpc":"2.0","id":5,"result":{}}`,
		`{"jsonrpc":"2.0","method":"session/changed","params":{"workspace":"/w","seq":11,"session":{"id":"s"}}}`,
		changed("12", item("t:1", "running", "")), delta("t:1", "0", `g\u00fcn`), delta("t:1", "4", "stig"),
		changed("13", item("t:2", "running", "")), delta("t:2", "0", "two"),
		changed("14", item("t:3", "running", "thr")),
		changed("15", item("t:4", "running", "")), delta("t:4", "0", "four"), changed("16", item("t:4", "completed", "four")),
	}
	j.tells(told...)
	j.hearsAll(told...)
	require.NoError(t, j.daemon.Close())
	j.connect()
	j.hearsAll(saysConnected)

	require.JSONEq(t, `{"jsonrpc":"2.0","method":"$/setTrace","params":{"value":"messages"}}`, j.asked())
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"document/didOpen","params":{"uri":"file:///w/a","version":3,"text":"three"}}`, j.asked())
	require.JSONEq(t, `{"jsonrpc":"2.0","method":"document/didOpen","params":{"uri":"file:///w/b","version":2,"text":"two","saved":true}}`, j.asked())
	again := map[string]string{}
	var ids []string
	for range 3 {
		var m struct {
			ID     string
			Method string
			Params json.RawMessage
		}
		require.NoError(t, json.Unmarshal([]byte(j.asked()), &m))
		require.Equal(t, "workspace/subscribe", m.Method)
		var p struct{ Workspace string }
		require.NoError(t, json.Unmarshal(m.Params, &p))
		again[p.Workspace] = string(m.Params)
		ids = append(ids, m.ID)
	}
	require.JSONEq(t, `{"workspace":"/w","diffs":"summary","odd":[1],"after":16,"epoch":"e"}`, again["/w"])
	require.JSONEq(t, `{"workspace":"/empty"}`, again["/empty"])
	require.JSONEq(t, `{"workspace":"/seen","after":7,"epoch":"e"}`, again["/seen"])
	j.tells(`{"jsonrpc":"2.0","id":"` + ids[0] + `","result":{"workspace":"x","seq":20,"epoch":"e","reset":false}}`)

	// A text that has grown meanwhile comes as a delta, for clients that append; a shorter text comes alone.
	more := []string{changed("17", item("t:1", "running", "günstiger")), delta("t:1", "10", " Preis"), changed("18", item("t:2", "cancelled", "tw")), delta("t:3", "3", "ee")}
	j.tells(more...)
	require.JSONEq(t, delta("t:1", "8", "er"), j.hears())
	j.hearsAll(more...)

	// With another database the client's state is wrong.
	j.tells(`{"jsonrpc":"2.0","id":"` + ids[1] + `","result":{"workspace":"x","seq":1,"epoch":"f","reset":true}}`)
	require.Contains(t, j.hears(), `"level":"error","message":"the daemon's database was replaced: restart the client`)
	require.False(t, <-j.ended)
}

// TestJoinFillsInParts: an item grows by much while there is no daemon.
func TestJoinFillsInParts(t *testing.T) {
	changed := func(seq int, status, text string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","method":"item/changed","params":{"workspace":"/w","seq":%d,"item":{"id":"t:1","turnId":"t","sessionId":"s","workspace":"/w","index":1,"kind":"assistant","status":"%s","text":"%s","startedAt":"2026-01-02T15:04:05.678Z","seq":1}}}`, seq, status, text)
	}
	j := startJoin(t)
	j.connect()
	j.says(`{"method":"initialized"}`)
	j.asked()
	j.tells(changed(1, "running", "some"))
	j.hears()
	require.NoError(t, j.daemon.Close())
	j.connect()
	j.hearsAll(saysConnected)
	rest := strings.Repeat("x", 5) + strings.Repeat("é", api.MaxDelta) // characters cross the ends of parts
	last := changed(2, "completed", "some"+rest)
	go j.tells(last)
	text := "some"
	for i, size := range []int{api.MaxDelta - 1, api.MaxDelta, 6} {
		var m struct {
			Method string
			Params rpc.DeltaParams
		}
		require.NoError(t, json.Unmarshal([]byte(j.hears()), &m))
		require.Equal(t, "item/delta", m.Method)
		require.Equal(t, len(text), m.Params.Offset)
		require.Len(t, m.Params.Text, size, "part %d", i)
		text += m.Params.Text
	}
	require.True(t, "some"+rest == text)
	require.Equal(t, last, j.hears())
}

// TestJoinMeetsAReplacedDaemon: the first daemon gives way at once.
func TestJoinMeetsAReplacedDaemon(t *testing.T) {
	j := startJoin(t)
	j.says(`{"id":1,"method":"diff/reject","params":{"workspace":"/w","all":true}}`)
	conn, old := pair(t)
	j.dials <- dialed{conn: conn}
	body, err := rpc.NewFrameReader(old, rpc.HardCap).Read()
	require.NoError(t, err)
	var hello struct{ ID json.RawMessage }
	require.NoError(t, json.Unmarshal(body, &hello))
	_, err = old.Write(rpc.AppendFrame(nil, rpc.FramingHeaders, rpc.AppendResponse(nil, hello.ID, json.RawMessage(`{"replaced":"now"}`), nil)))
	require.NoError(t, err)
	require.NoError(t, old.Close())
	// It had no requests, so none fails.
	j.connect()
	require.Equal(t, `{"id":1,"method":"diff/reject","params":{"workspace":"/w","all":true}}`, j.asked())
}

func TestJoinWithoutDaemon(t *testing.T) {
	j := startJoin(t)
	for range quickTries {
		j.dials <- dialed{err: errors.New("no room <here>")}
	}
	j.says(askInitialize)
	require.Contains(t, j.hears(), `"id":1,"result":{"protocolVersion":1,`)
	require.Contains(t, j.hears(), `"method":"log/message","params":{"level":"error"`)
	for range quickTries {
		<-j.dialed
	}
	// Each request makes a new try; the same error is not logged again. A request that comes just before the joiner gives up is refused
	// without one, and the next try is the joiner's own.
	j.says(`{"id":"a","method":"diff/reject"}`)
	heard := make(chan string, 1)
	go func() { heard <- j.hears() }()
	var refused string
	for refused == "" {
		select {
		case <-j.dialed:
			j.dials <- dialed{err: errors.New("no room <here>")}
		case refused = <-heard:
		}
	}
	var answer struct {
		ID    string
		Error rpc.Error
	}
	require.NoError(t, json.Unmarshal([]byte(refused), &answer))
	require.Equal(t, "a", answer.ID)
	require.Equal(t, "no room <here>", answer.Error.Message)
	require.Equal(t, rpc.CodeUnavailable, answer.Error.Code)
	require.False(t, *answer.Error.Data.MayHaveHappened)
	// The next request finds a daemon.
	j.says(`{"id":"b","method":"diff/reject"}`)
	j.connect()
	j.hearsAll(saysConnected)
	require.Contains(t, j.asked(), `"method":"initialize"`)
	require.Equal(t, `{"id":"b","method":"diff/reject"}`, j.asked())
}

func TestJoinEndsWithoutDaemon(t *testing.T) {
	j := startJoin(t)
	for range quickTries {
		j.dials <- dialed{err: errors.New("no room")}
	}
	j.says(`{"id":1,"result":{}}`, `{"id":2,"method":"shutdown"}`, `{"method":"exit"}`)
	var heard []string
	for range 2 {
		heard = append(heard, j.hears())
	}
	require.Contains(t, heard, `{"jsonrpc":"2.0","id":2,"result":null}`)
	require.False(t, <-j.ended)
}

// TestJoinShutsDown ends like a language server, whether the client's or the daemon's end is seen first.
func TestJoinShutsDown(t *testing.T) {
	for _, early := range []bool{false, true} {
		j := startJoin(t)
		j.connect()
		j.says(`{"id":2,"method":"shutdown"}`)
		j.asked()
		j.tells(`{"jsonrpc":"2.0","id":2,"result":null}`)
		j.hearsAll(`{"jsonrpc":"2.0","id":2,"result":null}`)
		if early {
			require.NoError(t, j.daemon.Close())
		}
		j.says(`{"method":"exit"}`)
		if !early {
			require.Equal(t, `{"method":"exit"}`, j.asked())
			require.NoError(t, j.daemon.Close())
		}
		require.True(t, <-j.ended)
	}
}
