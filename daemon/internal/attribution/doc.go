// Package attribution decides whose a change of a file is: an agent's, which review lists and a reject may remove, or a
// person's, which no decision touches.
//
// It decides by evidence, the strongest first:
//
//  1. What an editor reports that a person typed or saved.
//  2. The texts that a finished edit call reports, before and after its edit ([Chain]). What lies before the one and
//     behind the other is not the call's.
//  3. In an isolated tree, everything is its agent's.
//  4. The span of a command or another call that may write any file ([Ledger]), as the agent itself dates it.
//  5. Otherwise a person made it.
//
// A formatter that the agent's hooks run is part of the change it formats ([Split]). Where evidence is missing, a source
// says so (via "unknown"), and no bulk reject touches it.
//
// The package is pure: it reads no file and no clock. Its moments are those of package clock, in ns.
package attribution
