// Package hunks says where a document has the hunks of a file and how hunks are shown: in a few words, as two texts side by side
// and in the list of all hunks. It is pure: it knows no server, no daemon and no disk. The lines of hunks are git's, which end
// in LF and count from 0 here; positions and ranges are LSP's.
package hunks
