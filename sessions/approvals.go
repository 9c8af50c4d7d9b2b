package sessions

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// An ApprovalKind is what the agent wants of a person.
type ApprovalKind string

const (
	ApprovalPermission ApprovalKind = "permission" // to run or do something
	ApprovalQuestion   ApprovalKind = "question"
	ApprovalPlan       ApprovalKind = "plan" // what it is going to do; Detail is the plan
)

// An ApprovalStatus is pending or one of the three final ones.
type ApprovalStatus string

const (
	ApprovalPending   ApprovalStatus = "pending"
	ApprovalAnswered  ApprovalStatus = "answered"
	ApprovalWithdrawn ApprovalStatus = "withdrawn" // the agent or its turn ended first, or the agent took it back
	ApprovalExpired   ApprovalStatus = "expired"   // nobody answered in time; the agent was told no
)

// An Approval is something that the agent asks a person in a turn. Its ID is made of a tag and its turn's ID (ApprovalID).
type Approval struct {
	ID        string           `json:"id"`
	Workspace string           `json:"workspace"`
	SessionID string           `json:"sessionId"`
	TurnID    string           `json:"turnId"`
	ItemID    string           `json:"itemId,omitempty"` // of the tool call that waits for the answer
	CallID    string           `json:"callId,omitempty"` // the agent's id of the call
	Kind      ApprovalKind     `json:"kind"`
	Title     string           `json:"title"`
	Detail    string           `json:"detail,omitempty"`
	Command   string           `json:"command,omitempty"` // whole: a command that is too long to be shown is denied
	Paths     []string         `json:"paths,omitempty"`   // relative to the workspace where they are in it
	Options   []ApprovalOption `json:"options"`
	Text      bool             `json:"text"`              // a text may be given with an option, or in place of one
	Several   bool             `json:"several,omitempty"` // several options may be chosen: the text names them
	Status    ApprovalStatus   `json:"status"`
	Answer    *ApprovalAnswer  `json:"answer,omitempty"`
	CreatedAt Time             `json:"createdAt"`
	Seq       uint64           `json:"seq"`
}

// Names returns the names by which a person may choose each option: its id and its label.
func (a *Approval) Names() (all [][]string) {
	for _, o := range a.Options {
		all = append(all, []string{o.ID, o.Label})
	}
	return all
}

// An ApprovalOption is one of the answers that a person may give.
type ApprovalOption struct {
	ID    string             `json:"id"`
	Label string             `json:"label"`
	Kind  ApprovalOptionKind `json:"kind"`
}

// An ApprovalOptionKind says what an option means.
type ApprovalOptionKind string

const (
	AllowOnce    ApprovalOptionKind = "allowOnce"
	AllowAlways  ApprovalOptionKind = "allowAlways"
	RejectOnce   ApprovalOptionKind = "rejectOnce"
	RejectAlways ApprovalOptionKind = "rejectAlways"
	AnswerOption ApprovalOptionKind = "answer" // of a question
)

// Allows reports whether the option lets the agent do what it asks for.
func (k ApprovalOptionKind) Allows() bool { return k == AllowOnce || k == AllowAlways }

// Rejects reports whether the option is a no.
func (k ApprovalOptionKind) Rejects() bool { return k == RejectOnce || k == RejectAlways }

// An ApprovalAnswer is what was answered. OptionID is "" for a text alone. Rule is the rule that answered in place of a
// person; "" if a person did.
type ApprovalAnswer struct {
	OptionID string `json:"optionId"`
	Text     string `json:"text,omitempty"`
	Rule     string `json:"rule,omitempty"`
}

// Option returns the option with an id, or nil.
func (a *Approval) Option(id string) *ApprovalOption {
	for i := range a.Options {
		if a.Options[i].ID == id {
			return &a.Options[i]
		}
	}
	return nil
}

// Chosen returns the first option of a kind, in the order of kinds, or nil.
func (a *Approval) Chosen(kinds ...ApprovalOptionKind) *ApprovalOption {
	for _, kind := range kinds {
		for i := range a.Options {
			if a.Options[i].Kind == kind {
				return &a.Options[i]
			}
		}
	}
	return nil
}

// Allowed reports whether the answer is a yes to a permission.
func (a *Approval) Allowed() bool {
	if a.Kind != ApprovalPermission || a.Status != ApprovalAnswered || a.Answer == nil {
		return false
	}
	o := a.Option(a.Answer.OptionID)
	return o != nil && o.Kind.Allows()
}

func (a *Approval) Key() (Kind, string) { return KindApproval, a.ID }

func (a *Approval) Sequence() uint64 { return a.Seq }

// ApprovalID returns the id of a turn's approval. The tag, which is not empty and holds no "-", comes first, because people
// type the beginning of an id.
func ApprovalID(tag, turn string) string { return tag + "-" + turn }

