// Package plaintext makes programs' output fit for people: without terminal sequences, on one line, cut between characters.
// It is pure.
package plaintext
