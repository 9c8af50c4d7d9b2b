//go:build unix

package agentruns

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) {
	world.Main(m, map[string]func(){"borrow-connection": borrowConnection, "connect-and-exit": connectAndExit})
}
