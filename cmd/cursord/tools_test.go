//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// TestClientsKnowToolsThatWrite: a client that has never heard of a tool shows its calls without what they did to their files.
func TestClientsKnowToolsThatWrite(t *testing.T) {
	t.Parallel()
	var missing, shown []string
	for file, code := range map[string]string{ // where the names are
		"editors/acp/updates/tools.go":       `(?s)\nvar kinds = .*?\n}\n`,
		"editors/acp/updates/diffs.go":       `(?s)\nfunc \(s \*Session\) reported\(.*?\n}\n`,
		"cmd/cursord/internal/view/brief.go": `(?s)\nfunc editsFile\(.*?\n}\n`,
		"editors/nvim/lua/cursord/tools.lua": `(?s)\nlocal function success\(.*?\nend\n`,
		"editors/emacs/cursord-edits.el":     `(?s)\n\(defun cursord--edit-success .*?\n\n`,
	} {
		names := regexp.MustCompile(code).FindString(world.ReadPage(t, file))
		require.NotEmpty(t, names, "%s has no such part any more: %s", file, code)
		for _, name := range agent.ToolNames() {
			if agent.WritesOf(name) == agent.WritesNamed && !regexp.MustCompile(`["']`+name+`["']`).MatchString(names) {
				missing = append(missing, fmt.Sprintf("%s does not know the tool %q, which writes the files that it names", file, name))
				shown = append(shown, names)
			}
		}
	}
	slices.Sort(missing)
	require.Empty(t, missing, "add it here:\n%s", strings.Join(slices.Compact(shown), "\n"))
}

// TestTypesOfNeovim: what types.lua says of an object of the protocol is there, so that luacheck and language servers tell the truth.
func TestTypesOfNeovim(t *testing.T) {
	t.Parallel()
	type object struct {
		Properties map[string]any
		AnyOf      []struct {
			Ref string `json:"$ref"`
		}
	}
	var schema struct {
		Defs map[string]object `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(rpc.Schema, &schema))
	members := func(of object) map[string]any {
		all := maps.Clone(of.Properties)
		for _, form := range of.AnyOf {
			if all == nil {
				all = map[string]any{}
			}
			maps.Copy(all, schema.Defs[strings.TrimPrefix(form.Ref, "#/$defs/")].Properties)
		}
		return all
	}
	class, checked := "", 0
	for line := range strings.Lines(world.ReadPage(t, "editors/nvim/lua/cursord/types.lua")) {
		if name, is := strings.CutPrefix(line, "--- @class cursord."); is {
			class = strings.Fields(name)[0]
			continue
		}
		name, is := strings.CutPrefix(line, "--- @field ")
		known := members(schema.Defs[class])
		if !is || known == nil || strings.Contains(line, "set by this plugin") {
			continue
		}
		name = strings.TrimSuffix(strings.Fields(name)[0], "?")
		if checked++; known[name] == nil {
			t.Errorf("editors/nvim/lua/cursord/types.lua: a %s of the protocol has no member %s; if the plugin sets it, say so", class, name)
		}
	}
	require.Greater(t, checked, 80)
}
