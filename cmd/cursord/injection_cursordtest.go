//go:build cursordtest

package main

import "cursord/cmd/cursord/internal/undertest"

// injection is what the tests that run this program want to go wrong.
func injection() (inject injected) {
	inject.fault, inject.ahead = undertest.Start()
	return inject
}
