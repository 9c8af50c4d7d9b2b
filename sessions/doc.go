// Package sessions is the store: one bbolt file with the newest form of each session, turn, item, diff and approval, an index from seq
// to object for each workspace, and the contents that reviews refer to, each stored once under its SHA-256.
//
// One writer takes all waiting operations and commits them together; a change is announced only after its commit. So
// everything that has a seq is on disk, the seqs of a workspace only grow, and Store.Changes returns every object that
// changed after a seq, once and in order. Reads are short and return copies.
//
// Only this package writes the file. It imports nothing of this module but its own internal packages, and knows neither agents nor clients: the
// daemon knows what the objects mean.
//
// Each stored object has a checksum, which every read checks (damage.go). A damaged object moves to a bucket of its
// own, and a stand-in with fewer powers takes its place under the same seq. The reviewer makes a damaged diff anew. A damaged
// review is dropped, and the file stays as it is. Contents are checked by their SHA-256.
// From a file that is damaged as a whole, Open takes what can be read into a new one (salvage.go).
//
// The database file is compacted while it is used (compact.go): a copy of one moment is filled beside it and then gets the commits that came
// meanwhile; between two commits it takes the file's name. A crash leaves one whole file or the other. A backup is
// the same copy of one moment, without these last steps.
package sessions
