package filestat

// A Telling is what the state of a folder tells of the names in it.
type Telling int

// What the states of folders tell.
const (
	TellsNothing Telling = iota
	TellsNames           // it changes with each name that comes or goes
	TellsFolders         // and the folder has two links, and one more for each folder in it
)
