package rpc

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestChatLost: a recap helps after a turn that began without the chat, until one has come to a good end with it.
func TestChatLost(t *testing.T) {
	lost := func(turn string) *sessions.Item {
		return &sessions.Item{TurnID: turn, Kind: sessions.ItemNotice, Reason: sessions.ReasonChatLost}
	}
	turn := func(id string, status sessions.TurnStatus) *sessions.Turn {
		return &sessions.Turn{ID: id, Status: status}
	}
	for name, test := range map[string]struct {
		page api.Transcript
		want bool
	}{
		"no turn":                  {api.Transcript{}, false},
		"none lost":                {api.Transcript{Turns: []*sessions.Turn{turn("1", sessions.TurnCompleted)}, Items: []*sessions.Item{{TurnID: "1"}}}, false},
		"lost in the last turn":    {api.Transcript{Turns: []*sessions.Turn{turn("1", sessions.TurnCompleted)}, Items: []*sessions.Item{lost("1")}}, true},
		"a good turn since":        {api.Transcript{Turns: []*sessions.Turn{turn("1", sessions.TurnFailed), turn("2", sessions.TurnCompleted)}, Items: []*sessions.Item{lost("1")}}, false},
		"a turn that failed since": {api.Transcript{Turns: []*sessions.Turn{turn("1", sessions.TurnCompleted), turn("2", sessions.TurnFailed)}, Items: []*sessions.Item{lost("1")}}, true},
	} {
		require.Equal(t, test.want, ChatLost(&test.page), name)
	}
}
