package process

// An Origin says who has started a process, as far as the system shows it.
type Origin struct {
	Marked  bool   // a run with the mark in Request.Env has
	Value   string // of the variable, at the run's first process; "" if the parents do not lead from the process to this one
	Unknown bool   // the process has ended, or has too many ancestors; Marked is false
}
