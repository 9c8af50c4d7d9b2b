//go:build unix && !darwin

package daemon

// Linux allows 108 bytes including the final NUL.
const maxSocketPath = 107

// tempDir does not look at $TMPDIR, which differs between a user's programs.
func tempDir() string { return "/tmp" }
