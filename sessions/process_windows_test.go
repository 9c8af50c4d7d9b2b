package sessions_test

// children are the jobs of the test binary as a separate process: none on Windows.
func children() map[string]func() { return nil }
