//go:build unix

package review

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Installed = true
	world.Main(m, nil)
}
