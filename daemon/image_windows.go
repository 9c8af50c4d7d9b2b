package daemon

const nonBlocking = 0

func notDirectory(error) bool { return false }
