// Package rpc puts the daemon on a wire: JSON-RPC 2.0 in two framings, the native protocol of PROTOCOL.md, and a Go client
// for it.
//
// A connection has a reader, an ordered worker and a writer:
//
//	bytes -> FrameReader -> stream -> dispatcher -> face -> daemon.Daemon
//	bytes <- outbox      <- replies and notifications, in one order
//
// The library under it, sourcegraph/jsonrpc2, gets only messages that stream has checked, so it never closes a connection
// because of one.
//
//go:generate go test -run "TestSchemaIsUpToDate|TestRequestsAreUpToDate" -update .
package rpc
