// Package sessions is the store: one bbolt file with the newest form of each session, turn, item and diff, an index from seq to
// object for each workspace, and the contents that reviews refer to, once each, by their SHA-256.
//
// Its one writer takes all operations that wait and commits them together; only then may what they changed be announced. So what
// has a seq is on disk, the seqs of a workspace only grow, and Store.Changes after a seq has every object that changed since,
// once and in order. Reads are short and return copies. An object that its checksum shows to be damaged is set aside, and a
// stand-in takes its place; a file that cannot be opened is salvaged.
//
// The package owns the file, and nobody else writes it. It imports nothing of this module and knows neither agents nor clients:
// what objects mean is the daemon's business.
package sessions
