package run

import (
	"io"
	"slices"
	"strings"

	"cursord/cmd/cursord/internal/misuse"
)

// PrintMisuse prints err, which is wrong usage, as PrintError does, if the arguments of a run ask for JSON on stdout. They may be any:
// what is wrong with them is perhaps why their flags were not read.
func PrintMisuse(w io.Writer, args []string, err error) {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	asks := false
	for i, arg := range args {
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		switch {
		case name == "-o", name == "--output":
			if value != "-" {
				return
			}
		case name == "--output-format":
			asks = value == string(JSON) || value == string(Stream)
		case arg == "--json":
			asks = true
		}
	}
	if asks {
		PrintError(w, misuse.Errorf("%v", err))
	}
}
