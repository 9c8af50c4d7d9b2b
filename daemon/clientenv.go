package daemon

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"slices"
	"strings"
)

const (
	maxVariables    = 10_000
	maxVariable     = 128 << 10 // bytes; what Linux hands to a program
	maxEnvironment  = 1 << 20   // bytes of all
	maxCompared     = 1000
	maxComparedName = 1 << 10
)

// WantsEnvironment reports whether agents get the environment of the client that starts the turn.
func (d *Daemon) WantsEnvironment() bool { return d.settings().ClientEnv }

// TakeEnvironment returns a client's environment as agents can have it, or nil where they get the daemon's. It holds
// secrets: it is kept in memory alone, for the client's connection and the turns that it starts, and no log has it.
func (d *Daemon) TakeEnvironment(variables []string) ([]string, error) {
	if len(variables) > maxVariables {
		return nil, invalid("variables", "more than %d", maxVariables)
	}
	size := 0
	for _, v := range variables {
		if size += len(v); len(v) > maxVariable || size > maxEnvironment {
			return nil, invalid("variables", "one is over %d bytes, or all are over %d", maxVariable, maxEnvironment)
		}
		if strings.IndexByte(v, '=') < 1 || strings.ContainsRune(v, 0) {
			return nil, invalid("variables", "each must be NAME=VALUE, without a zero byte")
		}
	}
	if !d.WantsEnvironment() {
		return nil, nil
	}
	return slices.Clone(variables), nil
}

// environmentOf returns the environment in which a turn's agent starts; nil stands for the daemon's own. The remark is for
// people, and "" when the environment is the one that the configuration asks for.
func (d *Daemon) environmentOf(told []string) (env []string, remark string) {
	switch {
	case !d.WantsEnvironment():
		return nil, ""
	case told == nil && d.socket != "":
		return nil, "agent_env is \"client\", and the client that started this turn has not told its environment: the agent has the daemon's"
	}
	return told, ""
}

// An EnvironmentDigest is what a client tells of its PATH and of its variables CURSOR_… so that they can be compared: of
// each, by its name, the HMAC-SHA256 of the value with Key, in hexadecimal digits.
type EnvironmentDigest struct {
	Key    string            `json:"key"`
	Values map[string]string `json:"values"`
}

// An EnvironmentDifference names the variables by which the daemon's environment differs from a client's. It has no values.
type EnvironmentDifference struct {
	Differ     []string `json:"differ,omitempty"`     // both have them
	DaemonOnly []string `json:"daemonOnly,omitempty"` // empty ones are as none
	ClientOnly []string `json:"clientOnly,omitempty"`
}

// compared reports whether a variable is one that matters to the agent and is compared.
func compared(name string) bool { return name == "PATH" || strings.HasPrefix(name, "CURSOR_") }

// DigestEnvironment makes the digest of an environment with a key.
func DigestEnvironment(environment []string, key string) EnvironmentDigest {
	e := EnvironmentDigest{Key: key, Values: map[string]string{}}
	for _, kv := range environment {
		if name, value, _ := strings.Cut(kv, "="); compared(name) && value != "" {
			sum := hmac.New(sha256.New, []byte(key))
			sum.Write([]byte(value))
			e.Values[name] = hex.EncodeToString(sum.Sum(nil))
		}
	}
	return e
}

// CompareEnvironment compares the daemon's environment with a client's.
func (d *Daemon) CompareEnvironment(client EnvironmentDigest) (*EnvironmentDifference, error) {
	if len(client.Values) > maxCompared || len(client.Key) > maxComparedName {
		return nil, invalid("compare", "too much")
	}
	own := DigestEnvironment(os.Environ(), client.Key)
	var found EnvironmentDifference
	for name, digest := range client.Values {
		switch is, has := own.Values[name]; {
		case len(name) > maxComparedName || !compared(name):
		case !has:
			found.ClientOnly = append(found.ClientOnly, name)
		case is != digest:
			found.Differ = append(found.Differ, name)
		}
	}
	for name := range own.Values {
		if _, has := client.Values[name]; !has {
			found.DaemonOnly = append(found.DaemonOnly, name)
		}
	}
	for _, list := range [][]string{found.Differ, found.DaemonOnly, found.ClientOnly} {
		slices.Sort(list)
	}
	return &found, nil
}
