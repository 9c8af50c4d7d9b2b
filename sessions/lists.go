package sessions

import (
	"bytes"
	"fmt"

	bolt "go.etcd.io/bbolt"
)

// ToContinue returns those sessions of list to which a prompt may go that names no session, in the same order. It leaves out attempts of which
// several in list have the same group: somebody has yet to choose one of them.
func ToContinue(list []*Session) (ones []*Session) {
	beside := map[string]int{}
	for _, s := range list {
		if s.Attempt != nil {
			beside[s.Attempt.Group]++
		}
	}
	for _, s := range list {
		if s.Attempt == nil || beside[s.Attempt.Group] == 1 {
			ones = append(ones, s)
		}
	}
	return ones
}

// PendingDiffs returns the diffs of a workspace that have something to review, by path.
func (s *Store) PendingDiffs(root string) ([]*Diff, error) {
	var out []*Diff
	clone := func(b *bolt.Bucket, k, v []byte) []byte {
		return bytes.Clone(s.sound(b.Tx(), objectKey{root: root, key: k}, v))
	}
	err := s.scan(inSpace(root, bucketDiffs), nil, clone, func(k, v []byte) error {
		if st, err := decodeStored(v); err == nil && st.flags&flagPending == 0 {
			return nil
		}
		d, err := typed[Diff](KindDiff, string(k), v, nil)
		out = append(out, d)
		return err
	})
	return out, err
}

// Reviews returns the review states of a workspace and of its sessions' copies, by path. The state of a damaged one is nil.
func (s *Store) Reviews(root string) ([]ReviewRecord, error) {
	var out []ReviewRecord
	err := s.scan(inSpace(root, bucketReviews), nil, asStored, func(k, v []byte) error {
		h, _ := decodeHolder(v)
		rec := ReviewRecord{State: h.state}
		rec.Session, rec.Path = splitReviewKey(string(k))
		out = append(out, rec)
		return nil
	})
	return out, err
}

// Review returns the review state of a path, or ErrNotFound.
func (s *Store) Review(root, path string) (ReviewRecord, error) {
	var raw []byte
	err := s.view(func(tx *bolt.Tx) error {
		if w := spaceBucket(tx, root); w != nil {
			raw = bytes.Clone(w.Bucket(bucketReviews).Get([]byte(path)))
		}
		return nil
	})
	if err == nil && raw == nil {
		err = ErrNotFound
	}
	h := holder{}
	if err == nil {
		h, err = decodeHolder(raw)
	}
	if err != nil {
		return ReviewRecord{}, fmt.Errorf("review of %q: %w", path, err)
	}
	return ReviewRecord{Path: path, State: h.state}, nil
}

// Intents returns a workspace's intents that were not dropped, in order. A damaged one has no data.
func (s *Store) Intents(root string) ([]Numbered, error) {
	var out []Numbered
	err := s.scan(inSpace(root, bucketIntents), nil, asStored, func(k, v []byte) error {
		h, _ := decodeHolder(v)
		out = append(out, Numbered{N: number(k), Data: h.state})
		return nil
	})
	return out, err
}

// Intending returns the roots of the workspaces that have intents.
func (s *Store) Intending() (roots []string, err error) {
	err = s.view(func(tx *bolt.Tx) error {
		all := tx.Bucket(bucketWorkspaces)
		return all.ForEachBucket(func(k []byte) error {
			if b := all.Bucket(k).Bucket(bucketIntents); b != nil {
				if first, _ := b.Cursor().First(); first != nil {
					roots = append(roots, string(k))
				}
			}
			return nil
		})
	})
	return roots, err
}

// Decisions returns a workspace's log of decisions, in order.
func (s *Store) Decisions(root string) ([]Numbered, error) { return s.numbered(root, bucketDecisions) }

// Notes returns the notes for the agent's next prompt, in order.
func (s *Store) Notes(root string) ([]Numbered, error) { return s.numbered(root, bucketNotes) }

func (s *Store) numbered(root string, bucket []byte) ([]Numbered, error) {
	var out []Numbered
	err := s.scan(inSpace(root, bucket), nil, asStored, func(k, v []byte) error {
		out = append(out, Numbered{N: number(k), Data: v})
		return nil
	})
	return out, err
}
