package chat

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/term"
)

// TestTerminalDrawsAfterEachLoan takes the terminal away and gives it back, again and again. Each time the prompt must be drawn again, and
// lines above it.
func TestTerminalDrawsAfterEachLoan(t *testing.T) {
	t.Parallel()
	in, typed, err := os.Pipe()
	require.NoError(t, err)
	defer in.Close()
	defer typed.Close()
	shown, out, err := os.Pipe()
	require.NoError(t, err)
	defer shown.Close()
	defer out.Close()
	f, events := newFeed(), make(chan event, workMost)
	p := newPrompt(f, events, term.Palette(false), openHistory(""), func(string) (int, []string) { return 0, nil })
	tm := openTerminal(t.Context(), in, out, f, p)
	screen := bufio.NewReader(shown)
	for i := range 50 {
		line := fmt.Sprintf("line %d", i)
		fmt.Fprintln(f, line)
		for {
			text, err := screen.ReadString('\n')
			require.NoError(t, err)
			if strings.Contains(text, line) {
				break
			}
		}
		f.post(againMsg{})
		require.Equal(t, returns, (<-events).kind)
	}
	go func() { _, _ = io.Copy(io.Discard, screen) }()
	tm.close()
	require.NoError(t, tm.err)
}
