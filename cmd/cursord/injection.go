//go:build !cursordtest

package main

import "cursord/cmd/cursord/internal/serve"

// injection injects nothing: this program is not built for tests.
func injection() serve.Injected { return serve.Injected{} }
