package filestat

// NonBlocking is nothing here: opening a file never waits.
const NonBlocking = 0

// NotDirectory reports nothing: the system says that there is no such file.
func NotDirectory(error) bool { return false }
