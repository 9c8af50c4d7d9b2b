package chat

import (
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/charmbracelet/x/ansi"
)

// A frame is what Bubble Tea has drawn of the prompt. When a window becomes narrower, most terminals break each line that no longer fits into
// several rows. Bubble Tea does not know of these rows, so its next drawing would begin below the first ones of the last drawing, which
// would then stay.
type frame struct {
	breaks bool // the terminal breaks lines

	mu    sync.Mutex
	view  above // guarded by mu; of the last View
	drawn above // guarded by mu; of what is on the screen
	up    int   // guarded by mu; how many rows the next drawing must begin higher
}

// above is what is above and before the cursor.
type above struct {
	widths []int // of lines, in columns
	column int   // of the cursor
}

func (f *frame) viewed(lines []string, column int) {
	v := above{column: column}
	for _, line := range lines {
		v.widths = append(v.widths, ansi.StringWidth(line))
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.view = v
}

func (f *frame) resized(columns int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.breaks && columns > 0 {
		f.up = f.drawn.more(columns)
	}
}

// more returns how many rows are added if no row has more than some columns.
func (a above) more(columns int) (rows int) {
	for _, width := range a.widths {
		rows += max(width-1, 0) / columns
	}
	return rows + a.column/columns
}

// draws returns what to write before the next drawing.
func (f *frame) draws() (first string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.up > 0 {
		first = fmt.Sprintf("\x1b[%dA", f.up)
	}
	f.drawn, f.up = f.view, 0
	return first
}

// breaksLines reports whether the terminal is known to break lines anew when its width changes. xterm and the console of Linux cut them off: there
// the rows above would be lost.
func breaksLines() bool {
	return slices.ContainsFunc([]string{
		"TMUX", "VTE_VERSION", "KITTY_WINDOW_ID", "ALACRITTY_WINDOW_ID", "KONSOLE_VERSION", "WEZTERM_PANE", "GHOSTTY_RESOURCES_DIR", "ITERM_SESSION_ID", "WT_SESSION",
	}, func(name string) bool { return os.Getenv(name) != "" }) || os.Getenv("TERM_PROGRAM") == "vscode" || os.Getenv("TERM") == "foot"
}
