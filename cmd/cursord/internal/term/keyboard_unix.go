//go:build unix

package term

import "golang.org/x/sys/unix"

// read is os.File.Read, and returns how many Drops there were before. It holds up a Drop only while there is something to read.
func (k *Keyboard) read(buf []byte) (n, drops int, err error) {
	for {
		if err := k.wait(nil); err != nil {
			return 0, 0, err
		}
		k.mu.Lock()
		if k.wait(&unix.Timeval{}) == nil {
			defer k.mu.Unlock()
			n, err := k.f.Read(buf)
			readHere.Add(int64(n))
			return n, k.drops, err
		}
		k.mu.Unlock() // it was dropped meanwhile
	}
}

// wait waits until something can be read; limit nil waits for ever. After the limit it returns an error.
func (k *Keyboard) wait(limit *unix.Timeval) error {
	for {
		var set unix.FdSet
		set.Set(int(k.f.Fd()))
		n, err := unix.Select(int(k.f.Fd())+1, &set, nil, nil, limit)
		switch {
		case err == unix.EINTR:
		case err != nil:
			return err
		case n == 0:
			return unix.EAGAIN
		default:
			return nil
		}
	}
}
