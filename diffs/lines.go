package diffs

import (
	"cursord/diffs/internal/linetext"
	"cursord/diffs/internal/weave"
)

// What package linetext does.
var (
	splitLines  = linetext.Split
	commonLines = linetext.Common
	linkKey     = linetext.Key
	tells       = linetext.Tells
	known       = linetext.Known
	replaced    = linetext.Replaced
)

const telling = linetext.Telling

// What package weave has.
type (
	atom     = weave.Atom
	side     = weave.Side
	runShape = weave.RunShape
)

const (
	baseline = weave.Baseline
	current  = weave.Current
)

var (
	lacksEOL  = weave.LacksEOL
	trimEnd   = weave.TrimEnd
	lineDiff  = weave.LineDiff
	shapeOf   = weave.ShapeOf
	texts     = weave.Texts
	bareTexts = weave.BareTexts
	bit       = weave.Bit
)

// trimmed cuts the ends off lines, in place.
func trimmed(lines []string) []string {
	for i, l := range lines {
		lines[i] = trimEnd(l)
	}
	return lines
}
