//go:build unix

package authorship

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Installed = true
	world.Main(m, nil)
}
