// Package client says what is known of the editor that a server serves: its name, the capabilities that it sent with initialize,
// and the settings of its user. It is pure. A Client is made once, by initialize; only its settings change later.
package client
