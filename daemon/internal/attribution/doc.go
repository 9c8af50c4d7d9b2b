// Package attribution decides the author of a change of a file: an agent, whose changes review lists and a reject may
// remove, or a person, whose changes no decision touches.
//
// It decides by evidence, the strongest first:
//
//  1. An editor reports that a person typed or saved a text.
//  2. A finished edit call reports the texts before and after its edit ([Chain]). Changes before the first text and after
//     the second are not the call's.
//  3. In an isolated tree, all changes are its agent's.
//  4. A change lies in the span of a command, or of another call that may write any file ([Ledger]). The agent dates spans.
//  5. Otherwise a person made the change.
//
// A formatter that the agent's hooks run is part of the change it formats ([Split]). Where evidence is missing, the source
// has via "unknown", and no bulk reject touches the change.
//
// # Edit calls
//
// A file that an open call names is not taken in before that call ends. If the end never comes, because the agent was killed,
// the file's content of that moment is the agent's. Writes of an agent just before a "kill -9" of the daemon count as a
// person's and are not listed.
//
// The files that an open call names are watched (package savewatch). Each text that is seen there has its place in the chain:
// if the agent overwrites a save, it has removed the saved lines. If a call reports no texts, saves are counted. If there are
// more than calls and editors account for, or a folder cannot be watched, the author of the whole change is unknown. If the daemon
// hears of a call after a save in it, the watch of all folders has counted that save. Reports
// mostly lack line ends and the byte order mark. So a save right before an edit that changes only these, and that nobody
// has seen, counts as part of the edit.
//
// # Commands
//
// The agent dates its messages to the ms, and a file system's clock ticks every 4 ms (10 at most). So the start of a call has
// that tolerance, and a change within it that may be a person's is unknown. A change after a command's end is unknown if
// the file was last looked at before that end, because the command may have written the file first. If a look after the
// end found no change, later changes are not the command's, whatever their dates.
//
// A look after a command's end may come before the daemon has heard of the next call. The author that it finds by time is a
// guess: if the report of a call shows that the call made the change or a part of it ([Guess]), that part becomes the call's.
//
// The next command may overwrite a person's save between two commands before anybody has looked. On Linux the folders
// are watched while a turn runs (up to 2,000 that existed when it began). A file that changed both during a call and
// outside of all calls is unknown. The time of a file's text counts as that of a change: it is what is left of a save
// once a command has changed the file's mode.
//
// A command has left processes in the background if the agent says so, or if processes of the turn are orphans after its
// end. While a command runs, a file is unknown if an editor's lock file lies beside it. A change that no call explains is
// unknown while processes may write without a call: hooks, background commands, processes that outlived a turn.
//
// # Refused calls
//
// A call that a person has refused may be made all the same. Its span begins with its question. Until the answer its changes may as well be a
// person's, and so they may while another command runs, and to the turn's end if the agent does not report the call's end. After the
// reported end only the files of an edit are looked at once more, at the turn's end. What is found is a guess: a save that an editor reports later
// takes it back.
//
// # Known errors
//
//   - A save within a tick after a command's end, before anybody has looked, has the command's time and counts as the command's.
//   - So does a save that the daemon hears of only after the next command has overwritten it.
//   - A save between the last look and the start of a call that reports no texts counts as the call's. On systems without
//     inotify, so do two saves of which only the second was seen.
//   - A file is unknown if a command gives what it writes a time at which the turn ran and no call was open, as "touch -d" can.
//   - A write by a background process is not found if the process ends in the milliseconds before the look at a command's end.
//
// The package is pure: it reads no file and no clock. Its moments are those of package clock, in ns.
package attribution
