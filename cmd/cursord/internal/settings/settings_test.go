package settings

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

// TestModelWarning names the nearest model for one that the agent does not list.
func TestModelWarning(t *testing.T) {
	t.Parallel()
	models := []api.Model{{ID: "auto"}, {ID: "fake-large"}}
	require.Empty(t, modelWarning("fake-large", models))
	require.Equal(t, "cursord: the agent lists no model \"fake-lrge\"; did you mean fake-large? (cursord models lists them)\n", modelWarning("fake-lrge", models))
	require.Equal(t, "cursord: the agent lists no model \"nope\" (cursord models lists them)\n", modelWarning("nope", models))
}
