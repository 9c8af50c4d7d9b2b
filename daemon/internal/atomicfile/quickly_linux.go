package atomicfile

import (
	"bytes"
	"encoding/binary"
	"path"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/filestat"
)

// quickly reads many unchanged files with few system calls: it opens a folder once for its successive files, without any link on the
// way to it.
type quickly struct {
	top int    // -1: there is no quick way
	dir string // with a slash at its end; "" is top
	in  int    // dir; -1: it is not open

	buf   []byte // for contents
	names []byte // for what the system says of folders
}

func newQuickly(root string) quickly {
	fd, err := unix.Open(root, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		fd = -1
	}
	return quickly{top: fd, in: -1}
}

func (q *quickly) close() {
	q.leave()
	if q.top >= 0 {
		unix.Close(q.top)
	}
}

func (q *quickly) leave() {
	if q.in >= 0 {
		unix.Close(q.in)
	}
	q.in = -1
}

func (q *quickly) read(name string, is filestat.Stat) (data []byte, ok bool) {
	if q.top < 0 {
		return nil, false
	}
	dir, base := path.Split(name)
	in := q.top
	if dir != "" {
		if dir != q.dir || q.in < 0 {
			q.leave()
			q.dir = dir
			q.in = q.open(dir, unix.O_PATH)
		}
		if in = q.in; in < 0 {
			return nil, false
		}
	}
	data, now, _ := q.content(in, base, is.Size)
	return data, now == is && data != nil
}

// open opens a folder; -1 if it cannot.
func (q *quickly) open(dir string, flags uint64) int {
	fd, err := unix.Openat2(q.top, dir, &unix.OpenHow{
		Flags: flags | unix.O_DIRECTORY | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS,
	})
	if err != nil {
		return -1
	}
	return fd
}

// content reads a file of an open folder that has at most size bytes, until the next call. The state is that after it was read, so a change
// meanwhile shows, if the state is not racy. Of a file that cannot be read, or is larger, it returns no data.
func (q *quickly) content(in int, name string, size int64) (data []byte, is filestat.Stat, names uint64) {
	fd, err := unix.Openat(in, name, unix.O_RDONLY|unix.O_NONBLOCK|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, filestat.Stat{}, 0
	}
	defer unix.Close(fd)
	if int64(len(q.buf)) <= size {
		q.buf = make([]byte, size+1)
	}
	n, err := unix.Pread(fd, q.buf, 0)
	is, names = filestat.OfOpen(fd)
	if err != nil || int64(n) > size || int64(n) != is.Size || !is.Mode.IsRegular() {
		return nil, is, names
	}
	return q.buf[:n], is, names
}

// folder is Reader.Folder.
func (q *quickly) folder(dir string, most int64, each func(Entry)) bool {
	if q.top < 0 {
		return false
	}
	fd := q.open(dir, unix.O_RDONLY)
	if fd < 0 {
		return false
	}
	defer unix.Close(fd)
	if q.names == nil {
		q.names = make([]byte, 32<<10)
	}
	for {
		n, err := unix.Getdents(fd, q.names)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return err == nil
		}
		for b := q.names[:n]; len(b) > 0; {
			long, kind := int(binary.NativeEndian.Uint16(b[16:])), b[18]
			name, _, _ := bytes.Cut(b[19:long], []byte{0})
			if b = b[long:]; string(name) != "." && string(name) != ".." {
				each(q.entry(fd, string(name), kind, most))
			}
		}
	}
}

// entry looks at a name in an open folder; kind is what the folder says of it.
func (q *quickly) entry(fd int, name string, kind byte, most int64) Entry {
	e := Entry{Name: name, Dir: kind == unix.DT_DIR}
	switch {
	case kind == unix.DT_REG && most > 0:
		if e.Data, e.Stat, e.Names = q.content(fd, name, most); !e.Stat.Mode.IsRegular() || e.Names == 0 {
			e.Data = nil
			e.Stat, e.Names = filestat.In(fd, name)
		}
	case kind == unix.DT_REG, kind == unix.DT_LNK, kind == unix.DT_UNKNOWN:
		e.Stat, e.Names = filestat.In(fd, name)
		e.Dir = e.Stat.Mode.IsDir()
	}
	return e
}
