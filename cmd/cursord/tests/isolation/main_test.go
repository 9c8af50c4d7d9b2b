//go:build unix

package isolation

import (
	"strings"
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Installed = true
	world.Main(m, nil)
}

// bothKinds plays a test with sessions on overlays and with copies.
func bothKinds(t *testing.T, play func(t *testing.T)) {
	t.Parallel()
	for _, kind := range []string{"overlay", "copy"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			play(t)
		})
	}
}

// newWorld makes a world for the kind of trees that the test's name has.
func newWorld(t *testing.T) *world.World {
	w := world.New(t)
	w.Overlays = strings.Contains(t.Name(), "/overlay")
	return w
}
