//go:build unix

package authorship

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestCancelledEditThatHadWritten: an edit writes its file before the daemon has read that it began, and is cancelled. The change is the edit's.
func TestCancelledEditThatHadWritten(t *testing.T) {
	t.Parallel()
	w := world.New(t)
	w.Put("f", "one\ntwo\n")
	w.Plays(world.InitLine, world.Execs("sleep 0.1; printf 'one\\nTWO\\n' >f; touch ../written"), world.Waits("said"), `{"fake":"script","path":"more"}`)
	w.Start()
	e := w.Opens()
	turn := e.Asks(nil)
	w.Exists("../written")
	info, err := os.Stat(w.Path("f"))
	require.NoError(t, err)
	begun := strings.Replace(world.Started("1", `{"editToolCall":{"args":{"path":"{{cwd}}/f"}}}`), "{{now_ms}}", fmt.Sprint(info.ModTime().UnixMilli()-20), 1)
	w.Put("../more", begun+"\n"+world.Waits("never")+"\n")
	w.Put("../said", "")
	e.Calls(turn.ID)
	e.Must("turn/cancel", world.Obj{"turnId": turn.ID}, nil)
	e.Ends(turn.ID)
	require.Equal(t, []string{"edit"}, world.Vias(e.Diffs()["f"]))
	e.Decides("diff/reject", world.Obj{"all": true})
	require.Equal(t, "one\ntwo\n", w.Get("f"))
}
