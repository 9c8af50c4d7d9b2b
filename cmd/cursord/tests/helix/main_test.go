//go:build unix

package helix

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Installed = true
	world.Main(m, nil)
}
