package endpoint

import "os"

// NewFolder returns the file beside a socket that the daemon makes anew when a folder may have got its first session. Editors that have
// files open watch for it: the folder may be theirs.
func NewFolder(socket string) string { return socket + ".new-folder" }

// MarkNewFolder makes that file anew.
func MarkNewFolder(socket string) error {
	name := NewFolder(socket)
	_ = os.Remove(name)
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	return f.Close()
}
