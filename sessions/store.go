package sessions

import "time"

// An Op is one write. The set is closed.
type Op interface{ isOp() }

// Put stores an object, which must not change afterwards. JSON is its encoding (nil: the store encodes it); Detail, if
// any, is an item's uncut Tool in JSON, kept for ItemDetail. Storing an item whose Status is not running drops the
// text that AppendText kept for it.
type Put struct {
	Object Object
	JSON   []byte
	Detail []byte
}

// RemoveSession deletes a session with its turns and items and leaves a tombstone at Seq.
type RemoveSession struct {
	ID  string
	Seq uint64
}

// AppendText keeps text of a running item against a crash: Text belongs at Offset. Appending at offset 0 replaces
// what was kept.
type AppendText struct {
	ItemID string
	Offset int
	Text   string
}

// PutReview stores the review state of a path: State is opaque, Blobs are contents that it refers to by BlobID.
// Blobs that no review refers to any more are deleted.
type PutReview struct {
	Path  string
	State []byte
	Blobs [][]byte
}

// DropReview deletes the review state of a path.
type DropReview struct{ Path string }

// PutDecision stores entry N of the workspace's log of decisions; DropDecision deletes one.
type PutDecision struct {
	N    uint64
	Data []byte
}
type DropDecision struct{ N uint64 }

// PutNote stores a remark for the agent's next prompt; DropNote deletes one.
type PutNote struct {
	N    uint64
	Data []byte
}
type DropNote struct{ N uint64 }

// SetTrust says whether the workspace is trusted.
type SetTrust struct{ Trusted bool }

func (Put) isOp()           {}
func (RemoveSession) isOp() {}
func (AppendText) isOp()    {}
func (PutReview) isOp()     {}
func (DropReview) isOp()    {}
func (PutDecision) isOp()   {}
func (DropDecision) isOp()  {}
func (PutNote) isOp()       {}
func (DropNote) isOp()      {}
func (SetTrust) isOp()      {}

// Options for Open; the zero value is good.
type Options struct {
	LockTimeout time.Duration // how long to wait for another process to let go; 0: 1 s
	// OnTrouble is called from the writer when commits begin to fail, and with nil when they work again.
	OnTrouble func(error)
}

// A Report says what Open found.
type Report struct {
	MovedAside  string  // where a corrupt database was put, or ""
	Salvaged    int     // sessions read out of it
	Interrupted []*Turn // turns that were running or queued when the last daemon ended; now interrupted
}

// A Store is the database: one writer, many readers.
type Store struct{}

// An Entry is the newest form of an object, or a deleted session's tombstone.
type Entry struct {
	Kind    Kind
	ID      string
	Seq     uint64
	JSON    []byte // nil when Removed
	Removed bool
}

// A WorkspaceRecord is what the store knows of a workspace.
type WorkspaceRecord struct {
	Root     string
	Seq      uint64 // the highest ever given out
	Trusted  bool
	Sessions int
}

// A ReviewRecord is what PutReview stored.
type ReviewRecord struct {
	Path  string
	State []byte
}

// A Numbered is a decision or a note.
type Numbered struct {
	N    uint64
	Data []byte
}

func Open(path string, o Options) (*Store, Report, error)                      { panic("unwritten") }
func (s *Store) Close() error                                                  { panic("unwritten") }
func (s *Store) Submit(workspace string, ops []Op, done func(error))           { panic("unwritten") }
func (s *Store) Trouble() error                                                { panic("unwritten") }
func (s *Store) Backlog() int                                                  { panic("unwritten") }
func (s *Store) Epoch() string                                                 { panic("unwritten") }
func (s *Store) Path() string                                                  { panic("unwritten") }
func (s *Store) Workspaces() ([]WorkspaceRecord, error)                        { panic("unwritten") }
func (s *Store) Workspace(root string) (WorkspaceRecord, error)                { panic("unwritten") }
func (s *Store) Changes(root string, after uint64, limit int) ([]Entry, error) { panic("unwritten") }
func (s *Store) Entry(root string, k Kind, id string) (Entry, error)           { panic("unwritten") }
func (s *Store) Session(id string) (*Session, error)                           { panic("unwritten") }
func (s *Store) Turn(id string) (*Turn, error)                                 { panic("unwritten") }
func (s *Store) Item(id string) (*Item, error)                                 { panic("unwritten") }
func (s *Store) ItemDetail(id string) ([]byte, error)                          { panic("unwritten") }
func (s *Store) TurnItems(turn string) ([]Entry, error)                        { panic("unwritten") }
func (s *Store) LastTurn(session string) (*Turn, error)                        { panic("unwritten") }
func (s *Store) Sessions(root, cursor string, limit int) ([]*Session, string, error) {
	panic("unwritten")
}
func (s *Store) Transcript(session, before string, limit int) ([]*Turn, []*Item, bool, error) {
	panic("unwritten")
}
func (s *Store) Diff(root, path string) (*Diff, error)          { panic("unwritten") }
func (s *Store) PendingDiffs(root string) ([]*Diff, error)      { panic("unwritten") }
func (s *Store) Reviews(root string) ([]ReviewRecord, error)    { panic("unwritten") }
func (s *Store) Review(root, path string) (ReviewRecord, error) { panic("unwritten") }
func (s *Store) Blob(id string) ([]byte, error)                 { panic("unwritten") }
func (s *Store) Decisions(root string) ([]Numbered, error)      { panic("unwritten") }
func (s *Store) Notes(root string) ([]Numbered, error)          { panic("unwritten") }

// BlobID returns the name of a content: its SHA-256 in hex.
func BlobID(b []byte) string { panic("unwritten") }
