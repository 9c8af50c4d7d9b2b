package agent

import (
	"context"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"

	"cursord/agent/program"
)

func TestMain(m *testing.M) {
	if bin := os.Getenv("AGENT_TEST_RUNS"); bin != "" {
		// Here the test binary is a daemon that the test kills.
		out := NewLauncher(program.LoadBuilds(nil, nil)).Run(context.Background(), Request{Bin: bin, Dir: os.Getenv("AGENT_TEST_DIR")}, func([]Event) {})
		fmt.Println(out.Status)
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}
