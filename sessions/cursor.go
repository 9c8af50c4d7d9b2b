package sessions

import (
	"bytes"
	"encoding/binary"

	bolt "go.etcd.io/bbolt"
)

// ordinalOf reads the turn's ordinal from a key that is a letter followed by it.
func ordinalOf(k []byte) uint32 { return binary.BigEndian.Uint32(k[1:]) }

// seekBefore places c on the last key below end that has the prefix.
func seekBefore(c *bolt.Cursor, end, prefix []byte) (k, v []byte) {
	if k, _ = c.Seek(end); k == nil {
		k, v = c.Last()
	} else {
		k, v = c.Prev()
	}
	if !bytes.HasPrefix(k, prefix) {
		return nil, nil
	}
	return k, v
}

// afterPrefix returns the least key above all keys with the prefix. The prefix must not begin with 0xff.
func afterPrefix(prefix []byte) []byte {
	end := bytes.TrimRight(prefix, "\xff")
	end = bytes.Clone(end)
	end[len(end)-1]++
	return end
}

// lastKey returns the last key with the prefix, or nil.
func lastKey(b *bolt.Bucket, prefix []byte) []byte {
	k, _ := seekBefore(b.Cursor(), afterPrefix(prefix), prefix)
	return k
}

// indexOf reads the item's index out of a key made by itemKey.
func indexOf(k []byte) uint32 { return binary.BigEndian.Uint32(k[5:]) }
