//go:build !race

package diffs

// quickChecks is how many sequences each property tries unless -rapid.checks says otherwise.
const quickChecks = "1500"
