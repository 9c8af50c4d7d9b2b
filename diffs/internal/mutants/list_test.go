package mutants

// mutants are the rules of the weave, each without what makes it hold. A review that does not test for equal texts
// behind normalise is not among them: it is no different while there is the test for a restored baseline.
var mutants = []mutant{
	{
		"a user's deletion leaves a tombstone", "diffs/weave.go",
		"case n != 0 && a.ins == 0:\n\t\t\t\ta.del = n",
		"case a.ins == 0:\n\t\t\t\ta.del = max(n, 1)",
	},
	{
		"the agent's deletion of its own line leaves a tombstone", "diffs/weave.go",
		"case n != 0 && a.ins == 0:", "case n != 0:",
	},
	{
		"lines are glued", "diffs/weave.go",
		"if glued && !yield(w.lineEnd()) || !yield(a.text) {", "if glued && false || !yield(a.text) {",
	},
	{
		"tombstones between deleted lines are lost", "diffs/weave.go",
		"case !a.on(on):\n\t\t\t\tout = append(out, a)\n\t\t\t\tcontinue", "case !a.on(on):\n\t\t\t\tcontinue",
	},
	{
		"a hunk's id is its position", "diffs/hunks.go",
		"p.id = min(p.id, r.atoms[i].id)", "p.id = uint64(start) + 1",
	},
	{
		"nothing is normalised", "diffs/normal.go",
		"const rounds = 3", "const rounds = 0",
	},
	{
		"what the user types is pending", "diffs/weave.go",
		"ins: n, user: n == 0", "ins: max(n, 1), user: n == 0",
	},
	{
		"an accept leaves the line pending", "diffs/decide.go",
		"\t\t\ta.ins = 0\n", "",
	},
	{
		"only the agent's edits are normalised", "diffs/observe.go",
		"\tr.normalise()\n", "\tif n != 0 {\n\t\tr.normalise()\n\t}\n",
	},
	{
		"a restored baseline is not noticed", "diffs/observe.go",
		"\tif r.was && r.weave.is(baseline, text) {\n\t\tr.settleBack()\n\t\treturn\n\t}\n", "",
	},
	{
		"tombstones are not repaired", "diffs/weave.go",
		"a.del == 0 && i == c || a.del != 0 && i == b", "a.del == 0 && i == c || a.del != 0",
	},
	{
		"live lines are not repaired", "diffs/weave.go",
		"a.del == 0 && i == c || a.del != 0 && i == b", "a.del == 0 || a.del != 0 && i == b",
	},
	{
		"moved lines are not linked", "diffs/links.go",
		"if moved == nil {\n\t\treturn nil", "if true {\n\t\treturn nil",
	},
	{
		"an undo brings back what the agent withdrew", "diffs/undo.go",
		"\tcase old.Ins != 0 && a.del != 0:\n\t\treturn a, false // the agent withdrew its own line since\n", "",
	},
	{
		"what the person makes by hand stays pending in a copy", "diffs/other.go",
		"\tr.meet(fresh, func(a *atom) bool { return a.ins == 0 }, bareTexts)\n", "\t_ = fresh\n",
	},
	{
		"an agreed copy is not noticed", "diffs/other.go",
		"\tif r.is && r.weave.is(current, text) {\n\t\tr.settleForward()\n\t\treturn\n\t}\n", "",
	},
	{
		"a file that is gone takes the agent's lines with it", "diffs/other.go",
		"if len(kept) == 0 {", "if true {",
	},
	{
		"an accept writes over what the person wrote", "diffs/decide.go",
		"case accept && sel.parts[theOp] && w != nil && w.forked:", "case false:",
	},
	{
		"a mode that the person sets stays pending", "diffs/attrs.go",
		"if n == 0 || !r.file(baseline) || r.wasMode == 0 {", "if !r.file(baseline) || r.wasMode == 0 {",
	},
	{
		"a rejected deletion does not come back where it was", "diffs/decide.go",
		"r.is, r.isPath = true, r.wasPath", "r.is = true",
	},
	{
		"no undo is exact", "diffs/undo.go",
		"if r.shape().sum() == d.After {", "if false {",
	},
}
