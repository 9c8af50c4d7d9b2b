// Package plaintext makes of what programs print what people can be shown: without terminal sequences, on one line, cut between
// characters. It is pure.
package plaintext
