package filestat

// NonBlocking is nothing here: opening a file never waits.
const NonBlocking = 0
