package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Waiting plays a turn that has said all and waits for a server, in a world that lets it.
func (w *World) Waiting() {
	w.Put("../config.toml", "background = \"wait\"\n")
	w.Plays(InitLine,
		`{"type":"tool_call","subtype":"completed","call_id":"s","tool_call":{"shellToolCall":{"args":{"command":"npm run dev"},"result":{"isBackground":true,"success":{}}}}}`,
		Says("Up.", ""), `{"fake":"hang"}`)
}

// TestNvimTellsWhatATurnWaitsFor shows in Neovim that a turn only waits, and since when it is silent.
func TestNvimTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	eachNvim(t, func(t *testing.T, bin string) {
		w := New(t)
		w.Waiting()
		w.Start()
		w.Trusts()
		n := w.neovim(t, bin, "", "f")
		n.ex("Cursord ask go")
		n.until("the wait", "return require('cursord').statusline() == 'cursord: waiting for 1 background command'")
		n.untilScreen("## Cursor waiting for 1 backgr")
		n.lua("require('cursord.quiet').after = 0; require('cursord.quiet').tick()")
		n.until("the silence", "return vim.startswith(vim.g.cursord_status, 'waiting for 1 background command, no output for 0m ')")
		n.ex("Cursord cancel")
		n.until("the end", "return require('cursord').statusline() == ''")
		require.Equal(t, "", n.lua("return vim.v.errmsg"))
	})
}

// TestEmacsTellsWhatATurnWaitsFor is the same in Emacs.
func TestEmacsTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	eachEmacs(t, func(t *testing.T, bin string) {
		w := New(t)
		w.Waiting()
		w.Start()
		c := w.Opens()
		e := w.emacs(t, bin, emacsKeeps)
		e.eval(`(progn (cursord-workspace-open) nil)`)
		e.until("the subscription", `(cursord-workspace-ready (cursord-workspace-find))`)
		turn := c.Asks(nil)
		e.until("the wait", `(equal (cursord-lighter) " cu[waiting for 1 background command]")`)
		e.until("the silence", `(let ((cursord-quiet-after 0)) (string-prefix-p " cu[waiting for 1 background command, no output for 0m " (cursord-lighter)))`)
		require.Regexp(t, `  waiting for 1 background command$`, e.eval(`(substring-no-properties (cursord--heading (car (cursord-busy-turns (cursord-workspace-find)))))`))
		c.Must("turn/cancel", Obj{"turnId": turn.ID}, nil)
		e.until("the end", `(equal (cursord-lighter) " cu")`)
	})
}

// TestLSPTellsWhatATurnWaitsFor is the same in an editor's progress.
func TestLSPTellsWhatATurnWaitsFor(t *testing.T) {
	t.Parallel()
	w := New(t)
	w.Waiting()
	w.trusted()
	c := w.lsp(LSPCapabilities(), nil)
	c.does("cursord.ask", "go")
	c.hears("$/progress", "waiting for 1 background command")
	c.does("cursord.cancel")
	c.hears("$/progress", `"end"`, "cancelled")
}
