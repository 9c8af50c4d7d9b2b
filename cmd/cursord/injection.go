//go:build !cursordtest

package main

// injection is nothing, but in a program that is built for tests.
func injection() injected { return injected{} }
