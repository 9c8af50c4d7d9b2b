package agent

import "os"

// readFrom is file.Read. Windows does not say how much is unread, so the moment of the note does not matter.
func (h *Heard) readFrom(file *os.File, b []byte) (int, error) {
	defer h.read()
	return file.Read(b)
}
