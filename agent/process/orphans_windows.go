package process

// marked returns nil: a job object ends an agent with its daemon.
func marked(string) []int { return nil }

func killTree(int) {}

func commandLine(int) string { return "" }

func relatives() []relative { return nil }

func beginning(int) uint64 { return 0 }

func terminate(int) {}

func ownGroup() int { return 0 }

func inner(pid int) int { return pid }
