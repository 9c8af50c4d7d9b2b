// Package callchanges keeps what the calls of running turns have changed in files, for the items of the calls.
//
// A [Log] gets each change as soon as its author is known, makes a patch of it, and gives the changes of a call out once the call has ended;
// [Log.Open] gives them out before, for the case of a kill. They are stored with the call's item, and stay as they are: no decision and no later change of the file changes them. If the log
// has dropped a call that changes once more, it reads what is stored. The package is pure but for that.
//
// A call that changes a file again, with nobody in between, has one change of it, from the first text to the last. A change whose author
// was wrong is taken back ([Log.TakeBack]).
package callchanges
