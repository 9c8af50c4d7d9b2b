//go:build cursordtest

package main

import (
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/undertest"
)

// injection returns the faults that the tests ask for.
func injection() (inject serve.Injected) {
	inject.Fault, inject.Ahead = undertest.Start()
	return inject
}
