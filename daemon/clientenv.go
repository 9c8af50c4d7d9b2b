package daemon

import (
	"os"
	"slices"
	"strings"

	"cursord/daemon/api"
)

const (
	maxVariables   = 10_000
	maxVariable    = 128 << 10 // in bytes; what Linux passes to a program
	maxEnvironment = 1 << 20   // of all variables, in bytes
)

// WantsEnvironment reports whether agents get the environment of the client that starts the turn.
func (d *Daemon) WantsEnvironment() bool { return d.settings().ClientEnv }

// TakeEnvironment returns a client's environment in the form for agents, or nil if agents get the daemon's. It contains
// secrets: it stays in memory, for the client's connection and the turns that it starts, and is never logged.
func (d *Daemon) TakeEnvironment(variables []string) ([]string, error) {
	if len(variables) > maxVariables {
		return nil, api.Invalid("variables", "has more than %d entries", maxVariables)
	}
	size := 0
	for _, v := range variables {
		if size += len(v); len(v) > maxVariable || size > maxEnvironment {
			return nil, api.Invalid("variables", "one is longer than %d bytes, or all are longer than %d", maxVariable, maxEnvironment)
		}
		if strings.IndexByte(v, '=') < 1 || strings.ContainsRune(v, 0) {
			return nil, api.Invalid("variables", "each must be NAME=VALUE, without a NUL character")
		}
	}
	if !d.WantsEnvironment() {
		return nil, nil
	}
	return slices.Clone(variables), nil
}

// environmentOf returns the environment for a turn's agent (nil: the daemon's own). The remark is for people; it is "" if
// the environment is the one that the configuration asks for.
func (d *Daemon) environmentOf(given []string) (env []string, remark string) {
	switch {
	case !d.WantsEnvironment():
		return nil, ""
	case given == nil && d.socket != "":
		return nil, "agent_env is \"client\", and the client that started this turn gave no environment: the agent has the daemon's"
	}
	return given, ""
}

// CompareEnvironment compares the daemon's environment with a client's.
func (d *Daemon) CompareEnvironment(client api.EnvironmentDigest) (*api.EnvironmentDifference, error) {
	difference, ok := api.CompareEnvironment(os.Environ(), client)
	if !ok {
		return nil, api.Invalid("compare", "has too many values, or its key is too long")
	}
	return difference, nil
}
