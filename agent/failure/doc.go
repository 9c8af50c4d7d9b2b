// Package failure says why cursor-agent did not do its work: in a sentence for people, and as a kind for programs. It judges
// by what the agent printed (the table of complaints has a row for each known one) and by how its process ended. It is pure.
package failure
