//go:build cursordtest

package main

import (
	"cursord/cmd/cursord/internal/serve"
	"cursord/cmd/cursord/internal/undertest"
	"cursord/daemon"
)

// injection returns the faults that the tests ask for.
func injection() (inject serve.Injected) {
	fault, ahead := undertest.Start()
	inject.Ahead = ahead
	inject.Options = func(o *daemon.Options) {
		o.SetFault(fault)
		daemon.SetAhead(ahead)
	}
	return inject
}
