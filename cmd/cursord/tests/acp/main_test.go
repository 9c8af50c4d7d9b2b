//go:build unix

package acp

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) { world.Main(m, nil) }
