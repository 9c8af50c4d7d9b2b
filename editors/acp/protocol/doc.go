// Package protocol has the messages of the Agent Client Protocol, version 1, as far as cursord uses them: own structs, by the
// published schema 1.21. What clients send is read as the schema wishes: a member of another type counts as absent, so that [] does for
// an object and a word for a list. What cursord sends is held against the schema by the tests of package acp.
package protocol
