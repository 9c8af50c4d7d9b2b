package typing

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// fake returns a Pause, the functions that its timers would call, and for each pause that has begun whether the person has typed.
func fake(t *testing.T) (p *Pause, due *[]func(), pauses *[]bool) {
	due, pauses = new([]func()), new([]bool)
	return &Pause{Wait: time.Second, Begun: func(typed bool) { *pauses = append(*pauses, typed) }, After: func(d time.Duration, f func()) *time.Timer {
		require.Equal(t, time.Second, d)
		*due = append(*due, f)
		return nil
	}}, due, pauses
}

// TestPause: each sign begins the wait anew, also where the timer of the one before has run out already.
func TestPause(t *testing.T) {
	t.Parallel()
	p, due, pauses := fake(t)
	require.False(t, p.Busy())
	p.Typed()
	p.Sign()
	(*due)[0]()
	require.True(t, p.Busy())
	require.Empty(t, *pauses)
	(*due)[1]()
	require.False(t, p.Busy())
	require.Equal(t, []bool{true}, *pauses)
	p.Sign()
	(*due)[2]()
	require.Equal(t, []bool{true, false}, *pauses)
}

// TestNothingComesAboveAPopup: what waits comes one by one: after the popup that is open has its answer, and a pause.
func TestNothingComesAboveAPopup(t *testing.T) {
	t.Parallel()
	p, due, _ := fake(t)
	var came []string
	popup := func(name string) func() {
		return func() {
			came = append(came, name)
			p.Open()
		}
	}
	for _, name := range []string{"first", "second", "third"} {
		p.Later(popup(name))
	}
	p.Sign()
	(*due)[0]()
	require.Equal(t, []string{"first"}, came, "an open popup counts, however long it is open")
	p.Close()
	require.Equal(t, []string{"first"}, came, "its answer is a sign of the person")
	(*due)[1]()
	require.Equal(t, []string{"first", "second"}, came)
	p.Close()
	(*due)[2]()
	require.Equal(t, []string{"first", "second", "third"}, came)
}

// TestShows tells what a person causes from what an editor asks by itself.
func TestShows(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		method, params string
		want           bool
	}{
		{"workspace/executeCommand", `{}`, true}, {"textDocument/hover", `{}`, true}, {"textDocument/didSave", `{}`, true},
		{"textDocument/codeAction", `{"context":{"triggerKind":1}}`, true}, {"textDocument/codeAction", `{"context":{}}`, true},
		{"textDocument/codeAction", `{"context":{"triggerKind":2}}`, false}, {"textDocument/inlayHint", `{}`, false},
		{"textDocument/didChange", `{}`, false}, {"textDocument/diagnostic", `{}`, false}, {"", ``, false},
	} {
		require.Equal(t, one.want, Shows(one.method, json.RawMessage(one.params)), "%s %s", one.method, one.params)
	}
}
