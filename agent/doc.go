// Package agent is cursor-agent as a function: Launcher.Run starts it once, feeds it a prompt, and turns what it prints
// into events and an outcome. Decoder, the pure half, reads every known description of the stream and says repeated
// text once; the other half owns the process, its group and its end. Find, Version, Status and Models ask the
// program about itself.
//
// There is deliberately no session, turn or workspace here, and nothing looks at the files that a call says it wrote.
package agent
