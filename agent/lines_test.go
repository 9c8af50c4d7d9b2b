package agent

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestLongLines reads lines with lengths around those of the buffer, of one piece, of several, and of the limit.
func TestLongLines(t *testing.T) {
	const buffer, limit = 64 << 10, 3*pieceSize + 10
	text := strings.Repeat("0123456789abcde ", limit/16+2)
	var in strings.Builder
	var sizes []int
	for _, around := range []int{1, buffer, 2 * buffer, pieceSize, 2 * pieceSize, 3 * pieceSize, limit} {
		for off := -1; off <= 2; off++ {
			sizes = append(sizes, around+off, 3)
			in.WriteString(text[:around+off] + "\n" + text[:3] + "\r\n")
		}
	}
	in.WriteString(text[:limit-1]) // has no newline
	lines := newLineReader(strings.NewReader(in.String()), limit)
	for _, size := range sizes {
		line, skipped, err := lines.next()
		require.NoError(t, err)
		if size > limit {
			require.Empty(t, line)
			require.EqualValues(t, size+1, skipped)
			continue
		}
		require.Zero(t, skipped)
		require.True(t, text[:size] == string(bytes.TrimRight(line, "\r\n")), "a line of %d bytes came with %d", size, len(line))
	}
	line, skipped, err := lines.next()
	require.Equal(t, io.EOF, err)
	require.Zero(t, skipped)
	require.True(t, text[:limit-1] == string(line))
	line, _, err = lines.next()
	require.Equal(t, io.EOF, err)
	require.Empty(t, line)
}

// TestSkippedLineIsNotKept: the skipped part of a line takes no memory.
func TestSkippedLineIsNotKept(t *testing.T) {
	lines := newLineReader(io.MultiReader(strings.NewReader(strings.Repeat("x", 9*pieceSize)), strings.NewReader("\nnext\n")), 4*pieceSize)
	_, skipped, err := lines.next()
	require.NoError(t, err)
	require.EqualValues(t, 9*pieceSize+1, skipped)
	require.Len(t, lines.pieces, 1)
	line, _, err := lines.next()
	require.NoError(t, err)
	require.Equal(t, "next\n", string(line))
}

// TestADeadlineThatPassesBeforeTheRead has the deadline of an ended agent's pipe pass again and again, as on a machine where each read begins
// late. What the agent has written is read all the same.
func TestADeadlineThatPassesBeforeTheRead(t *testing.T) {
	for range 20 {
		in, out, err := os.Pipe()
		require.NoError(t, err)
		text := strings.Repeat("x", 40<<10)
		_, err = out.WriteString(text)
		require.NoError(t, err)
		ended := make(chan struct{})
		var late sync.WaitGroup
		for range 4 {
			late.Go(func() {
				for {
					select {
					case <-ended:
						return
					default:
						in.SetReadDeadline(time.Unix(1, 0))
					}
				}
			})
		}
		got, err := io.ReadAll(&pipeReader{file: in, budget: maxDrain})
		close(ended)
		late.Wait()
		require.ErrorIs(t, err, os.ErrDeadlineExceeded, "the other end is open")
		require.Len(t, got, len(text))
		require.NoError(t, out.Close())
		require.NoError(t, in.Close())
	}
}
