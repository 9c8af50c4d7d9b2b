// Package api has what clients ask of the daemon and what they get: the parameters and answers of requests, the errors, and
// the lines of an exported session. It is for both sides, so it knows neither the core nor the wire: package rpc gives the
// types that have no JSON tags a form of its own.
package api
