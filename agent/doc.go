// Package agent is cursor-agent as a function: Launcher.Run starts it once, feeds it a prompt, and turns what it prints
// into events and an outcome. Decoder, the pure half, reads every known description of the stream and says repeated
// text once; the other half has the process and judges its end.
//
// What a run rests on has packages of its own: program finds the agent and asks it about itself, process starts it and ends all
// that it has started, failure says why it failed. There is deliberately no session, turn or workspace here, and nothing
// looks at the files that a call says it wrote.
package agent
