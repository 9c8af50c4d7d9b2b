// Package diffs keeps what the agent did to a file and the person has not judged yet.
//
// A [Review] is a weave: one list of lines, each with the edit that inserted it and the edit that deleted it, as far
// as these are undecided. Leaving out the deleted lines gives the file as it is, leaving out the inserted ones gives
// the baseline. What the person types is settled at birth, so no decision can take it away; a hunk is a run of
// undecided lines, so deciding one cannot move another. Nothing is ever merged or found again by its context.
//
// The package is pure: bytes in, bytes out. Reading a file before a decision and writing it afterwards is the
// caller's work, and so is locking: a Review belongs to one goroutine.
package diffs
