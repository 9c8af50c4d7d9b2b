// Package attribution decides whose a change of a file is: an agent's, which review lists and a reject may remove, or a
// person's, which no decision touches.
//
// It decides by evidence, the strongest first:
//
//  1. What an editor reports that a person typed or saved.
//  2. The texts that a finished edit call reports, before and after its edit ([Chain]). What lies before the one and
//     behind the other is not the call's.
//  3. In an isolated tree, everything is its agent's.
//  4. The span of a command or another call that may write any file ([Ledger]), as the agent itself dates it.
//  5. Otherwise a person made it.
//
// A formatter that the agent's hooks run is part of the change it formats ([Split]). Where evidence is missing, a source
// says so (via "unknown"), and no bulk reject touches it.
//
// # Edit calls
//
// A file that an open call names is not taken in before that call ends. If its end never comes, because the agent was killed, what the
// file holds then is the agent's. What an agent wrote just before a "kill -9" of the daemon passes for a person's and is not listed.
//
// The files that an open call names are watched (package savewatch). Each text that is seen there has its place in the chain, so a save
// that the agent overwrites is a line that the agent removed. If a call reports no texts, the saves are counted: with more of them
// than calls and editors account for, or where a folder cannot be watched, the whole change is unknown. Reports mostly lack line ends
// and the byte order mark: a save that changes only those, right before an edit and seen by nobody, is the edit's.
//
// # Commands
//
// The agent dates its words to the ms, and a file system's clock ticks every 4 ms (10 at most): a moment has that tolerance at a
// call's start, where what may be a person's is unknown. What changed after a command's end, and was last looked at before that end, is
// unknown: the command may have written it first. What had not changed yet when somebody looked after the end is not the command's,
// whatever its date.
//
// A look after a command's end may come before the daemon has heard of the next call. A change that it attributes by time is taken back
// if the report of a call shows that the call made it ([Guess]), so an edit right after a command is that call's.
//
// A person's save between two commands may be overwritten by the next one before anybody has looked. On Linux the folders are watched
// while a turn runs (up to 2,000 that were there when it began), and a file that changed both in a call and outside of all is unknown.
//
// A command has left something in the background if the agent says so, or if processes of the turn are orphans once it has ended. A
// file beside which an editor's lock file lies is unknown while a command runs. So is what no call explains while processes may write
// without one: hooks, background commands, processes that outlived a turn.
//
// # What is left
//
//   - A save within a tick after a command's end, before anybody has looked, bears the command's time and passes for its.
//   - So does a save of which the daemon hears only when the next command has overwritten it.
//   - A save between the last look and the start of a call that reports no texts is taken for the call's; on systems without
//     inotify, so are two saves of which only the second was seen.
//   - What a background process writes is not found if the process ends within the milliseconds until the look at a command's end.
//
// The package is pure: it reads no file and no clock. Its moments are those of package clock, in ns.
package attribution
