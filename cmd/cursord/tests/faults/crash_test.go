//go:build unix

package faults

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/internal/undertest"
	"cursord/cmd/cursord/tests/world"
	"cursord/daemon/api"
	"cursord/sessions"
)

// A scenario is a kind of decision: the agent's changes, and the requests about them.
type scenario struct {
	name, before, does string
	then               string // the person's changes after the agent's
	decided            []string
	asked, taken       string // the method of the decision, and the method that takes it back
	isolated           bool   // the agent works in a copy, so that an accept writes the work tree
}

// scenarios lists the kinds of decisions that write files.
func scenarios() []scenario {
	all := []scenario{
		{name: "modified", before: `seq 9 >f`, does: `sed -i s/3/three/ f`},
		{name: "modified by both", before: `seq 99 >f`, does: `sed -i -e s/^30$/three/ -e 5d f`, then: `sed -i -e s/^60$/mine/ -e '1i mine too' f`},
		{name: "created", before: `true`, does: `seq 9 >f`},
		{name: "created in a folder", before: `true`, does: `mkdir -p a/b; echo x >a/b/f; chmod 755 a/b/f`},
		{name: "deleted", before: `seq 9 >f; chmod 600 f`, does: `rm f`},
		{name: "deleted with its folder", before: `mkdir -p a/b; echo x >a/b/f`, does: `rm -r a`},
		{name: "moved", before: `echo a >f`, does: `mv f g`},
		{name: "moved to a folder and edited", before: `mkdir -p a; seq 9 >a/f; touch -d '1 hour ago' a/f`, does: `mkdir -p x/y; mv a/f x/y/g; sed -i s/3/three/ x/y/g; chmod 755 x/y/g`},
		{name: "mode", before: `echo a >f; chmod 644 f`, does: `chmod 755 f`},
		{name: "mode and lines", before: `seq 9 >f; chmod 644 f`, does: `echo b >>f; chmod 755 f`},
		{name: "link turned", before: `ln -s x f`, does: `ln -sfn y f`},
		{name: "link created", before: `true`, does: `ln -s ../out f`},
		{name: "link deleted", before: `ln -s x f`, does: `rm f`},
		{name: "file to link", before: `echo a >f; chmod 755 f`, does: `rm f; ln -s x f`},
		{name: "link to file", before: `ln -s x f`, does: `rm f; echo a >f`},
		{name: "binary", before: `printf 'a\000bcdef' >f`, does: `printf 'a\000xyz' >f`},
		{name: "hard linked", before: `seq 9 >f; ln f ../other`, does: `sed s/3/three/ f >../new; cat ../new >f`},
		{name: "hard linked, shorter and with a mode", before: `seq 9 >f; chmod 644 f; ln f ../other`, does: `seq 20 >f; chmod 600 f`},
		{name: "hard linked, longer", before: `seq 30 >f; ln f ../other`, does: `seq 5 >f`},
		{name: "two files", before: `seq 9 >f; seq 9 >g`, does: `echo b >>f; echo b >>g`},
		{name: "all sorts", before: `seq 9 >f; seq 9 >g; ln -s x l; echo m >m`, does: `rm f; echo b >>g; ln -sfn y l; mv m n; mkdir d; echo h >d/h`},
	}
	for i := range all {
		all[i].asked, all[i].taken = "diff/reject", "diff/undo"
	}
	for _, s := range all {
		reject, accept := s, s
		reject.name, reject.isolated = s.name+", isolated", true
		accept.name, accept.isolated, accept.asked = s.name+", isolated and accepted", true, "diff/accept"
		if !strings.HasPrefix(s.name, "hard linked") { // a copy has no links to files outside
			all = append(all, reject, accept)
		}
	}
	for _, s := range all {
		undo, redo := s, s
		undo.name, undo.decided, undo.asked, undo.taken = "undo of "+s.name, []string{s.asked}, "diff/undo", "diff/redo"
		redo.name, redo.decided, redo.asked, redo.taken = "redo of "+s.name, []string{s.asked, "diff/undo"}, "diff/redo", "diff/undo"
		all = append(all, undo, redo)
	}
	if *everyCrash {
		return all
	}
	var some []scenario
	for _, s := range all {
		switch s.name {
		case "modified by both", "undo of two files", "created in a folder":
			some = append(some, s)
		case "deleted with its folder", "moved", "mode", "link created", "file to link", "hard linked, shorter and with a mode",
			"hard linked, longer", "undo of all sorts", "redo of created in a folder", "all sorts, isolated and accepted":
			if !world.RaceDetector {
				some = append(some, s)
			}
		}
	}
	return some
}

