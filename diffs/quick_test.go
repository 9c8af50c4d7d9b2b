//go:build !race

package diffs

// quickChecks is the number of sequences for each property, unless -rapid.checks sets another.
const quickChecks = "500"
