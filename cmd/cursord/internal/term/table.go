package term

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
)

// Table prints rows in columns, the first row as the heading. On a terminal lines that are too wide are shortened: first the
// flexible columns, in the given order, then the last column if it has paths, which keep their ends, and then the columns
// before the last one, which stays as long as it has room.
func Table(w io.Writer, rows [][]string, flexible ...int) {
	p := PaletteOf(w)
	for n, line := range layout(rows, Columns(w), flexible) {
		if n == 0 {
			line = p.Dim(line)
		}
		fmt.Fprintln(w, line)
	}
}

// Columns returns the width of the terminal w in cells; 0 if w is no terminal, or its width is unknown.
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
	leastCell = 10 // the least width of a flexible column, in cells
	mostCell  = 80 // the greatest one without a terminal; a cell that is wider moves the rest of its line
)

// layout returns the lines of a table, at most room cells wide; 0 means no limit.
func layout(rows [][]string, room int, flexible []int) []string {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width := Width(cell)
			if room == 0 && slices.Contains(flexible, i) {
				width = min(width, mostCell)
			}
			widths[i] = max(widths[i], width)
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
	last := len(widths) - 1
	if less := min(over, widths[last]-leastCell); room > 0 && less > 0 && hasPaths(rows, last) {
		widths[last] -= less
		over -= less
	}
	lines := make([]string, len(rows))
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row {
			if i == last {
				break
			}
			if room > 0 {
				cell = Fit(cell, widths[i])
			}
			line.WriteString(cell + strings.Repeat(" ", max(widths[i]-Width(cell), 0)+gap))
		}
		before, cell := line.String(), row[last]
		if room > 0 && strings.HasPrefix(cell, "/") {
			cell = fitEnd(cell, widths[last])
		}
		if left := room - widths[last] - gap; room > 0 && over > 0 && left > 0 {
			before = Fit(strings.TrimRight(before, " "), left)
			before += strings.Repeat(" ", left-Width(before)+gap)
		}
		lines[n] = strings.TrimRight(before+cell, " ")
		if room > 0 {
			lines[n] = strings.TrimRight(Fit(lines[n], room), " ")
		}
	}
	return lines
}

// hasPaths reports whether a column has absolute paths.
func hasPaths(rows [][]string, column int) bool {
	return slices.ContainsFunc(rows, func(row []string) bool { return strings.HasPrefix(row[column], "/") })
}

// fitEnd shortens a path to a number of cells. Its end stays.
func fitEnd(path string, room int) string {
	over := Width(path) - room
	if over <= 0 {
		return path
	}
	for i, r := range path {
		if over < 0 {
			return "…" + path[i:]
		}
		over -= Cells(r)
	}
	return "…"
}

// Ago says how long before now t was. For more than a month it returns the date.
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

// Tokens formats a number of tokens, in at most five cells below 10^12.
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

// Size formats a number of bytes.
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

// Span formats d in its two largest units.
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
