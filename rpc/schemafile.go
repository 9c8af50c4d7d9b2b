package rpc

import _ "embed"

// Schema is schema.json: the messages of this build, as JSON Schema.
//
//go:embed schema.json
var Schema []byte
