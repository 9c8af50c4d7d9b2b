package agent

import "os"

// readFrom is file.Read. The system does not say how much is unread, so it makes no difference when it is noted.
func (h *Heard) readFrom(file *os.File, b []byte) (int, error) {
	defer h.read()
	return file.Read(b)
}
