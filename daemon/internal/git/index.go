package git

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"

	"cursord/daemon/internal/clock"
	"cursord/daemon/internal/filestat"
)

// Git's index is read here, because it says of each file what state git last saw it in: one look at the files then tells for all but a few
// whether they hold what the index has. Git would look at all of them a second time, and its answer to "ls-files --stage" is as
// long as the index. The format is that of gitformat-index(5).

// errIndex is the error of an index that only git can read: it is of another form or version, of SHA-256, or damaged.
var errIndex = errors.New("git's index has a form that is not known here")

const (
	oidBytes   = 20
	indexStat  = 40 // bytes of an entry in front of the object id
	indexBytes = gitOutput
	indexText  = 1 << 20 // bytes of paths that are kept in one piece

	modeType     = 0o170000
	modeGitlink  = 0o160000
	neverSame    = 1 // the sum of a state that no file has
	flagAssumed  = 1 << 15
	flagExtended = 1 << 14
	flagSkip     = 1 << 14 // of the extended flags
	flagIntended = 1 << 13 // likewise
)

// A seen is the state of a file as far as an index keeps it.
type seen struct {
	mtime, ctime    int64
	ino, size, mode uint32
	_               uint32
}

var (
	seed      = maphash.MakeSeed()
	emptyBlob = [oidBytes]byte{
		0xe6, 0x9d, 0xe2, 0x9b, 0xb2, 0xd1, 0xd6, 0x43, 0x4b, 0x8b, 0x29, 0xae, 0x77, 0x5a, 0xd8, 0xc2, 0xe4, 0x8c, 0x53, 0x91,
	}
)

// sum stands for the state: 32 bytes for each of a million files are too many.
func (s seen) sum() uint64 { return max(maphash.Comparable(seed, s), neverSame+1) }

func seenOf(st filestat.Stat) seen {
	s := seen{mtime: st.Mtime, ctime: st.Ctime, ino: uint32(st.Ino), size: uint32(st.Size)}
	switch mode := st.Mode; {
	case mode.IsRegular() && mode&0o100 != 0:
		s.mode = 0o100755
	case mode.IsRegular():
		s.mode = 0o100644
	case mode.Type() == os.ModeSymlink:
		s.mode = 0o120000
	}
	return s
}

// Clean reports whether git's index says that a file of this state has the content that git has. A file may have it although the index
// does not say so.
func (l *Listed) Clean(st filestat.Stat) bool {
	return l.ID != 0 && !l.Dirty && (l.seen == 0 || l.seen == seenOf(st).sum())
}

// Open reports whether only the content of a file of this state tells if it is the one that git has.
func (l *Listed) Open(st filestat.Stat) bool { return l.ID != 0 && !l.Dirty && !l.Clean(st) }

// readIndex returns the files and submodules of an index file whose paths begin with under, which is cut off, and adds their object ids to
// ids. It leaves out the files that skip names, unless it is nil. Without an index file there are none. The error is errIndex if only git
// can read it; ids may have grown then.
func readIndex(name, under string, ids *IDs, skip func(path []byte) bool) (files []Listed, nested []string, err error) {
	f, info, err := filestat.OpenRegular(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil, nil
	} else if errors.Is(err, filestat.ErrNotRegular) {
		return nil, nil, errIndex
	} else if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	if info.Size() > indexBytes {
		return nil, nil, errIndex
	}
	st, _ := filestat.OfInfo(info)
	r := indexReader{Reader: bufio.NewReaderSize(f, 1<<18), written: st.Mtime, under: under, ids: ids, skip: skip}
	files, nested, err = r.all(info.Size())
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = errIndex
	}
	return files, nested, err
}

type indexReader struct {
	*bufio.Reader
	written int64 // when the index was
	under   string
	ids     *IDs
	skip    func(path []byte) bool // nil: none

	version uint32
	path    []byte           // of the latest entry
	text    *strings.Builder // has the paths of the latest entries
	piece   int              // how much it is to have room for
}

func (r *indexReader) all(size int64) (files []Listed, nested []string, err error) {
	var head struct {
		Magic           [4]byte
		Version, Number uint32
	}
	if err := binary.Read(r, binary.BigEndian, &head); err != nil {
		return nil, nil, err
	}
	r.version = head.Version
	if string(head.Magic[:]) != "DIRC" || head.Version < 2 || head.Version > 4 || int64(head.Number)*(indexStat+oidBytes) > size {
		return nil, nil, errIndex
	}
	r.piece = int(min(size, indexText))
	if r.skip == nil {
		files = make([]Listed, 0, head.Number+512) // others follow
		r.ids.grow(int(head.Number), oidBytes)
	}
	for range head.Number {
		l, mode, err := r.entry()
		switch n := len(files); {
		case err != nil:
			return nil, nil, err
		case l.Path == "": // elsewhere, or left out
		case mode == modeGitlink:
			nested = append(nested, l.Path)
		case n == 0 || files[n-1].Path != l.Path: // else a conflict's other side
			files = append(files, l)
		}
	}
	return files, nested, r.extensions()
}

