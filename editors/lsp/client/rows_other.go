//go:build !unix

package client

// Rows returns how many rows the editor's window has; 0 if that is not known.
func (*Client) Rows() int { return 0 }
