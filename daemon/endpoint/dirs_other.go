//go:build unix && !darwin

package endpoint

// Linux allows 108 bytes including the final NUL.
const maxSocketPath = 107
