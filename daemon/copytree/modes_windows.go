package copytree

// keepsModes says that permission bits are what was set.
const keepsModes = false
