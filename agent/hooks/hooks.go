// Package hooks finds the programs that the agent runs by itself around its tool calls: Cursor's hooks, and Claude's,
// which the agent runs too.
package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// A Hook is a program that the agent runs at certain moments of a turn.
type Hook struct {
	File      string // the file that configures it
	Event     string // the moment, in File's words
	Command   string // cut to 200 bytes
	AfterEdit bool   // it runs after an edit, and may change what the edit wrote
}

// A Set is what the agent's configuration says about hooks.
type Set struct {
	Any        bool // there are hooks
	AfterEdit  bool // some of them run after an edit
	Hooks      []Hook
	Unreadable []Unreadable
}

// Unreadable is a file that may configure hooks but cannot be understood. It counts as a file without hooks.
type Unreadable struct {
	File string
	Err  error
}

const (
	maxHooks   = 200 // of one file; others count but are not listed
	maxCommand = 200
)

// runsAfterEdits reports whether hooks of an event run after an edit. Cursor's names begin with a small letter, Claude's
// with a capital one.
func runsAfterEdits(event string) bool {
	return strings.EqualFold(event, "afterFileEdit") || strings.EqualFold(event, "postToolUse")
}

// parse reads the hooks of Cursor's hooks.json or of Claude's settings:
//
//	{"hooks": {"afterFileEdit": [{"command": "gofmt -w"}]}}
//	{"hooks": {"PostToolUse": [{"matcher": "Edit", "hooks": [{"type": "command", "command": "gofmt -w"}]}]}}
//
// Values of any other form are no hooks. Only a file that is no JSON object is an error.
func parse(file string, data []byte) (list []Hook, err error) {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, nil
	}
	var top struct {
		Hooks json.RawMessage `json:"hooks"`
	}
	if err := json.Unmarshal(data, &top); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("it is not JSON: %w", err)
		}
		return nil, errors.New("it is not a JSON object")
	}
	var events map[string]json.RawMessage
	if json.Unmarshal(top.Hooks, &events) != nil {
		return nil, nil
	}
	for event, raw := range events {
		for _, command := range commands(raw, true) {
			list = append(list, Hook{File: file, Event: event, Command: command, AfterEdit: runsAfterEdits(event)})
		}
	}
	slices.SortStableFunc(list, func(a, b Hook) int { return strings.Compare(a.Event, b.Event) })
	return list, nil
}

// commands returns the programs in a list of hooks, and in the groups of hooks in it.
func commands(raw json.RawMessage, groups bool) (all []string) {
	var entries []json.RawMessage
	if json.Unmarshal(raw, &entries) != nil {
		return nil
	}
	for _, raw := range entries {
		var entry struct {
			Type    any             `json:"type"`
			Command any             `json:"command"`
			Hooks   json.RawMessage `json:"hooks"`
		}
		if json.Unmarshal(raw, &entry) != nil {
			continue
		}
		if command, ok := entry.Command.(string); ok && strings.TrimSpace(command) != "" && (entry.Type == nil || entry.Type == "command") {
			all = append(all, cut(command))
		}
		if groups {
			all = append(all, commands(entry.Hooks, false)...)
		}
	}
	return all
}

func cut(command string) string {
	if len(command) <= maxCommand {
		return command
	}
	return strings.ToValidUTF8(command[:maxCommand], "") + "…"
}