var everyCrash = flag.Bool("every-crash", false, "test crashes in every kind of decision, taken back and made again too, in every tree")

// stride returns how many steps of a decision it is to the next one in which the daemon is killed. Of many steps that are the
// same for several files, every third is enough without -every-crash.
func stride(many bool) int {
	if many && !*everyCrash {
		return 3
	}
	return 1
}

// TestCrashes kills the daemon in every step of every kind of decision.
func TestCrashes(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			newCrashes(t, s).run()
		})
	}
}

// TestCrashesInRecovery kills the daemon, and then the next daemon during its recovery. Without -every-crash the first kill
// comes in one of three steps.
func TestCrashesInRecovery(t *testing.T) {
	world.TooLargeForRace(t)
	t.Parallel()
	for _, s := range scenarios() {
		switch s.name {
		case "moved", "hard linked, longer", "undo of two files", "redo of created in a folder":
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				newCrashes(t, s).runAgain()
			})
		}
	}
}

// TestFaults has every step of every kind of decision fail, in several ways.
func TestFaults(t *testing.T) {
	t.Parallel()
	for _, s := range scenarios() {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			newCrashes(t, s).fail()
		})
	}
}

// crashes is one scenario with its world, for many plays.
type crashes struct {
	*world.World
	s         scenario
	session   *sessions.Session // the session with a copy; or nil
	several   bool              // files in which every hunk is decided alone
	was, will outcome           // the outcomes without the decision, and with it
}

// An outcome is the tree and the pending diffs, as a person sees them.
type outcome struct {
	tree    string
	pending string
}

func newCrashes(t *testing.T, s scenario) *crashes {
	c := &crashes{World: world.New(t), s: s}
	c.Makes("umask 022; " + s.before)
	c.Plays(append(world.Shells("s", "umask 022; "+s.does), world.Done)...)
	c.Start()
	e := c.Opens()
	if s.isolated {
		c.session = e.Isolates()
		e.Ok(c.session)
	} else {
		e.Turn(nil)
	}
	if s.then != "" {
		c.Makes(s.then)
	}
	c.several = len(e.Diffs()) > 1 && len(s.decided) == 0
	for _, method := range s.decided {
		require.NoError(t, c.ask(e, method))
	}
	c.was = c.outcome(e)
	c.Stop()
	c.Makes("mkdir ../saved && cp -a ../ws ../state ../saved")
	c.Start()
	e = c.Opens()
	require.NoError(t, c.ask(e, s.asked))
	c.will = c.outcome(e)
	require.NotEqual(t, c.was, c.will)
	c.Stop()
	return c
}

func (c *crashes) ask(e *world.Editor, method string) error {
	params := world.Obj{"workspace": c.Root}
	if method == "diff/reject" || method == "diff/accept" {
		params["all"] = true
	}
	return e.Call(method, params, nil)
}

func (c *crashes) outcome(e *world.Editor) outcome {
	o := outcome{}
	pending := map[string]string{}
	for path, d := range e.Diffs() {
		hunks, _ := json.Marshal(d.Hunks)
		pending[path] = world.Summary(d) + string(hunks)
	}
	b, _ := json.Marshal(pending)
	o.tree, o.pending = c.Listing(), string(b)
	if c.session != nil {
		o.tree += fmt.Sprint(c.Whole(c.Seen(c.session)))
	}
	return o
}

// back restores the state before the decision.
func (c *crashes) back() {
	c.Makes("rm -rf ../state && find . -mindepth 1 -delete && cp -a ../saved/ws/. . && cp -a ../saved/state .. " +
		"&& if test -e ../other; then cat f >../other && chmod --reference=f ../other && ln -f ../other f; fi")
}

func (c *crashes) run() {
	for n := 1; ; n += stride(strings.Contains(c.s.name, "all sorts")) {
		c.back()
		plans(c.World, "kill %d", n)
		c.Start(undertest.Fault + "=" + faultPlan(c.World))
		err := c.ask(c.Opens(), c.s.asked)
		if len(reached(c.World)) < n {
			require.NoError(c.T, err)
			c.Stop()
			return
		}
		<-c.Ended
		c.Cmd = nil
		c.Start()
		c.requireSound(fmt.Sprintf("killed before %q, step %d", reached(c.World)[n-1], n))
		c.Stop()
	}
}

