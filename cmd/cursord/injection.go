//go:build !cursordtest

package main

// injection injects nothing: this program is not built for tests.
func injection() injected { return injected{} }
