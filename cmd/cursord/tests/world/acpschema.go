//go:build unix

package world

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

// acpSchemas are the parts of the published schema of ACP; nil without it.
var acpSchemas = sync.OnceValue(func() *schemas {
	program := filepath.Join(editorFolder(), "bin", "acp-sdk")
	if _, err := os.Stat(program); err != nil {
		return nil
	}
	path, err := exec.Command(program, "schema").Output()
	if err != nil {
		panic(err)
	}
	return schemasIn(strings.TrimSpace(string(path)))
})

// RequireACPSchema skips the test without the published schema of ACP, which "make editors" gets.
func RequireACPSchema(t testing.TB) {
	t.Helper()
	if acpSchemas() == nil {
		require.Empty(t, os.Getenv("CURSORD_NEED_EDITORS"), `there is no acp-sdk: run "make editors"`)
		t.Skip(`there is no acp-sdk; "make editors" gets it`)
	}
}

// CheckACP holds a value against a definition of the published schema of ACP, if that is there.
func CheckACP(t testing.TB, definition string, raw json.RawMessage) {
	t.Helper()
	all := acpSchemas()
	if all == nil {
		return
	}
	schema, err := all.at("/$defs/" + definition)
	if err != nil {
		t.Errorf("%s: %v", definition, err)
		return
	}
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err == nil {
		err = schema.Validate(value)
	}
	if err != nil {
		t.Errorf("this is no %s: %v\n%.800s", definition, err, raw)
	}
}
