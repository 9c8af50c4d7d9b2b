package sessions

// An Op is one write. The set is closed.
type Op interface{ isOp() }

// Put stores an object, which must not change afterwards. JSON is its encoding (nil: the store encodes it). Detail, if any,
// is an item's uncut Tool in JSON, kept for ItemDetail until the item is stored again. Storing an item whose Status is not
// running drops the text that AppendText kept. An object whose session was removed, or never stored, is left out without an
// error.
type Put struct {
	Object Object
	JSON   []byte
	Detail []byte
}

// PutChanges stores what a call has changed as its item's Changes, and gives the item a new seq. Everything else of the item stays. It
// does nothing if the item is not stored.
type PutChanges struct {
	ItemID  string
	Seq     uint64
	Changes []Change
	More    int  // the item's MoreChanges
	Open    bool // the call has not ended: the item keeps its seq, and Seq is 0
}

// RemoveSession deletes a session with its turns and items and leaves a tombstone at Seq. It does nothing if the session is
// not stored.
type RemoveSession struct {
	ID  string
	Seq uint64
}

// RemoveTurn deletes a turn with its items and leaves an entry at Seq, so that "changes since" tells of it. It does nothing if
// the turn is not stored.
type RemoveTurn struct {
	ID  string
	Seq uint64
}

// Revive removes a session's tombstone, so that a session with that id can be stored again.
type Revive struct{ ID string }

// AppendText keeps the text of a running item in case of a crash. Text belongs at Offset, in bytes, and replaces what was
// kept from there on; an empty Text at offset 0 drops all of it. It does nothing if the item is not stored as running.
type AppendText struct {
	ItemID string
	Offset int
	Text   string
}

// PutReview stores the review state of a path. State is opaque; Blobs are all contents that it refers to by BlobID. Contents
// that nothing refers to any longer are deleted. With a Session, the review is that of the path in the session's copy of the
// workspace.
type PutReview struct {
	Path    string
	Session string
	State   []byte
	Blobs   [][]byte
}

// DropReview deletes the review state of a path; with a Session, that in the session's copy.
type DropReview struct{ Path, Session string }

// PutIntent stores what is about to be done outside of the store, such as writes of files, as intent N of the workspace. Data is opaque; Blobs
// are as in PutReview. DropIntent deletes it; submit it together with the result of what was done.
type PutIntent struct {
	N     uint64
	Data  []byte
	Blobs [][]byte
}
type DropIntent struct{ N uint64 }

// PutDecision stores entry N of the workspace's log of decisions; DropDecision deletes one.
type PutDecision struct {
	N    uint64
	Data []byte
}
type DropDecision struct{ N uint64 }

// PutNote stores a note for the agent's next prompt; DropNote deletes one.
type PutNote struct {
	N    uint64
	Data []byte
}
type DropNote struct{ N uint64 }

// PutRule stores rule N of the workspace: what its agents need not ask; DropRule deletes one.
type PutRule struct {
	N    uint64
	Data []byte
}
type DropRule struct{ N uint64 }

// PutAnswer stores what a workspace knows of a commit, whose id is Commit. Data is opaque. DropAnswer deletes it.
type PutAnswer struct {
	Commit string
	Data   []byte
}
type DropAnswer struct{ Commit string }

// SetTrust says whether the workspace is trusted.
type SetTrust struct{ Trusted bool }

// Forget deletes the trust, the claims and the rules of a workspace without sessions, and what it knows of commits. Everything else stays, such as its
// decisions and its latest seq. SetTrust{true} and the next session make it known again.
type Forget struct{}

// SetClaims stores the hashes of the trusted claims of the workspace's repositories.
type SetClaims struct{ Hashes []string }

func (Put) isOp()           {}
func (PutChanges) isOp()    {}
func (RemoveSession) isOp() {}
func (RemoveTurn) isOp()    {}
func (Revive) isOp()        {}
func (AppendText) isOp()    {}
func (PutReview) isOp()     {}
func (DropReview) isOp()    {}
func (PutIntent) isOp()     {}
func (DropIntent) isOp()    {}
func (PutDecision) isOp()   {}
func (DropDecision) isOp()  {}
func (PutNote) isOp()       {}
func (DropNote) isOp()      {}
func (PutRule) isOp()       {}
func (DropRule) isOp()      {}
func (PutAnswer) isOp()     {}
func (DropAnswer) isOp()    {}
func (SetTrust) isOp()      {}
func (SetClaims) isOp()     {}
func (Forget) isOp()        {}

// SizeOf returns about how much memory operations take, in bytes.
func SizeOf(ops []Op) (size int64) {
	const each = 512
	for _, op := range ops {
		size += each
		switch op := op.(type) {
		case Put:
			size += int64(len(op.JSON) + len(op.Detail))
		case PutChanges:
			for i := range op.Changes {
				size += int64(len(op.Changes[i].Patch))
			}
		case AppendText:
			size += int64(len(op.Text))
		case PutAnswer:
			size += int64(len(op.Data))
		case PutReview:
			size += int64(len(op.State))
			for _, b := range op.Blobs {
				size += int64(len(b))
			}
		}
	}
	return size
}
