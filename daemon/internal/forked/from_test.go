package forked

import (
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
	"cursord/sessions"
)

// TestFromRefusesOtherTurns: a rewind that a person has agreed to once took turns back that came after the question.
func TestFromRefusesOtherTurns(t *testing.T) {
	all := []*sessions.Turn{{ID: "c"}, {ID: "b"}, {ID: "a"}}
	page := func(_, before string, _ int) ([]*sessions.Turn, bool, error) {
		if before == "" {
			return all[:2], true, nil
		}
		return all[2:], false, nil
	}
	for _, last := range []string{"", "c"} {
		ids, _, err := From(page, "s", "a", last)
		require.NoError(t, err)
		require.Equal(t, []string{"a", "b", "c"}, ids)
	}
	for _, last := range []string{"b", "a", "gone"} {
		var refused *api.Error
		_, _, err := From(page, "s", "a", last)
		require.ErrorAs(t, err, &refused)
		require.Equal(t, api.KindConflict, refused.Kind)
	}
}
