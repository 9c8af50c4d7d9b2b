package api

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
)

// An EnvironmentDigest lets the daemon compare its environment with a client's without seeing values. For PATH and each
// variable whose name begins with CURSOR_, it has the HMAC-SHA256 of the value with Key, in hexadecimal digits, by name.
type EnvironmentDigest struct {
	Key    string            `json:"key"`
	Values map[string]string `json:"values"`
}

// An EnvironmentDifference names the variables that differ between the daemon's environment and a client's, without values.
type EnvironmentDifference struct {
	Differ     []string `json:"differ,omitempty"`     // both have the variable, with different values
	DaemonOnly []string `json:"daemonOnly,omitempty"` // an empty variable counts as missing
	ClientOnly []string `json:"clientOnly,omitempty"`
}

// compared reports whether the agent depends on a variable, so that it is compared.
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

// Bounds of an EnvironmentDigest.
const (
	maxCompared     = 1000
	maxComparedName = 1 << 10 // bytes
)

// CompareEnvironment returns the differences between an environment and a client's; false if the digest is too large.
func CompareEnvironment(environment []string, client EnvironmentDigest) (*EnvironmentDifference, bool) {
	if len(client.Values) > maxCompared || len(client.Key) > maxComparedName {
		return nil, false
	}
	own := DigestEnvironment(environment, client.Key)
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
	return &found, true
}