// entry reads an entry. Its path is "" if it is not below under, or is to be left out.
func (r *indexReader) entry() (l Listed, mode uint32, err error) {
	const fixed = indexStat + oidBytes + 2
	b, err := r.Peek(fixed)
	if err != nil {
		return l, 0, err
	}
	field := func(i int) uint32 { return binary.BigEndian.Uint32(b[4*i:]) }
	moment := func(i int) int64 { return clock.Shown(int64(field(i))*1e9 + int64(field(i+1))) }
	s := seen{ctime: moment(0), mtime: moment(2), ino: field(5), mode: field(6), size: field(9)}
	id := [oidBytes]byte(b[indexStat:])
	flags, more := binary.BigEndian.Uint16(b[fixed-2:]), uint16(0)
	_, _ = r.Discard(fixed)
	long := fixed
	if flags&flagExtended != 0 {
		if b, err = r.Peek(2); err != nil {
			return l, 0, err
		}
		more = binary.BigEndian.Uint16(b)
		_, _ = r.Discard(2)
		long += 2
	}
	if err := r.name(long, int(flags&0xfff)); err != nil {
		return l, 0, err
	}
	switch s.mode & modeType {
	case 0o100000, 0o120000, modeGitlink:
	default:
		return l, 0, errIndex // a folder of a sparse index, or damage
	}
	name, below := bytes.CutPrefix(r.path, []byte(r.under))
	if !below || r.skip != nil && s.mode&modeType != modeGitlink && r.skip(name) {
		return l, 0, nil
	}
	if r.text == nil || r.text.Len()+len(name) > r.text.Cap() {
		r.text = &strings.Builder{}
		r.text.Grow(max(len(name), r.piece))
	}
	at := r.text.Len()
	r.text.Write(name)
	l = Listed{Path: r.text.String()[at:], ID: r.ids.add(id[:]), skip: more&flagSkip != 0}
	l.Dirty = flags&(flagAssumed|3<<12) != 0 || more&(flagSkip|flagIntended) != 0
	switch {
	case s.mode&modeType == 0o120000:
		l.kind = link
	case s.mode&0o100 != 0:
		l.kind = executable
	}
	l.seen = s.sum()
	// A file may have been changed within the tick of the clock in which git looked at it. Git notes size 0 where it is not sure.
	if s.mtime+int64(filestat.Stat{Ctime: s.mtime}.Slack()) >= r.written || s.size == 0 && id != emptyBlob {
		l.seen = neverSame
	}
	return l, s.mode & modeType, nil
}

// name reads the path of an entry into r.path. read is how much of the entry has been read, length what it says of the path's length.
func (r *indexReader) name(read, length int) error {
	keep := 0
	if r.version == 4 {
		cut, err := r.cut()
		if err != nil {
			return err
		}
		if keep = len(r.path) - cut; keep < 0 {
			return errIndex
		}
	}
	rest, err := r.ReadSlice(0)
	if err != nil {
		return errIndex // also a path that is longer than the buffer
	}
	r.path = append(r.path[:keep], rest[:len(rest)-1]...)
	switch {
	case length != min(len(r.path), 0xfff), !staysBelow(r.path):
		return errIndex
	case r.version < 4: // NULs to a multiple of 8
		_, err = r.Discard((read+len(r.path)+8)&^7 - (read + len(rest)))
	}
	return err
}

// staysBelow reports whether a path is a clean one below the work tree.
func staysBelow(name []byte) bool {
	for {
		i := bytes.IndexByte(name, '/')
		part := name
		if i >= 0 {
			part = name[:i]
		}
		if len(part) == 0 || part[0] == '.' && (len(part) == 1 || len(part) == 2 && part[1] == '.') {
			return false
		}
		if i < 0 {
			return true
		}
		name = name[i+1:]
	}
}

// cut reads how many bytes at the end of the path before are not in an entry's path.
func (r *indexReader) cut() (n int, err error) {
	for i := 0; ; i++ {
		b, err := r.ReadByte()
		if err != nil {
			return 0, err
		}
		n |= int(b & 0x7f)
		switch {
		case b&0x80 == 0:
			return n, nil
		case i == 3:
			return 0, errIndex
		}
		n = (n + 1) << 7
	}
}

// extensions reads what follows the entries. The format allows to skip an extension whose name begins with a capital letter.
func (r *indexReader) extensions() error {
	for {
		b, err := r.Peek(oidBytes + 1)
		switch {
		case errors.Is(err, io.EOF) && len(b) == oidBytes:
			return nil // the checksum of all
		case err != nil:
			return err
		case b[0] < 'A' || b[0] > 'Z':
			return fmt.Errorf("%w: it has the extension %q", errIndex, b[:4])
		}
		if _, err := r.Discard(8 + int(binary.BigEndian.Uint32(b[4:]))); err != nil {
			return err
		}
	}
}
