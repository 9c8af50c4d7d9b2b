package rpc

import "io"

// An eagerWriter is not to be had here.
type eagerWriter struct{ next []byte }

func newEagerWriter(io.Writer) *eagerWriter { return nil }

func (e *eagerWriter) write([]byte) int { return 0 }
