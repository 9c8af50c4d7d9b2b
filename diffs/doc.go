// Package diffs holds what the agent did to a file and a person has not decided yet.
//
// A [Review] is a weave: one list of lines, each with the edit that inserted it and the edit that deleted it, as far as
// these are undecided. Without the deleted lines it is the present file, without the inserted ones it is the baseline. A
// line that a person types is settled from the start, so no decision can remove it. A hunk is a run of undecided lines, so
// deciding one hunk cannot move another. Nothing is merged, and nothing is searched for by its context.
//
// The package is pure: bytes in, bytes out. The caller reads the file before a decision, writes it afterwards, and locks:
// only one goroutine at a time may use a Review.
package diffs
