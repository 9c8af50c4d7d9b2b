package mutants

// mutants returns all mutants of TestMutants.
func mutants() []mutant { return append(weave(), disk()...) }

// weave returns the rules of the review, each without the code that keeps it. A review without the test for equal texts
// behind normalise is left out: it behaves the same while there is the test for a restored baseline.
func weave() []mutant {
	return []mutant{
		{
			name: "a user's deletion leaves a tombstone", file: "diffs/internal/weave/weave.go",
			old: "case n != 0 && a.Ins == 0:\n\t\t\t\ta.Del, a.Both = n, false",
			now: "case a.Ins == 0:\n\t\t\t\ta.Del, a.Both = max(n, 1), false",
		},
		{
			name: "the agent's deletion of its own line leaves a tombstone", file: "diffs/internal/weave/weave.go",
			old: "case n != 0 && a.Ins == 0:",
			now: "case n != 0:",
		},
		{
			name: "lines are glued", file: "diffs/internal/weave/weave.go",
			old: "if glued && !yield(w.LineEnd()) || !yield(a.Text) {",
			now: "if glued && false || !yield(a.Text) {",
		},
		{
			name: "tombstones between deleted lines are lost", file: "diffs/internal/weave/weave.go",
			old: "add(place[0])\n\t\t\t\t}\n\t\t\t\tout = append(out, a)\n\t\t\t\tcontinue",
			now: "add(place[0])\n\t\t\t\t}\n\t\t\t\tcontinue",
		},
		{
			name: "a hunk's id is its position", file: "diffs/hunks.go",
			old: "p.id = min(p.id, r.weave.Atoms[i].ID)",
			now: "p.id = uint64(start) + 1",
		},
		{
			name: "nothing is normalised", file: "diffs/internal/weave/normal.go",
			old: "const rounds = 3",
			now: "const rounds = 0",
		},
		{
			name: "what the user types is pending", file: "diffs/internal/weave/weave.go",
			old: "Ins: n, User: n == 0",
			now: "Ins: max(n, 1), User: n == 0",
		},
		{
			name: "an accept leaves the line pending", file: "diffs/decide.go",
			old: "\t\t\ta.Ins = 0\n",
			now: "",
		},
		{
			name: "lines that a person wrote anew come back above all others", file: "diffs/observe.go",
			old: "\t\t\tr.weave.Pair(splices)\n",
			now: "\t\t\t_ = splices\n",
		},
		{
			name: "only the agent's edits are normalised", file: "diffs/observe.go",
			old: "\tr.weave.Normalise()\n",
			now: "\tif n != 0 {\n\t\tr.weave.Normalise()\n\t}\n",
		},
		{
			name: "a restored baseline is not noticed", file: "diffs/observe.go",
			old: "\tif r.was && r.weave.Is(weave.Baseline, text) {\n\t\tr.weave.SettleBack()\n\t\treturn\n\t}\n",
			now: "",
		},
		{
			name: "tombstones are not repaired", file: "diffs/internal/weave/weave.go",
			old: "a.Del == 0 && i == c || a.Del != 0 && i == b",
			now: "a.Del == 0 && i == c || a.Del != 0",
		},
		{
			name: "live lines are not repaired", file: "diffs/internal/weave/weave.go",
			old: "a.Del == 0 && i == c || a.Del != 0 && i == b",
			now: "a.Del == 0 || a.Del != 0 && i == b",
		},
		{
			name: "moved lines are not linked", file: "diffs/internal/weave/copies.go",
			old: "if moved == nil {\n\t\treturn nil",
			now: "if true {\n\t\treturn nil",
		},
		{
			name: "an undo brings back what the agent withdrew", file: "diffs/undo.go",
			old: "\tcase old.Ins != 0 && a.Del != 0:\n\t\treturn a, false // the agent has removed its own line since\n",
			now: "",
		},
		{
			name: "what the person makes by hand stays pending in a copy", file: "diffs/other.go",
			old: "\tr.weave.Meet(fresh, func(a *weave.Atom) bool { return a.Ins == 0 }, weave.BareTexts)\n",
			now: "\t_ = fresh\n",
		},
		{
			name: "an accept removes a person's line where both have changed", file: "diffs/decide.go",
			old: "accept && a.Ins == 0 && (s.over || !a.Both)",
			now: "accept && a.Ins == 0",
		},
		{
			name: "one edit within a change of the agent's makes two hunks", file: "diffs/internal/weave/contest.go",
			old: "within := from < at && to > 0 && !slices.Contains(gone, 0)",
			now: "within := false",
		},
		{
			name: "an agreed copy is not noticed", file: "diffs/other.go",
			old: "\tif r.is && r.weave.Is(weave.Current, text) {\n\t\tr.weave.SettleForward()\n\t\treturn\n\t}\n",
			now: "",
		},
		{
			name: "a file that is gone takes the agent's lines with it", file: "diffs/other.go",
			old: "if len(kept) == 0 {",
			now: "if true {",
		},
		{
			name: "an accept writes over what the person wrote", file: "diffs/decide.go",
			old: "case accept && sel.parts[theOp] && w != nil && w.forked:",
			now: "case false:",
		},
		{
			name: "an accept makes a file of a part", file: "diffs/decide.go",
			old: "case accept && r.isPart():",
			now: "case false:",
		},
		{
			name: "a mode that the person sets stays pending", file: "diffs/attrs.go",
			old: "if n == 0 || !r.file(weave.Baseline) || r.wasMode == 0 {",
			now: "if !r.file(weave.Baseline) || r.wasMode == 0 {",
		},
		{
			name: "a rejected deletion does not come back where it was", file: "diffs/decide.go",
			old: "r.is, r.isPath = true, r.wasPath",
			now: "r.is = true",
		},
		{
			name: "a save over an unseen hunk is no reject", file: "diffs/overwrite.go",
			old: "case slices.Contains(unseen, p.id) && (r.gone(p, later) ||",
			now: "case slices.Contains(unseen, p.id) && (false ||",
		},
		{
			name: "a save that rewrites a seen hunk rejects it", file: "diffs/overwrite.go",
			old: "r.gone(p, later) && !r.replaced(p, later):",
			now: "r.gone(p, later):",
		},
		{
			name: "a commit accepts what was there before it", file: "diffs/agreed.go",
			old: "after[h.ID] == print && before[h.ID] != print",
			now: "after[h.ID] == print && (true || before[h.ID] != print)",
		},
		{
			name: "a commit accepts what it does not have", file: "diffs/agreed.go",
			old: "after[h.ID] == print && before[h.ID] != print",
			now: "(true || after[h.ID] == print) && before[h.ID] != print",
		},
		{
			name: "an undo puts lines where their neighbours were rewritten at one end", file: "diffs/undoplace.go",
			old: "len(others) == before.lines+behind.lines", now: "false", tests: "diffs TestUndo",
		},
		{
			name: "an undo puts lines beside the line above, rewritten or not", file: "diffs/undoplace.go",
			old: "before.lines < behind.lines ||", now: "true ||", tests: "diffs TestUndo",
		},
		{
			name: "a call that makes and removes a file takes a person's lines with it", file: "diffs/history/take.go",
			old: " && !t.removesOthers(op)", now: "", tests: "diffs TestRewindsOfFilesThatCameAndWent",
		},
		{
			name: "a person who removes a new file forgets the one before", file: "diffs/history/take.go",
			old: "f.deadBefore(from), true", now: "nil, true", tests: "diffs TestRewindsOfFilesThatCameAndWent",
		},
		{
			name: "a made file goes with what others have removed in it of a person's", file: "diffs/history/rewind.go",
			old: "alive+beneath)", now: "alive)", tests: "diffs TestRewindsOfFilesThatCameAndWent",
		},
		{
			name: "nobody knows what a person has typed over", file: "diffs/rewindagain.go",
			old: "(!over || mine[weave.TrimEnd(l)])", now: "(!over || mine[weave.TrimEnd(l)] || true)", tests: "diffs TestRewindsOfFilesThatCameAndWent",
		},
		{
			name: "a rewind knows nothing beneath another's deletion", file: "diffs/rewind.go",
			old: "under != nil {\n\t\tif changes", now: "under != nil && false {\n\t\tif changes", tests: "diffs TestRewindBeneath",
		},
		{
			name: "the lines of a deleted text are found by their texts", file: "diffs/rewind.go",
			old: "atoms := r.revived(of, back)", now: "var atoms []weave.Atom", tests: "diffs TestRewindBeneath",
		},
		{
			name: "no undo is exact", file: "diffs/undo.go",
			old: "if r.shape().sum() == d.After {",
			now: "if false {",
		},
		{
			name: "who wrote a line first is forgotten when somebody changes what is beside it", file: "diffs/past.go",
			old: "if r.past.ToNote() {", now: "if false {", tests: "diffs TestLinesBeside|TestWhatCame",
		},
		{
			name: "any line that stays divides a text that came back", file: "diffs/history/asbefore.go",
			old: "return count[s.text] == 1", now: "return true", tests: "diffs TestTextsThatAgents",
		},
		{
			name: "lines come back that were removed later", file: "diffs/history/asbefore.go",
			old: "return byTime(d.removed(), latest) > 0", now: "return false", tests: "diffs TestTextsThatAgents",
		},
		{
			name: "the edit that brought lines back is not looked at", file: "diffs/history/asbefore.go",
			old: "byTime(last, a) < 0 })", now: "byTime(last, a) <= 0 })", tests: "diffs TestTextsThatAgents",
		},
		{
			name: "what an edit goes on to write is not looked at", file: "diffs/history/take.go",
			old: "t.noted = min(t.noted, by.Group-1)", now: "t.noted = t.noted + 0", tests: "diffs TestWhatCame",
		},
	}
}

