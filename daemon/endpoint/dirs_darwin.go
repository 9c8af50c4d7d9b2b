package endpoint

// macOS allows 104 bytes including the final NUL.
const maxSocketPath = 103
