package dirwatch

import (
	"encoding/binary"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"cursord/daemon/internal/clock"
)

var (
	// Saves is the instance for saves, by which authors are told apart. It is read at once, and a flood of other events does not reach its queue.
	Saves Instance
	// Changes is the instance for all else: that something has changed, and must be looked at.
	Changes = Instance{rest: 50 * time.Millisecond}
)

// An Instance is one instance of inotify. The system has it while a handle is open.
type Instance struct {
	rest time.Duration // how long events are left to the system before they are read: it has room for some thousands

	mu      sync.Mutex // guards all below, and what handles have
	reader  *reader    // nil: no handle is open
	handles map[*Handle]struct{}
	watches map[int32]*watch // by the system's number
	latest  ID
	buf     []byte
}

// A reader is an open instance, and the goroutine that reads it.
type reader struct {
	file  *os.File // closed by the goroutine, once it is not the instance's reader
	fd    int      // of file; guarded by the instance's mu, not to be used once it is not its reader
	conn  syscall.RawConn
	over  chan struct{} // closed when it is not the instance's reader
	ended chan struct{} // closed when the goroutine has ended
}

// A watch is one of a folder, which the system has once, whatever the folder's names.
type watch struct {
	wd   int32
	subs []*sub
}

// A sub is a handle's part in a watch.
type sub struct {
	*watch
	h    *Handle
	id   ID
	mask uint32
}

// Open opens a handle.
func (in *Instance) Open() (*Handle, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.reader == nil {
		if err := in.start(); err != nil {
			return nil, err
		}
	}
	h := &Handle{Ready: make(chan struct{}, 1), in: in, by: in.reader, subs: map[ID]*sub{}}
	in.handles[h] = struct{}{}
	return h, nil
}

// start makes a reader. in.mu must be held.
func (in *Instance) start() error {
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		return ofInstances(err)
	}
	r := &reader{file: os.NewFile(uintptr(fd), "inotify"), fd: fd, over: make(chan struct{}), ended: make(chan struct{})}
	if r.conn, err = r.file.SyscallConn(); err != nil {
		r.file.Close()
		return err
	}
	in.reader, in.handles, in.watches, in.buf = r, map[*Handle]struct{}{}, map[int32]*watch{}, make([]byte, 64<<10)
	go in.run(r)
	return nil
}

// stop ends the reader. in.mu must be held.
func (in *Instance) stop() {
	r := in.reader
	in.reader, in.handles, in.watches, in.buf = nil, nil, nil, nil
	close(r.over)
	_ = r.file.SetReadDeadline(time.Unix(1, 0)) // wakes run, which closes the file: whoever reads it cannot
}

func (in *Instance) run(r *reader) {
	defer close(r.ended)
	defer r.file.Close()
	for {
		over := false
		err := r.conn.Read(func(uintptr) bool {
			in.mu.Lock()
			defer in.mu.Unlock()
			over = in.reader != r
			return over || in.read()
		})
		if err != nil || over {
			return
		}
		if in.rest == 0 {
			continue
		}
		select {
		case <-r.over:
			return
		case <-time.After(in.rest):
		}
	}
}

// read gives handles the events that have come until now, and reports whether there were any. in.mu must be held.
func (in *Instance) read() (some bool) {
	left, err := unix.IoctlGetInt(in.reader.fd, unix.TIOCINQ)
	for err == nil && left > 0 {
		n, err := unix.Read(in.reader.fd, in.buf)
		if err == unix.EINTR {
			continue
		}
		if err != nil || n <= 0 {
			return some
		}
		some, left = true, left-n
		at := clock.Now()
		for b := in.buf[:n]; len(b) >= unix.SizeofInotifyEvent; {
			wd, kind := int32(binary.NativeEndian.Uint32(b)), binary.NativeEndian.Uint32(b[4:])
			end := unix.SizeofInotifyEvent + int(binary.NativeEndian.Uint32(b[12:]))
			in.event(wd, kind, b[unix.SizeofInotifyEvent:end], at)
			b = b[end:]
		}
	}
	return some
}

// event gives an event to the handles that asked for it. in.mu must be held.
func (in *Instance) event(wd int32, kind uint32, padded []byte, at int64) {
	if kind&unix.IN_Q_OVERFLOW != 0 {
		for h := range in.handles {
			h.lose()
		}
		return
	}
	w := in.watches[wd]
	if w == nil { // everybody has let go of it
		return
	}
	name := ""
	for _, s := range w.subs {
		if kind&(s.mask|unix.IN_IGNORED|unix.IN_UNMOUNT) == 0 {
			continue
		}
		if name == "" && len(padded) > 0 {
			name = unix.ByteSliceToString(padded)
		}
		s.h.put(Event{s.id, kind, name, at})
	}
	if kind&unix.IN_IGNORED != 0 {
		delete(in.watches, wd)
		for _, s := range w.subs {
			delete(s.h.subs, s.id)
		}
	}
}
