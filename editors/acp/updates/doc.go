// Package updates says what happens in a session as updates of the Agent Client Protocol. It gets the daemon's objects, each as often
// as it comes and in its newest form, and gives each piece of text once and each change of a call once. It waits for nothing and
// knows no connection.
//
// text.go has messages and thoughts, tools.go calls, diffs.go what calls have changed.
package updates
