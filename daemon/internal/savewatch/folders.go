package savewatch

// MaxAllFolders is how many folders a Folders watches at most: the system has a limit for all programs of a user.
const MaxAllFolders = 2000
