package agent

// marked returns nothing: a job object ends an agent with its daemon.
func marked(string) []int { return nil }

func killTree(int) {}

func commandOf(int) string { return "" }
