//go:build cursordtest

package main

import "cursord/cmd/cursord/internal/undertest"

// injection returns the faults that the tests ask for.
func injection() (inject injected) {
	inject.fault, inject.ahead = undertest.Start()
	return inject
}
