package snapshot

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"os"
	"path/filepath"
	"sync"
	"time"

	"cursord/daemon/internal/atomicfile"
	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// A snapshot is written down in case this process is killed: the next process then compares the disk with it (restore.go). The file
// is not synced, because it is of use only after the end of a process, not of the machine. It is a list of frames, each with a
// checksum: a header, the folders, the states of files that differ from the snapshot's table, and then each note. The table, which
// snapshots share, is in a file of its own. The record's time shows that the process lives.

const (
	smallTable   = 5_000                  // files of a table that takes no time to write
	recordedMost = 200_000                // files of a snapshot that is written down
	beat         = 100 * time.Millisecond // between two signs of life
	soon         = 250 * time.Millisecond // a message of the agent's is seldom read later
)

// The kinds of frames.
const (
	frameHeader byte = iota + 1
	frameFolder
	frameLinks
	frameFile
	frameGone
)

// A header is the first frame.
type header struct {
	Root, Turn string
	Began      int64 // as the clock shows it
	Git        bool  // the files were listed by git
	Table      string
}

// A record is a snapshot that is being written down.
type record struct {
	ended, quiet chan struct{} // closed by close; closed when no sign of life follows
	keeper       *keeper
	table        *tableFile

	mu   sync.Mutex
	file *os.File // guarded by mu; nil: nothing more can be written
}

// A tableFile is a table that is written down, for all records of snapshots that share it.
type tableFile struct {
	table *table
	name  string
	users int  // guarded by keeper.mu: records that need it
	stale bool // guarded by keeper.mu: there is a newer one
}

// writes returns the file of a table, and makes it if there is none yet. The caller has to let it go.
func (k *keeper) writes(t *table, dir string) (*tableFile, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if w := k.written; w != nil && w.table == t {
		w.users++
		return w, nil
	}
	file, err := os.CreateTemp(dir, "*.table")
	if err != nil {
		return nil, err
	}
	k.outdate()
	k.written = &tableFile{table: t, name: file.Name(), users: 1}
	to := bufio.NewWriterSize(file, 1<<16)
	var one []byte
	for i := range t.len() {
		e := t.entry(i)
		one = frame(one[:0], fileFrame(t.name(i), &e))
		_, _ = to.Write(one) // Flush returns the error
	}
	return k.written, errors.Join(to.Flush(), file.Close())
}

// isWritten reports whether the table is written down already, or is so small that writing it takes no time.
func (s *Snapshot) isWritten() bool {
	s.mu.Lock()
	base := s.files.base
	s.mu.Unlock()
	s.keeper.mu.Lock()
	defer s.keeper.mu.Unlock()
	return base.len() <= smallTable || s.keeper.written != nil && s.keeper.written.table == base
}

// outdate gives up the present table's file. k.mu must be held.
func (k *keeper) outdate() {
	if w := k.written; w != nil {
		w.stale, k.written = true, nil
		w.tidy()
	}
}

// tidy removes the file if nobody needs it. keeper.mu must be held.
func (w *tableFile) tidy() {
	if w.stale && w.users == 0 {
		_ = os.Remove(w.name) // the next start of the daemon does, where this fails
	}
}

func (k *keeper) release(w *tableFile) {
	k.mu.Lock()
	defer k.mu.Unlock()
	w.users--
	w.tidy()
}

// writeDown writes the snapshot down for a turn.
func (s *Snapshot) writeDown(turn string) {
	s.mu.Lock()
	if turn == "" || s.keeper == nil || !s.listed || !filestat.ChangeTimes || s.files.base.len() > recordedMost {
		s.mu.Unlock()
		return
	}
	s.files.shared = true
	base := s.files.base
	s.mu.Unlock()
	t, err := s.keeper.writes(base, s.spool.dir)
	if err != nil {
		return
	}
	file, err := os.CreateTemp(s.spool.dir, "*.turn")
	if err != nil {
		s.keeper.release(t)
		return
	}
	r := &record{ended: make(chan struct{}), quiet: make(chan struct{}), file: file, keeper: s.keeper, table: t}
	s.mu.Lock()
	h, _ := json.Marshal(header{
		Root: s.root, Turn: turn, Began: clock.Shown(time.Now().UnixNano()) - (clock.Now() - s.began), Git: len(s.repos) > 0, Table: filepath.Base(t.name),
	})
	all := frame(nil, append([]byte{frameHeader}, h...))
	for dir, is := range s.dirs {
		all = frame(all, folderFrame(dir, is, s.whole[dir]))
	}
	if s.whole["."] {
		all = frame(all, folderFrame(".", inode{}, true))
	}
	for name, l := range s.links {
		b := binary.AppendUvarint(text([]byte{frameLinks}, name), l.Dev)
		all = frame(all, binary.AppendUvarint(binary.AppendUvarint(b, l.Ino), l.Names))
	}
	for name, e := range s.files.own {
		all = frame(all, fileFrame(name, e))
	}
	r.write(all)
	s.record = r
	s.mu.Unlock()
	go r.live(file.Name())
}

