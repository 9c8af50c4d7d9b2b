//go:build unix

package main

import "os"

// enableEscapes reports whether a terminal understands escape sequences, as all of them do here.
func enableEscapes(*os.File) bool { return true }
