// Package rpc puts the daemon on a wire: JSON-RPC 2.0 in two framings, the native protocol that PROTOCOL.md describes,
// and a Go client of it.
//
// A connection has a reader, an ordered worker and a writer:
//
//	bytes -> FrameReader -> stream -> dispatcher -> face -> daemon.Daemon
//	bytes <- outbox      <- replies and notifications, in one order
//
// The library under it, sourcegraph/jsonrpc2, sees only messages that stream has found good, and gives up its
// connection for none.
//
//go:generate go test -run "TestSchemaIsUpToDate|TestRequestsAreUpToDate" -update .
package rpc
