//go:build unix && !darwin

package daemon

// Linux allows 108 bytes including the final NUL.
const maxSocketPath = 107
