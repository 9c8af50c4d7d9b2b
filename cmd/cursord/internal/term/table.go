package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

// Table prints rows in columns, the first row as their heading. The last column is as wide as it likes. On a terminal no line is
// wider than that: the flexible columns are cut, those named first before the others, and what is too wide then ends early.
func Table(w io.Writer, rows [][]string, flexible ...int) {
	p := PaletteOf(w)
	for n, line := range layout(rows, Columns(w), flexible) {
		if n == 0 {
			line = p.Dim(line)
		}
		fmt.Fprintln(w, line)
	}
}

// Columns returns how many cells a line of the terminal w has; 0 where w is none, or does not say.
func Columns(w io.Writer) int {
	if f, ok := w.(*os.File); ok && IsTerminal(w) {
		if columns, _, known := ScreenSize(f); known {
			return columns
		}
	}
	return 0
}

const (
	gap       = 2  // cells between columns
	leastCell = 10 // cells that a flexible column keeps
)

// layout returns the lines of a table, of at most room cells; 0 is without a limit.
func layout(rows [][]string, room int, flexible []int) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], Width(cell))
		}
	}
	over := -gap - room
	for _, width := range widths {
		over += width + gap
	}
	for _, i := range flexible {
		if less := min(over, widths[i]-leastCell); room > 0 && less > 0 {
			widths[i] -= less
			over -= less
		}
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if cell = Fit(cell, widths[i]); i == len(row)-1 {
				line.WriteString(cell)
				continue
			}
			line.WriteString(cell + strings.Repeat(" ", max(widths[i]-Width(cell), 0)+gap))
		}
		lines[n] = strings.TrimRight(line.String(), " ")
		if room > 0 {
			lines[n] = strings.TrimRight(Fit(lines[n], room), " ")
		}
	}
	return lines
}

// Ago says how long before now t was, and the date of what is older than a month.
func Ago(t, now time.Time) string {
	d := now.Sub(t)
	switch {
	case d < time.Second:
		return "now"
	case d < time.Minute:
		return fmt.Sprintf("%d s ago", d/time.Second)
	case d < time.Hour:
		return fmt.Sprintf("%d min ago", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h ago", d/time.Hour)
	case d < 31*24*time.Hour:
		return fmt.Sprintf("%d days ago", d/(24*time.Hour))
	}
	return t.Local().Format(time.DateOnly)
}

// Tokens says how many there are, in at most five cells below 10^12.
func Tokens(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprint(n)
	case n < 1_000_000:
		return fmt.Sprintf("%dk", n/1000)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.1fM", float64(n/100_000)/10)
	}
	return fmt.Sprintf("%dM", n/1_000_000)
}

// Size says how many bytes there are.
func Size(n int64) string {
	const unit = 1 << 10
	v, names := float64(n), []string{"bytes", "KiB", "MiB", "GiB", "TiB"}
	i := 0
	for ; v >= unit && i < len(names)-1; i++ {
		v /= unit
	}
	if i == 0 {
		return fmt.Sprintf("%d bytes", n)
	}
	return fmt.Sprintf("%.1f %s", v, names[i])
}

// Span says how long d is, in its two largest units.
func Span(d time.Duration) string {
	switch d = d.Round(time.Second); {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%d days %d h", d/(24*time.Hour), d%(24*time.Hour)/time.Hour)
	case d >= time.Hour:
		return fmt.Sprintf("%d h %d min", d/time.Hour, d%time.Hour/time.Minute)
	case d >= time.Minute:
		return fmt.Sprintf("%d min %d s", d/time.Minute, d%time.Minute/time.Second)
	}
	return fmt.Sprintf("%d s", d/time.Second)
}
