// Package failure says for people, and by a kind for programs, why cursor-agent did not do what it was to do: by what the agent
// printed (the table of complaints, which has a row for each known one) and by how its process ended. It is pure.
package failure
