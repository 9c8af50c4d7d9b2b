// Package daemon is the core of cursord: it runs turns of cursor-agent, keeps their transcripts, and has the files that they change
// reviewed. It knows no JSON-RPC and no editor. Package rpc calls the methods of [Daemon], and reads [Subscription]s.
//
// # What it owns
//
// A Daemon owns the store, the endpoint's lock and socket, and the workspaces that somebody uses. Each workspace has two goroutines:
// the loop (workspace.go) owns sessions, turns, items and subscriptions; the reviewer (package daemon/internal/review) owns the files under
// review and alone writes the work tree. A running turn has a goroutine of its own (runturn.go), which reads the agent's output.
//
// # One way through
//
// [Daemon.StartTurn] finds the workspace and gives the request to its loop. The loop stores session and turn, answers, and tells
// subscribers. When the turn's place in the queue comes, its goroutine takes a snapshot of the files and starts the agent. Each batch
// of the agent's words becomes items in the loop, and changes of files in the reviewer. The store writes what both commit, and only then
// do subscribers see it (notes.go, subscribe.go). The turn ends with exactly one final status (turnend.go).
//
// # Invariants
//
//   - What has a seq is on disk before anybody sees it, and the seqs of a workspace only grow.
//   - Every started turn ends once, also if the agent or the daemon is killed.
//   - The loop never waits for a connection, a process, the disk or the reviewer. The reviewer may wait for the loop.
//   - A slow subscriber delays nobody and costs no queue: it goes on from the present state of each object (catchup.go).
//   - A panic costs the message that caused it, and not the daemon.
package daemon
