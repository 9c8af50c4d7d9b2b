package editorfile

// ended reports whether there is no process with an id. Here nobody is asked.
func ended(int) bool { return false }
