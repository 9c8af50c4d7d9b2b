// Package agent runs cursor-agent. Launcher.Run starts it once, gives it a prompt, and turns its output into events and an
// outcome. Decoder is the pure half: it reads every known description of the stream and drops repeated text. The other half
// owns the process and judges its end.
//
// Three packages support a run: program finds the agent and asks it about itself, process starts it and ends everything that
// it has started, failure says why it failed. There is deliberately no session, turn or workspace here, and nothing reads
// the files that a call says it wrote.
package agent
