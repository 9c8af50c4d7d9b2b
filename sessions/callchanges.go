package sessions

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
)

// A Change is what a call has changed in a file. It stays as it is, whatever is decided about the file or becomes of it later.
type Change struct {
	Path    string   `json:"path"`
	OldPath string   `json:"oldPath,omitempty"` // of a file that the call has moved
	Kind    DiffKind `json:"kind"`
	Added   int      `json:"added"`
	Removed int      `json:"removed"`
	Patch   string   `json:"patch,omitempty"` // the hunks of a unified diff; "" if the content is no text, or was not seen before
	Cut     bool     `json:"cut,omitempty"`   // Patch lacks hunks, because it would be too long
}

// putChanges adds what a call has changed to its stored item. An item that is damaged stays as it is.
func (w space) putChanges(op PutChanges) error {
	turn, index, ok := splitItemID(op.ItemID)
	if !ok {
		return fmt.Errorf("store: %q is not an item's id", op.ItemID)
	}
	b, ref := turnBucket(w.tx, turn)
	if b == nil {
		return nil
	}
	key := itemKey(prefixItem, ref.ordinal, index)
	item, err := decodeObject[Item](b.Get(key))
	if err != nil {
		return nil
	}
	item.Changes, item.MoreChanges, item.Seq = op.Changes, op.More, cmp.Or(op.Seq, item.Seq)
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(item); err != nil {
		return fmt.Errorf("item %q: %w", op.ItemID, err)
	}
	v := stored{flags: flagsOf(item), seq: item.Seq, json: bytes.TrimSuffix(out.Bytes(), []byte("\n"))}
	return w.replace(b, key, v, changed{kind: KindItem, id: op.ItemID})
}
