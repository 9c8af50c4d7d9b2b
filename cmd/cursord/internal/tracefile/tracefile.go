// Package tracefile records the messages of connections in a file, for the flag --trace.
package tracefile

import (
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"cursord/rpc"
)

// AddFlag adds --trace to a command.
func AddFlag(c *cobra.Command, file *string) {
	c.Flags().StringVar(file, "trace", "",
		"record every message in `FILE`, as lines of JSON with time and direction: prompts and contents of files, too")
}

// Run runs f with a tracer that appends to the file at path; only this user can read the file. Without a path the tracer
// is nil.
func Run(path string, f func(*rpc.Tracer) error) error {
	if path == "" {
		return f(nil)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("--trace: %w", err)
	}
	if err := file.Chmod(0o600); err != nil { // an existing file may be open to others
		return errors.Join(fmt.Errorf("--trace: %w", err), file.Close())
	}
	t := rpc.NewTracer(file)
	ran := f(t)
	if err := errors.Join(t.Wait(), file.Close()); err != nil {
		ran = errors.Join(ran, fmt.Errorf("--trace: not all was recorded: %w", err))
	}
	return ran
}
