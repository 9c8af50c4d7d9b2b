package agent

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/process"
)

// TestStillAmong chooses the commands in the background that still ran at the run's end.
func TestStillAmong(t *testing.T) {
	runs := func(pid, parent int, line string) process.Member {
		return process.Member{ID: pid + 1000, Parent: parent + 1000, Group: 10, Inner: pid, Line: line}
	}
	dev, watch := behind{what: "npm run dev"}, behind{what: "make\twatch"}
	numbered := behind{what: "sleep 7", pid: 7}
	for _, tt := range []struct {
		name     string
		commands []behind
		running  []process.Member
		want     string
	}{
		{"nothing is seen to run", []behind{dev, watch, numbered}, nil, "npm run dev; make\twatch; sleep 7"},
		{"one does, in its shell", []behind{dev, watch}, []process.Member{runs(20, 10, "bash -c npm run dev"), runs(21, 20, "node x")}, "npm run dev"},
		{"beside a server of the agent's", []behind{dev, watch}, []process.Member{runs(20, 10, "bash -c make watch"), runs(30, 10, "mcp")}, "make\twatch"},
		{"a shell became it", []behind{dev, {what: "cd x && make watch"}}, []process.Member{runs(20, 10, "make watch"), runs(21, 20, "cc")}, "cd x && make watch"},
		{"it cannot be told", []behind{dev, watch}, []process.Member{runs(20, 10, "node server.js")}, "npm run dev; make\twatch"},
		{"by its number", []behind{dev, numbered}, []process.Member{runs(7, 10, "sh -c x")}, "sleep 7"},
		{"another has its text", []behind{dev, numbered}, []process.Member{runs(8, 10, "sleep 7"), runs(9, 10, "npm run dev")}, "npm run dev"},
		{"a part of a word", []behind{watch}, []process.Member{runs(20, 10, "ke")}, "make\twatch"},
	} {
		require.Equal(t, tt.want, strings.Join(whats(stillAmong(tt.commands, tt.running)), "; "), tt.name)
	}
}
