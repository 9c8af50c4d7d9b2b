//go:build race

package overlay

import "os"

// A helper with the race detector waits a second before it ends, unless it is told not to.
func init() { helperEnv = append(helperEnv, "GORACE="+os.Getenv("GORACE")) }
