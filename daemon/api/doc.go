// Package api has the parameters and answers of requests to the daemon, their errors, and the lines of an exported session.
// Both sides use it, so it knows neither the core nor the wire: package rpc has the JSON forms of types without JSON tags.
package api
