package askgit

const nonBlocking = 0
