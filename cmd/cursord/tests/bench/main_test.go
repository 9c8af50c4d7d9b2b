//go:build unix

package bench

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Main(m, map[string]func(){"bare-relay": bareRelay, "fake-acp": fakeACP})
}
