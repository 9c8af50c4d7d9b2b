//go:build race

package diffs

// quickChecks is lower with the race detector, which makes everything about eight times slower.
const quickChecks = "250"
