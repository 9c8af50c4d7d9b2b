//go:build !linux && !darwin

package agent

import "os"

// unread returns 0: the system does not say how much there is to be read in a pipe.
func unread(*os.File) int { return 0 }
