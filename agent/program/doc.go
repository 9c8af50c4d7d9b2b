// Package program finds cursor-agent's program and asks it about itself: where it is (Finder), which build it is, whether
// somebody is logged in and which models there are (Program), and which chats its files list. Builds remembers which options
// a build has refused.
//
// It keeps everything that is known of programs; it runs no turn.
package program
