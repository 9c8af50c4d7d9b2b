//go:build unix

package scenarios

import (
	"testing"

	"cursord/cmd/cursord/tests/world"
)

func TestMain(m *testing.M) { world.Main(m, nil) }