// splitApprovalID takes an ApprovalID apart.
func splitApprovalID(id string) (turn, tag string, ok bool) {
	tag, turn, ok = strings.Cut(id, "-")
	return turn, tag, ok
}

// TurnOfApproval returns the turn's id in the id of an approval; "" if it is none.
func TurnOfApproval(id string) string {
	turn, _, _ := splitApprovalID(id)
	return turn
}

// approvalKey makes the key of an approval; with tag "", the prefix of the keys of a turn's.
func approvalKey(ordinal uint32, tag string) []byte {
	return append(binary.BigEndian.AppendUint32([]byte{prefixApproval}, ordinal), tag...)
}

func (w space) putApproval(a *Approval, v stored) error {
	b, ref := turnBucket(w.tx, a.TurnID)
	if b == nil {
		return nil
	}
	_, tag, _ := splitApprovalID(a.ID)
	return w.replace(b, approvalKey(ref.ordinal, tag), v, changed{kind: KindApproval, id: a.ID})
}

// withdrawApprovals ends the pending approvals of a turn, in the order in which they were asked.
func (w space) withdrawApprovals(b *bolt.Bucket, session string, ordinal uint32, seq *uint64, damaged func(Damage)) (ended []*Approval, err error) {
	type asked struct {
		at  objectKey
		seq uint64
	}
	var open []asked
	prefix := approvalKey(ordinal, "")
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if st, err := decodeStored(v); err == nil && st.flags&flagActive != 0 {
			open = append(open, asked{objectKey{session: session, key: bytes.Clone(k)}, st.seq})
		}
	}
	slices.SortFunc(open, func(a, b asked) int { return cmp.Compare(a.seq, b.seq) })
	for _, o := range open {
		a, err := decodeSound[Approval](w, o.at, damaged)
		if err != nil {
			return nil, err
		}
		*seq++
		a.Status, a.Seq = ApprovalWithdrawn, *seq
		if err := w.put(a, nil); err != nil {
			return nil, err
		}
		ended = append(ended, a)
	}
	return ended, nil
}

// refusedCalls returns a function that says why the call of an item has certainly not run; "" if it may have run. An item that was begun by
// a question for permission has the question's time, until the call begins.
func refusedCalls(b *bolt.Bucket, ordinal uint32) func(*Item) string {
	asked := map[string][]*Approval{}
	prefix := approvalKey(ordinal, "")
	c := b.Cursor()
	for k, v := c.Seek(prefix); bytes.HasPrefix(k, prefix); k, v = c.Next() {
		if a, err := decodeObject[Approval](v); err == nil && a.Kind == ApprovalPermission && soundFor(KindApproval, v) {
			asked[a.ItemID] = append(asked[a.ItemID], a)
		}
	}
	return func(it *Item) (why string) {
		for _, a := range asked[it.ID] {
			switch {
			case it.Tool == nil || a.Allowed():
				return ""
			case !a.CreatedAt.Equal(it.StartedAt.Time):
			case a.Status == ApprovalPending:
				why = "the daemon was killed before anybody allowed it, so it did not run"
			default:
				why = "it was refused before the daemon was killed"
			}
		}
		return why
	}
}

// standInApproval makes an approval that asks nothing.
func (at objectKey) standInApproval(tx *bolt.Tx, root string, when Time) *Approval {
	turn := turnAt(tx, at.session, ordinalOf(at.key))
	return &Approval{
		ID: ApprovalID(string(at.key[5:]), turn), Workspace: root, SessionID: at.session, TurnID: turn, Kind: ApprovalQuestion,
		Title: damagedTitle, Detail: damagedText, Options: []ApprovalOption{}, Status: ApprovalWithdrawn, CreatedAt: when,
	}
}

// Approval returns an approval, or ErrNotFound.
func (s *Store) Approval(id string) (*Approval, error) {
	e, err := s.Entry("", KindApproval, id)
	if err != nil {
		return nil, err
	}
	return typed[Approval](KindApproval, id, stored{seq: e.Seq, json: e.JSON}.encode(), nil)
}

func (w space) putRule(op PutRule) error {
	b, err := w.b.CreateBucketIfNotExists(bucketRules) // older databases lack it
	if err != nil {
		return err
	}
	return putNumbered(b, op.N, op.Data)
}

func (w space) dropRule(n uint64) error {
	if b := w.b.Bucket(bucketRules); b != nil {
		return b.Delete(be64(n))
	}
	return nil
}

// dropRules deletes all rules.
func (w space) dropRules() error {
	if w.b.Bucket(bucketRules) == nil {
		return nil
	}
	return w.b.DeleteBucket(bucketRules)
}

// Rules returns what the agents of a workspace need not ask, in order.
func (s *Store) Rules(root string) ([]Numbered, error) { return s.numbered(root, bucketRules) }
