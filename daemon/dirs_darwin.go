package daemon

import "os"

// macOS allows 104 bytes including the final NUL.
const maxSocketPath = 103

// tempDir is the user's own on macOS: $TMPDIR.
func tempDir() string { return os.TempDir() }
