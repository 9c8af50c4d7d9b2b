package term

// read is os.File.Read, and returns how many Drops there were before.
func (k *Keyboard) read(buf []byte) (n, drops int, err error) {
	n, err = k.f.Read(buf)
	k.mu.Lock()
	defer k.mu.Unlock()
	return n, k.drops, err
}
