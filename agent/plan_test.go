package agent

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/agent/jsontext"
)

// TestPlanText has all that a plan says, and nothing twice.
func TestPlanText(t *testing.T) {
	t.Parallel()
	for args, want := range map[string]string{
		`{}`: "", `null`: "", `{"plan":" \n"}`: "", `{"plan":"1. a\n"}`: "1. a\n", `{"overview":"why","plan":"\n"}`: "why", `{"todos":[{"content":"a"}]}`: "- a",
		`{"plan":"1. why, a","overview":"why","todos":[{"content":"a"},{"content":""}]}`:                              "1. why, a",
		`{"plan":"1. a","overview":"why","todos":[{"content":"a"},{"content":"b"},{"title":"c"}]}`:                    "why\n\n1. a\n\n- b\n- c",
		`{"plan":"x","phases":[{"name":"One","todos":[{"content":"b"}]},{"todos":[{"content":"c"}]},{"name":"x"},7]}`: "x\n\nOne\n- b\n\n- c",
		`{"plan":"x","todos":"y","phases":{}}`:                                                                        "x",
	} {
		require.Equal(t, want, PlanText(jsontext.Value(args).Object(nil)), args)
	}
}
