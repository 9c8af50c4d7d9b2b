package term

import (
	"fmt"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// A Spot is the place on a terminal where a program has begun to write lines that it will remove. If a person presses Enter meanwhile, the
// cursor is further down than the program knows. It must not read what was typed to find out, because that is for the next command. So the
// terminal itself keeps the place.
type Spot struct {
	of            *os.File // nil: the terminal does not keep the place
	typed         int
	columns, rows int
}

// readHere counts the bytes that Keyboards have read.
var readHere atomic.Int64

// spare is how many empty rows are left below the lines. Enter in the last row moves all rows up, but not the place that the terminal keeps. With
// the spare rows a person may press Enter spare+1 times before the lines are removed.
const spare = 3

// SpotOf returns the Spot at the cursor, which is at the beginning of a line, for so many lines. Write begin before
// the lines: it has the terminal keep the place, and leaves rows below them. If w is no terminal that can do this, the Spot is zero and begin is "".
func SpotOf(w io.Writer, lines int) (s Spot, begin string) {
	f, _ := w.(*os.File)
	if f == nil || !IsTerminal(f) || os.Getenv("TERM") == "dumb" {
		return s, ""
	}
	typed, known := typedAt(f)
	columns, rows, sized := ScreenSize(f)
	if !known || !sized || rows <= lines {
		return s, ""
	}
	below := lines + min(spare, rows-lines-1)
	return Spot{f, typed, columns, rows}, strings.Repeat("\n", below) + fmt.Sprintf("\x1b[%dA\x1b7", below)
}

// Back returns what to write to move back to the place and remove all below it, if Enter was pressed since. Else it returns "": the cursor is where the program
// has left it.
func (s Spot) Back() string {
	if s.of == nil {
		return ""
	}
	typed, known := typedAt(s.of)
	columns, rows, _ := ScreenSize(s.of)
	if !known || typed == s.typed || columns != s.columns || rows != s.rows { // in another size, the lines may be elsewhere
		return ""
	}
	return "\x1b8\x1b[J"
}
