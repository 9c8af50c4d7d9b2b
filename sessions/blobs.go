package sessions

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	bolt "go.etcd.io/bbolt"
)

// BlobID returns the name of a content: its SHA-256 in lower-case hex.
func BlobID(b []byte) string {
	k := sha256.Sum256(b)
	return hex.EncodeToString(k[:])
}

// retain adds a reference to a content, and stores the content if it is new.
func (w space) retain(content []byte) (blobKey, error) {
	k := blobKey(sha256.Sum256(content))
	refs := w.tx.Bucket(bucketRefs)
	n := number(refs.Get(k[:]))
	if n == 0 {
		if err := w.tx.Bucket(bucketBlobs).Put(k[:], content); err != nil {
			return k, fmt.Errorf("content of %d bytes: %w", len(content), err)
		}
	}
	return k, refs.Put(k[:], be64(n+1))
}

// release removes a reference, and with the last one the content. A nil key is no reference.
func (w space) release(key []byte) error {
	if key == nil {
		return nil
	}
	refs := w.tx.Bucket(bucketRefs)
	n := number(refs.Get(key))
	if n > 1 {
		return refs.Put(key, be64(n-1))
	}
	if err := refs.Delete(key); err != nil {
		return err
	}
	return w.tx.Bucket(bucketBlobs).Delete(key)
}

// putHolder stores a state and references to its contents.
func (w space) putHolder(b *bolt.Bucket, key, state []byte, contents [][]byte) error {
	h := holder{state: state}
	for _, content := range contents { // new references first, so that a content that stays is not deleted and written again
		k, err := w.retain(content)
		if err != nil {
			return err
		}
		h.blobs = append(h.blobs, k)
	}
	return w.setHolder(b, key, h)
}

// reviewKey returns the key of a path's review; with a session, of its review in that session's copy.
func reviewKey(session, path string) []byte {
	if session == "" {
		return []byte(path)
	}
	return []byte("\x00" + session + "\x00" + path)
}

// splitReviewKey takes a reviewKey apart.
func splitReviewKey(key string) (session, path string) {
	if rest, ok := strings.CutPrefix(key, "\x00"); ok {
		session, path, _ = strings.Cut(rest, "\x00")
		return session, path
	}
	return "", key
}

// setHolder stores a holder whose references are counted already, and releases those of the holder before it.
func (w space) setHolder(b *bolt.Bucket, key []byte, h holder) error {
	old := bytes.Clone(b.Get(key))
	if err := b.Put(key, h.encode()); err != nil {
		return err
	}
	return w.releaseHolder(key, old)
}

// dropHolder deletes a holder, if there is one.
func (w space) dropHolder(b *bolt.Bucket, key []byte) error {
	if b == nil {
		return nil
	}
	old := bytes.Clone(b.Get(key))
	if err := b.Delete(key); err != nil {
		return err
	}
	return w.releaseHolder(key, old)
}

// releaseHolder releases the references of a holder that is gone. old may be nil; a damaged one is set aside.
func (w space) releaseHolder(key, old []byte) error {
	if old == nil {
		return nil
	}
	h, err := decodeHolder(old)
	if err != nil {
		return w.keepAside(fmt.Sprintf("review or intent %q %q", w.root, key), old)
	}
	for _, k := range h.blobs {
		if err := w.release(k[:]); err != nil {
			return err
		}
	}
	return nil
}

// Blob returns a content that PutReview or PutIntent stored. It returns ErrNotFound, or ErrContent if the content is
// damaged.
func (s *Store) Blob(id string) ([]byte, error) {
	k, ok := parseBlobID(id)
	if !ok {
		return nil, fmt.Errorf("content %q: %w", id, ErrNotFound)
	}
	var out []byte
	err := s.view(func(tx *bolt.Tx) error {
		v := tx.Bucket(bucketBlobs).Get(k[:])
		if v == nil {
			return fmt.Errorf("content %s: %w", id, ErrNotFound)
		}
		out = append([]byte{}, v...)
		return nil
	})
	if err == nil && blobKey(sha256.Sum256(out)) != k {
		return nil, fmt.Errorf("content %s: %w", id, ErrContent)
	}
	return out, err
}