// frame appends a frame with its length and checksum.
func frame(to, body []byte) []byte {
	to = append(binary.AppendUvarint(to, uint64(len(body))), body...)
	return binary.BigEndian.AppendUint32(to, crc32.ChecksumIEEE(body))
}

func text(to []byte, s string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(s))), s...)
}

func folderFrame(dir string, is inode, whole bool) []byte {
	b := binary.AppendUvarint(text([]byte{frameFolder}, dir), is.dev)
	return append(binary.AppendUvarint(b, is.ino), flag(whole))
}

func flag(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// fileFrame is the frame of a path's state; nil: there is no file.
func fileFrame(name string, e *entry) []byte {
	if e == nil || e.gone {
		return text([]byte{frameGone}, name)
	}
	b := text([]byte{frameFile}, name)
	b = binary.AppendUvarint(b, e.Dev)
	b = binary.AppendUvarint(b, e.Ino)
	b = binary.AppendVarint(b, e.Size)
	b = binary.AppendVarint(b, e.Mtime)
	b = binary.AppendVarint(b, e.Ctime)
	b = binary.AppendUvarint(b, uint64(e.Mode))
	b = append(b, flag(e.racy)|flag(e.doubtful)<<1)
	b = text(b, e.blob.OID)
	file, n := "", e.content.n
	if n > 0 {
		if file = e.content.in.path(); file == "" {
			n = -1
		}
	}
	b = binary.AppendVarint(b, int64(n))
	return binary.AppendVarint(text(b, filepath.Base(file)), e.content.at)
}

// note adds a path's new state; nil: there is no file any more.
func (r *record) note(name string, e *entry) {
	if r == nil {
		return
	}
	all := frame(nil, fileFrame(name, e))
	r.mu.Lock()
	defer r.mu.Unlock()
	r.write(all)
}

// write appends frames. r.mu must be held. After an error there is no record: it would lack what has been taken in.
func (r *record) write(all []byte) {
	if r.file == nil {
		return
	}
	if _, err := r.file.Write(all); err != nil {
		r.drop()
	}
}

// drop removes the record. r.mu must be held.
func (r *record) drop() {
	if r.file != nil {
		_ = r.file.Close()
		_ = os.Remove(r.file.Name()) // the next start of the daemon does, where this fails
		r.file = nil
	}
}

// live shows that the process lives, until close.
func (r *record) live(name string) {
	defer close(r.quiet)
	for tick := time.NewTicker(beat); ; {
		select {
		case <-r.ended:
			tick.Stop()
			return
		case <-tick.C:
			now := time.Now()
			_ = os.Chtimes(name, now, now) // without it, later changes count as those after the process's end
		}
	}
}

// close ends the record and removes it. Nothing may be written down at the same time.
func (r *record) close() {
	if r == nil {
		return
	}
	close(r.ended)
	<-r.quiet
	defer r.keeper.release(r.table)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.drop()
}

// Recall adds to the record what a path holds when a call that names it begins, unless the call may have written it already. The snapshot
// itself does not change.
func (s *Snapshot) Recall(name string, img atomicfile.State, written bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if written || s.record == nil || filepath.IsAbs(name) || img.Unreadable != "" {
		return
	}
	if st := filestat.Of(s.Full(name)); clock.Now()-st.Changed() < int64(soon) || st.Size != int64(len(img.Bytes())) || st.Size == 0 {
		return // the agent's message may have come after its write, or while it has emptied the file
	}
	if !img.Exists {
		s.record.note(name, nil)
		return
	}
	s.record.note(name, &entry{Stat: filestat.Stat{Size: int64(len(img.Data)), Mode: img.FileMode}, racy: true, content: s.spool.put(img.Bytes())})
}
