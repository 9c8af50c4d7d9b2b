//go:build race

package diffs

// quickChecks is lower than without the race detector, which makes everything some eight times slower.
const quickChecks = "250"
