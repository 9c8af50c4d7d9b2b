// Package faces runs what editors start: the protocol on stdin and stdout, and the faces for LSP and ACP, as clients of the
// user's daemon. It owns their logs and the signals that end them.
package faces

import (
	"errors"
	"os"
	"strings"

	"cursord/cmd/cursord/internal/term"
	"cursord/daemon/config"
	"cursord/daemon/endpoint"
	"cursord/rpc/remote"
)

// Stdio is stdin and stdout as one connection.
type Stdio struct{}

func (Stdio) Read(p []byte) (int, error)  { return os.Stdin.Read(p) }
func (Stdio) Write(p []byte) (int, error) { return os.Stdout.Write(p) }
func (Stdio) Close() error                { return errors.Join(os.Stdin.Close(), os.Stdout.Close()) }

// FindRemote returns the other machine, by the flags or else by the configuration.
func FindRemote(host, program string, paths []string) (*remote.Host, error) {
	dirs, err := endpoint.FindDirs()
	if err != nil {
		return nil, err
	}
	settings, _, err := config.Load(dirs.Config)
	if err != nil {
		return nil, err
	}
	h := &remote.Host{Name: host, SSH: settings.SSH, Program: program, Asks: term.IsTerminal(os.Stderr)}
	if words := strings.Fields(os.Getenv("CURSORD_SSH")); len(words) > 0 {
		h.SSH = words
	}
	if h.Program == "" {
		h.Program = settings.RemoteProgram
	}
	if len(paths) == 0 {
		paths = settings.RemotePaths
	}
	h.Paths, err = remote.ParsePathMap(paths)
	return h, err
}
