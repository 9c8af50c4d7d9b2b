package git

import "encoding/hex"

// IDs has the object ids of a listing. As text, those of a million files would take 60 MB more. The nil IDs takes none in.
type IDs struct {
	width int // of each, in bytes
	all   []byte
}

func (ids *IDs) grow(n, width int) {
	if ids != nil && ids.all == nil {
		ids.all = make([]byte, 0, n*width)
	}
}

// add takes in an id, and returns its number, which is never 0. It returns 0 if it takes no id of this length.
func (ids *IDs) add(id []byte) int32 {
	if ids == nil || len(id) == 0 || ids.width != 0 && ids.width != len(id) {
		return 0
	}
	ids.width = len(id)
	ids.all = append(ids.all, id...)
	return int32(len(ids.all) / ids.width)
}

// Add is add for an id as text.
func (ids *IDs) Add(oid string) int32 {
	var room [64]byte
	id, err := hex.AppendDecode(room[:0], []byte(oid))
	if err != nil {
		return 0
	}
	return ids.add(id)
}

// Of returns the id of a number as text, "" for 0.
func (ids *IDs) Of(number int32) string {
	if number == 0 {
		return ""
	}
	at := (int(number) - 1) * ids.width
	return hex.EncodeToString(ids.all[at : at+ids.width])
}
