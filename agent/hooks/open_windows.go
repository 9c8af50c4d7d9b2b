package hooks

const nonBlocking = 0