// disk returns the rules by which decisions reach the disk.
func disk() []mutant {
	return []mutant{
		{
			name: "the disk is not read again before a decision", file: "daemon/internal/review/refresh.go",
			old: "if !s.here.Same(seen) && !r.takeSave(f, s.here) {",
			now: "if _ = seen; false {", tests: "cmd/cursord/tests/review TestUserEditsSurviveEveryDecision",
		},
		{
			name: "what only a call's end can tell is guessed", file: "daemon/internal/review/refresh.go",
			old: "if pending {", now: "if false {", tests: "cmd/cursord/tests/authorship TestALookBeforeTheWordIsNoPersons",
		},
		{
			name: "a save before the agent reads is the agent's", file: "daemon/internal/attribution/chain.go",
			old: "case !c.stale(*before):", now: "case false:",
		},
		{
			name: "an overwritten save is the person's own doing", file: "daemon/internal/attribution/chain.go",
			old: "if same(c.steps[i].Content, before) {", now: "if false {",
		},
		{
			name: "a look that came late is of before", file: "daemon/internal/attribution/chain.go",
			old: "return holds(l.Content, *from, after)", now: "return false",
		},
		{
			name: "a look at what is half written counts", file: "daemon/internal/attribution/chain.go",
			old: "if half && !l.Person", now: "if false && half && !l.Person",
		},
		{
			name: "reports are ordered by their ends alone", file: "daemon/internal/attribution/chain.go",
			old: "return !slices.ContainsFunc(reports, func(other Report) bool { return r.follows(other) })", now: "return true",
		},
		{
			name: "a call that reports nothing has made every save", file: "daemon/internal/attribution/chain.go",
			old: "s.Saves, s.Saves > explained", now: "s.Saves, false && s.Saves > explained",
		},
		{
			name: "an editor's save is not accounted for", file: "daemon/internal/attribution/chain.go",
			old: "			explained++", now: "			explained += 0",
		},
		{
			name: "a call that reports nothing has made every text", file: "daemon/internal/attribution/silent.go",
			old: "c.changes(c.looks, c.disk) > c.silent", now: "false",
		},
		{
			name: "what was overwritten leaves no trace", file: "daemon/internal/attribution/silent.go",
			old: "c.step(withLost(*c.now(), l.Content, c.disk), c.others)", now: "break",
		},
		{
			name: "a first look is always of before the call", file: "daemon/internal/attribution/silent.go",
			old: "return n > 1 && (c.saves >= n || c.looks[0].Within)", now: "return n < 0",
		},
		{
			name: "what a person wrote anew has the line ends of the file before", file: "daemon/internal/attribution/text.go",
			old: "now, both := same[line]; both &&", now: "now, both := same[line]; false && both &&",
		},
		{
			name: "what a call left is only seen on the disk", file: "daemon/internal/attribution/chain.go",
			old: "reads(l.Content.Data, text) && r.Before != nil", now: "reads(l.Content.Data, text) && false && r.Before != nil",
		},
		{
			name: "reports have the agent's line ends", file: "daemon/internal/attribution/text.go",
			old: "if crlf == 0 {", now: "if true {",
		},
		{
			name: "what comes behind a command is its", file: "daemon/internal/attribution/ledger.go",
			old: "case s.to != 0 && when > s.to:", now: "case false:",
		},
		{
			name: "what comes before a command is its", file: "daemon/internal/attribution/ledger.go",
			old: "may = when >= s.earliest-int64(Tick)", now: "may = true",
		},
		{
			name: "an editor's lock file says nothing", file: "daemon/internal/attribution/ledger.go",
			old: "case src != nil && c.Locked:", now: "case false:",
		},
		{
			name: "what an editor reports is the command's", file: "daemon/internal/attribution/ledger.go",
			old: "if c.Typed {", now: "if false {",
		},
		{
			name: "a formatter may touch every line", file: "daemon/internal/attribution/split.go",
			old: "if touchesOnly(mine, e) {", now: "if true {",
		},
		{
			name: "what a call left was also read by it", file: "daemon/internal/attribution/guess.go",
			old: "return g.readBy(r) && g.leftBy(r) ||", now: "return g.leftBy(r) ||",
		},
		{
			name: "what a call read was also left by it", file: "daemon/internal/attribution/guess.go",
			old: "return g.readBy(r) && g.leftBy(r) ||", now: "return g.readBy(r) ||",
		},
		{
			name: "a stale revision decides", file: "daemon/internal/review/refuse.go",
			old: "if rev == nil {", now: "if rev != nil {", tests: "cmd/cursord/tests/review TestDecisionsThatCannotBe",
		},
		{
			name: "a move overwrites", file: "daemon/internal/atomicfile/change.go",
			old: "t.moveNew(from, to); errors", now: "t.rename(from, to); errors", tests: "daemon/internal/atomicfile TestMoveOverwritesNothing",
		},
		{
			name: "what was saved is moved away", file: "daemon/internal/atomicfile/change.go",
			old: "if !t.Read(to).Same(expect) {", now: "if false {", tests: "daemon/internal/atomicfile TestASaveBetweenLookAndWriteStays",
		},
		{
			name: "a file beyond a link is read", file: "daemon/internal/atomicfile/state.go",
			old: "beyond = err == nil && info.Mode()&fs.ModeSymlink != 0", now: "beyond = err == nil && info.Mode()&fs.ModeSymlink != 0 && false",
			tests: "daemon/internal/atomicfile .",
		},
		{
			name: "a file that grows while it is read is cut", file: "daemon/internal/atomicfile/state.go",
			old: "if same || try == readTries {", now: "if same || true {", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "a new file overwrites", file: "daemon/internal/atomicfile/apply.go",
			old: "err = t.moveNew(c.Temp, c.To)", now: "err = t.rename(c.Temp, c.To)", tests: "daemon/internal/atomicfile TestCreateOverwritesNothing",
		},
		{
			name: "what was saved during a write is lost", file: "daemon/internal/atomicfile/swap.go",
			old: "if !out.Same(c.Before) {", now: "if false {", tests: "daemon/internal/atomicfile TestASaveBetweenLookAndWriteStays",
		},
		{
			name: "what is expected is not looked at", file: "daemon/internal/atomicfile/apply.go",
			old: "if now := t.Read(c.To); !now.Same(c.Before) {", now: "if now := t.Read(c.To); false {", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "what is written in place is not looked at again", file: "daemon/internal/atomicfile/apply.go",
			old: "if !t.is(c.To, f) || !bytes.Equal(now, c.Before.Data) ||", now: "if _ = now; !t.is(c.To, f) ||", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "a save beside a write in place is not noticed", file: "daemon/internal/atomicfile/apply.go",
			old: "if err == nil && !t.is(c.To, f) {", now: "if false {", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "an agent's hard link is written through", file: "daemon/internal/atomicfile/links.go",
			old: "return now.Names > 1 &&", now: "return false &&", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "an agent may have made one more name", file: "daemon/internal/atomicfile/links.go",
			old: " || now.Names > was.Names)", now: ")", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "a person's hard links are cut", file: "daemon/internal/atomicfile/links.go",
			old: "return now.Names > 1 &&", now: "return now.Names > 1 ||", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "what is half written in place is a person's", file: "daemon/internal/atomicfile/change.go",
			old: "case now.Same(c.Before) || now.between(c.Before, after):", now: "case now.Same(c.Before):", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "any text of the same length is half written", file: "daemon/internal/atomicfile/change.go",
			old: "return len(a.Data) == len(before.Data) && bytes.Equal(a.Data[common:], before.Data[common:])",
			now: "return len(a.Data) == len(before.Data)", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "what was left aside is thrown away", file: "daemon/internal/atomicfile/change.go",
			old: "case left.Same(after), left.Same(c.Before):", now: "case left.Exists:", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "what is put back is thrown away", file: "daemon/internal/atomicfile/swap.go",
			old: "if now.Same(in) {", now: "if now.Same(in) || now.Exists {", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "a file that somebody has open for writing goes", file: "daemon/internal/atomicfile/swap.go",
			old: "if !errors.Is(err, errBusy) {\n\t\t\tout = t.Read(c.Temp) // nobody writes it now\n\t\t\tif err != nil || !awaited(old) {",
			now: "if true {\n\t\t\tif true {", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "bits that are not for review go", file: "daemon/internal/atomicfile/apply.go",
			old: "return mode & (fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky)", now: "return mode & 0", tests: "daemon/internal/atomicfile .",
		},
		{
			name: "what was to be written is not known after a crash", file: "daemon/internal/review/intent.go",
			old: "if !slices.ContainsFunc(plan, func(p *planned) bool { return p.change.Writes() }) {",
			now: "if true {", tests: "cmd/cursord/tests/faults TestCrashes",
		},
	}
}
