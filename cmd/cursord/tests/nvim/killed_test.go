//go:build unix

package nvim

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// TestNvimThatWasKilledHoldsNoFile: while a Neovim without the plugin has a file, a person may save it without a report. The swap file
// that it leaves when it is killed says nothing more.
func TestNvimThatWasKilledHoldsNoFile(t *testing.T) {
	t.Parallel()
	anNvim(t, func(t *testing.T, bin string) {
		w := world.New(t)
		w.Put("f", "one\n")
		w.Start()
		e := w.Opens()
		nvim := exec.Command(bin, "-u", "NONE", "-i", "NONE", "--headless", "--cmd", "set directory=.", "f", "-c", "call setline(1, 'typed')", "-c", "preserve")
		nvim.Dir, nvim.Env = w.Root, w.Env()
		require.NoError(t, nvim.Start())
		kill := func() {
			_ = nvim.Process.Kill() // it may have ended
			_ = nvim.Wait()
		}
		t.Cleanup(kill)
		require.True(t, world.Comes(world.Patience, func() bool {
			info, err := os.Stat(w.Path(".f.swp"))
			return err == nil && info.Size() > 0
		}), "its swap file")
		for _, via := range []string{"unknown", "shell"} {
			w.Plays(world.Lines(world.Shells("s", "echo x >>f"))...)
			e.Turn(nil)
			require.Equal(t, []string{via}, world.Vias(e.Diffs()["f"]))
			e.Decides("diff/accept", world.Obj{"all": true})
			kill()
		}
		require.FileExists(t, w.Path(".f.swp"))
	})
}