func (c *crashes) runAgain() {
	for n, again := 1, 1; ; again++ {
		c.back()
		plans(c.World, "kill %d", n)
		c.Start(undertest.Fault + "=" + faultPlan(c.World))
		if err := c.ask(c.Opens(), c.s.asked); len(reached(c.World)) < n {
			require.NoError(c.T, err, "step %d", n)
			c.Stop()
			return
		}
		<-c.Ended
		when := fmt.Sprintf("killed before %q, step %d", reached(c.World)[n-1], n)
		plans(c.World, "kill %d", again)
		if c.ComesUp(undertest.Fault + "=" + faultPlan(c.World)) { // the daemon that recovers
			c.recovers()
		}
		steps := reached(c.World)
		if len(steps) < again { // it was killed
			plans(c.World, "none")
			c.requireSound(when)
			c.Stop()
			n += stride(true)
			again = 0
			continue
		}
		<-c.Ended
		c.Start()
		c.requireSound(fmt.Sprintf("%s, and then before %q, step %d", when, steps[again-1], again))
		c.Stop()
	}
}

// recovers asks a daemon that may be killed at any moment for the pending diffs. A command line would start another daemon.
func (c *crashes) recovers() {
	conn, err := net.Dial("unix", c.Socket())
	if err != nil {
		return
	}
	defer conn.Close()
	fmt.Fprintf(conn, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"diff/list","params":{"workspace":%q}}`+"\n", c.Root)
	for lines := bufio.NewReader(conn); ; {
		if line, err := lines.ReadString('\n'); err != nil || strings.Contains(line, `"id":2`) {
			return
		}
	}
}

// requireSound requires that each file is as before or as after the decision, that the log agrees, and that later decisions
// work.
func (c *crashes) requireSound(when string) {
	e := c.Opens()
	now := c.outcome(e)
	require.NotContains(c.T, now.tree, ".tmp", when)
	c.Makes("test ! -e ../other || test f -ef ../other")
	if now != c.was {
		require.NoError(c.T, c.ask(e, c.s.taken), "%s\n%+v\n%+v", when, now, c.was)
		require.Equal(c.T, c.was, c.outcome(e), when)
	} else if c.s.asked != "diff/undo" {
		require.Error(c.T, c.ask(e, c.s.taken), when)
	}
	require.NoError(c.T, c.ask(e, c.s.asked), when)
	require.Equal(c.T, c.will, c.outcome(e), when)
	if !c.several {
		require.Contains(c.T, []outcome{c.was, c.will}, now, when)
	}
}

// fail makes one step after the other fail.
func (c *crashes) fail() {
	c.back()
	plans(c.World, "none")
	c.Start(undertest.Fault + "=" + faultPlan(c.World))
	e := c.Opens()
	for n := 1; ; n++ {
		for errno, says := range map[string]string{"EIO": "input/output error", "ENOSPC": "no space left", "EACCES": "permission denied"} {
			plans(c.World, "fail %d %s", n, errno)
			out, err := c.try(e)
			steps := reached(c.World)
			plans(c.World, "none")
			if len(steps) < n {
				require.NoError(c.T, err)
				require.Equal(c.T, c.will, c.outcome(e))
				require.NoError(c.T, c.ask(e, c.s.taken))
				require.Equal(c.T, c.was, c.outcome(e))
				return
			}
			when := fmt.Sprintf("%s at %q, step %d of %q", errno, steps[n-1], n, steps)
			if steps[n-1] == "rmdir" { // then an empty file stays
				written := "."
				if s := c.s.decided; c.session != nil && c.s.asked != "diff/accept" && (len(s) == 0 || s[0] != "diff/accept") {
					written = c.CopyOf(c.session)
				}
				c.Makes("find " + written + " -mindepth 1 -type d -empty -delete")
			}
			now := c.outcome(e)
			require.NotContains(c.T, now.tree, ".tmp", when)
			switch {
			case err != nil:
				require.ErrorContains(c.T, err, says, when)
				require.Equal(c.T, c.was, now, when)
			case c.several && len(out.Skipped) > 0:
				require.NoError(c.T, c.ask(e, c.s.taken), when)
				require.Equal(c.T, c.was, c.outcome(e), when)
			default: // such a fault need not be reported
				require.Equal(c.T, c.will, now, when)
				require.NoError(c.T, c.ask(e, c.s.taken), when)
				require.Equal(c.T, c.was, c.outcome(e), when)
			}
		}
	}
}

// try decides hunk by hunk, so that a hunk that cannot be decided is an error.
func (c *crashes) try(e *world.Editor) (out api.Decided, err error) {
	params := world.Obj{"workspace": c.Root}
	if len(c.s.decided) == 0 {
		var ids []string
		for _, d := range e.Diffs() {
			ids = append(ids, world.HunkIDs(d)...)
		}
		params["hunks"] = ids
	}
	err = e.Call(c.s.asked, params, &out)
	return out, err
}
