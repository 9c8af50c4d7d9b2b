// Package acp drives the agent in its ACP mode, `cursor-agent acp`: a process that serves the turns of a session by JSON-RPC and asks
// people for permission. Its Driver emits the events of package agent, as a Launcher does for print mode.
//
// One goroutine owns the state of each process (process.loop): it takes in what the agent writes, and all that others want of the
// process comes to it by a mailbox. A goroutine that reads hands it the lines and waits until they are taken in, so an agent that
// floods is slowed down, as in print mode.
//
// # What this mode does not report
//
// The agent neither reports the contents of edits nor, in many builds, their ends. An edit is open until the agent reports its end,
// announces a command after the file has changed, goes on with words, or ends the turn; then the state of the file says whether anything
// was written. Ends never carry contents, so the review compares what it has seen of the file with the disk.
//
// A command that waits for a permission has not begun. Its ToolStart is emitted when a person allows it, before the agent hears of that;
// a refused one has a ToolEnd alone.
//
// A refused call may be made all the same, and the agent need not say so. Its ToolEnd says since when that may have been, and an edit's names
// the files that have changed since; the review finds out what the call has changed, and tells people.
//
// # Requests of the agent
//
// In mode plan the agent ends its turn with the plan. If a person has accepted it, and the daemon allows that, the driver has the agent go on in mode
// agent, with a prompt of its own (questions.go).
//
// Every request is answered, one of an unknown method by an error that blocks nobody. What is not understood, or comes while no turn
// runs, is answered by a no.
//
// What the agent says after its answer to the prompt is of that turn while its run waits: for ends of calls, and for commands in the
// background. Later it is a notice of the next turn (between.go), and so are the calls that it makes then. What
// such a call changes is not under review: nobody has looked at the files before it.
package acp
