//go:build unix

package cli

import (
	"debug/buildinfo"
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"
)

// TestStartIsCheap bounds what packages allocate before main, because every command and every editor waits for that.
func TestStartIsCheap(t *testing.T) {
	t.Parallel()
	const mostOfOne, most = 160 << 10, 600 << 10 // bytes
	program, err := exec.LookPath("cursord")
	require.NoError(t, err)
	version := exec.Command(program, "version")
	version.Env = append(version.Environ(), "GODEBUG=inittrace=1")
	var trace strings.Builder
	version.Stderr = &trace
	require.NoError(t, version.Run())
	sum, packages := 0, 0
	for line := range strings.Lines(trace.String()) {
		var name string
		var at, took float64
		var bytes, allocations int
		n, _ := fmt.Sscanf(line, "init %s @%f ms, %f ms clock, %d bytes, %d allocs", &name, &at, &took, &bytes, &allocations)
		if n < 5 {
			continue
		}
		require.Less(t, bytes, mostOfOne, "%s makes something at each start that may wait until it is needed", name)
		sum, packages = sum+bytes, packages+1
	}
	require.Greater(t, packages, 50, "the trace: %s", trace.String())
	require.Less(t, sum, most)

	// From version 0.0.24 on, the package fills a table at each start. That takes 40 ms and allocates nothing.
	info, err := buildinfo.ReadFile(program)
	require.NoError(t, err)
	for _, dep := range info.Deps {
		if dep.Path == "github.com/mattn/go-runewidth" {
			require.Negative(t, semver.Compare(dep.Version, "v0.0.24"), dep.Version)
		}
	}
}
