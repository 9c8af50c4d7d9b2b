package allow

import (
	"os/exec"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestAllows: what a rule allows, and above all what it does not.
func TestAllows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		rule     string
		yes, not []string
	}{
		{"go test", []string{
			"go test", "go  test\t./...", `go test -run 'TestX|TestY' ./...`, `go test "a b"`, `"go" 'test' x`, "go te\\st", " go test ", "go test\n",
			"go test *.go", "go test ~/x", "go test '$HOME' '`id`' 'a;b' 'a && b'", "go test \\\n  ./x", "go test -ldflags=-X=a=b",
		}, []string{
			"", "go", "go tester", "go testx", "gotest", "go vet", "/usr/bin/go test", "x go test", "go -C /x test",
			"go test; rm -rf /", "go test;rm x", "go test && rm x", "go test || rm x", "go test | sh", "go test |& sh", "go test & rm x", "go test &",
			"go test\nrm x", "go test ./...\n\nrm x", "rm x; go test", "rm x && go test", "rm x | go test", "! go test", "time go test",
			"go test $(rm x)", "go test `rm x`", `go test "$(rm x)"`, "go test \"`rm x`\"", "go test <(rm x)", "go test >(rm x)", "go test $((a[$(rm x)]))",
			"go test $HOME", "go test ${x:-$(rm x)}", `go test "$HOME"`, "go test $'a'", `go test $"a"`, "go test ${a}", "go test $[1]",
			"go test > x", "go test >> x", "go test < x", "go test 2>&1", "go test &> x", "go test >| x", "go test <<E\nx\nE", "go test <<< x", "go test {fd}> x",
			"X=1 go test", "PATH=/x go test", "X=1; go test", "export X; go test",
			"(go test)", "{ go test; }", "if go test; then rm x; fi", "while go test; do rm x; done", "f() { go test; }", "go() { rm x; }; go test",
			"go test # a comment", "# go test", "go test 'x", "go test \"x", "go test \\", "go test )", "go test (x)",
			"go test {a,b}", "go test @(a|b)", "go test *(e:'rm x':)", "coproc go test", "eval go test", "exec go test", "go test a=(b)",
			"go test \x00", "go test \x1b[2J", "go test \u202ex", "go test\u00a0x", "go test \xff", "go test a\rb", "go test \u200b",
			"'go test'", "go' 'test", "go\\ test", "g?o test", "go [t]est", "{go,test}", "~/go test",
		}},
		{"npm run build -- --mode=prod", []string{"npm run build -- --mode=prod", "npm run build -- --mode=prod --watch"}, []string{"npm run build", "npm run build -- --mode=production", "npm run build --mode=prod"}},
		{"cd web && npm test", []string{"cd web && npm test", "cd web && npm test -- -u", "cd 'web'&&npm test"}, []string{
			"npm test", "cd web", "cd web x && npm test", "cd web; npm test", "cd web || npm test", "cd web && npm test && rm x", "cd webx && npm test", "cd web &&\nnpm test; x",
		}},
		{"go vet ./... 2>&1 | tail -5", []string{"go vet ./... 2>&1 | tail -5", "go vet ./... 2>&1 | tail -5 -q"}, []string{
			"go vet ./... | tail -5", "go vet ./... 2>&1 | tail -5 > x", "go vet ./... x 2>&1 | tail -5", "go vet ./... 2>&1 |& tail -5", "go vet ./... 2>x | tail -5", "go vet ./... 2>&1",
		}},
		{"a; b\nc", []string{"a; b; c", "a\nb\nc x"}, []string{"a && b; c", "a; b", "a & b; c"}},
		{"make & wait", []string{"make & wait"}, []string{"make; wait", "make & wait &"}},
		{"a && b & c", []string{"a && b & c"}, []string{"a & b & c", "a && b; c"}},
		{"X=1 make", []string{"X=1 make", "X=1 make all"}, []string{"make", "X=2 make", "X=1 Y=2 make", "X=1; make"}},
		{"echo $(date)", []string{"echo $(date)", "echo $(date) x"}, []string{"echo $(id)", "echo $(date; id)", "echo '$(date)'", "echo $(date) $(date)"}},
		{"echo $HOME", []string{"echo $HOME"}, []string{"echo '$HOME'", "echo $HOME $HOME", "echo ${HOME}"}},
		{"rm '*.txt'", []string{"rm '*.txt'", `rm \*.txt`, `rm "*.txt"`}, []string{"rm *.txt"}},
		{"rm *.txt", []string{"rm *.txt"}, []string{"rm '*.txt'", `rm \*.txt`}},
		{"ls ~", []string{"ls ~"}, []string{"ls '~'"}},
		{"grep ''", []string{`grep ""`, "grep '' x"}, []string{"grep", "grep x"}},
	} {
		rule, err := Parse(c.rule)
		require.NoError(t, err, c.rule)
		require.True(t, rule.Allows(c.rule), "a rule allows itself: %q", c.rule)
		for _, command := range c.yes {
			require.True(t, rule.Allows(command), "%q: %q", c.rule, command)
		}
		for _, command := range c.not {
			require.False(t, rule.Allows(command), "%q: %q", c.rule, command)
			require.False(t, Rule{}.Allows(command), "%q", command)
		}
	}
}

// TestRunsAny: which rules would allow whatever stands behind them.
func TestRunsAny(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"env": true, "env -i A=b": true, "sudo": true, "sudo -n env": true, "/usr/bin/env bash": true, "bash": true, "xargs -0": true, "timeout 60": true, "nice -n 10": true,
		"timeout 2.5m": true, "ls | xargs": true, "cd x && sh": true, "find .": true, "find . -name x": true, "ssh host": true, "$CMD": true, "python3 -c": true, "sudo find": true,
		"go test": false, "sudo make": false, "env A=b go test": false, "bash run.sh": false, "bash -c 'ls'": false, "timeout 60 go test": false, "python3 -m pytest": false,
		"xargs | ls": false, "findx": false, "2": true,
	} {
		rule, err := Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, rule.RunsAny(), text)
	}
}

// TestAlways: "always in this folder" was offered with more arguments for commands that run whatever stands behind them.
func TestAlways(t *testing.T) {
	t.Parallel()
	for _, exact := range []string{
		"sudo -u x", "exec -a x", `sh -c '"$@"' x`, "runuser -u x", "pkexec", "sg g", "capsh --", "chroot /", "unshare", "nsenter -t 1", "systemd-run", "flock f", "ionice -c 3",
		"chrt 1", "taskset 1", "setpriv", "prlimit", "start-stop-daemon", "tini", "gosu x", "busybox", "toybox", "xvfb-run", "dbus-run-session", "/lib64/ld-linux-x86-64.so.2",
		"fakeroot", "bwrap", "firejail", "ltrace", "gdb --args", "valgrind", "perf stat", "hyperfine", "unbuffer", "numactl", "docker run x", "podman exec x", "kubectl exec x --", "uv run",
		"poetry run", "bundle exec", "pnpm exec", "yarn exec", "npm exec", "npm run", "conda run", "deno run", "ip netns exec x", "rsync -e", "fd x", "rg x", "git", "git -c", "git rebase -x",
		"git bisect run", "git submodule foreach", "nix-shell --run", "vim", "emacs", ". x", "source x", "trap", "tmux", "screen", "script x", "stdbuf -o0 x", "setsid x", "awk", "sed s/a/b/",
		"tar c", "make", "make -C x", "python3", "python3 -c x", "node", "printf -v", "test -v", "[ -v", "/usr/bin/sudo make", "$CMD", "\"$CMD\" x", "sudo make", "find . -name x",
		"echo x >f", "cat 2>f", "PATH=. ls", "alias ls=x", "hash -p /x ls", "ls | xargs x", "ls & PATH=x cat", "cat <f",
	} {
		rule, err := Always(exact)
		require.NoError(t, err, exact)
		require.True(t, rule.Exact(), exact)
		require.True(t, rule.Allows(exact) && rule.Allows(" "+exact+"  "), exact)
		for _, more := range []string{" id", " -x", " ''", " a b"} {
			require.False(t, rule.Allows(exact+more), exact+more)
		}
	}
	for _, more := range []string{
		"ls", "ls -l", "cat x", "grep -r x", "cd web && ls", "cat x | grep y", "echo x >f; ls", "'ls' x", "ls & wc", "git status", "go test ./...", "make test", "npm test", "npm run build",
		"cargo build", "pytest", "python3 manage.py test", "./gradlew test", "touch x", "new-program",
	} {
		rule, err := Always(more)
		require.NoError(t, err, more)
		require.False(t, rule.Exact(), more)
		require.True(t, rule.Allows(more+" -x 'y z'"), more)
		require.False(t, rule.Allows(more+" >f"), more)
		require.False(t, rule.Allows(more+"; id"), more)
	}
	_, err := Always("if a; then b; fi")
	require.ErrorIs(t, err, errComplex)
}

// TestParse refuses rules that no command could be held against.
func TestParse(t *testing.T) {
	t.Parallel()
	for text, why := range map[string]error{
		"": errEmpty, " \n": errEmpty, strings.Repeat("x", MaxCommand+1): errLong, "a\x1bb": errUnclear, "a\xff": errUnclear, "a 'b": errSyntax, "a )": errSyntax,
		"(a)": errComplex, "if a; then b; fi": errComplex, "X=1": errComplex, "> x": errComplex, "a # b": errComplex, "# b": errComplex, "! a": errComplex,
		"a <<E\nE": errComplex, "f() { a; }": errComplex, "a && (b)": errComplex, "a | { b; }": errComplex, "[[ a ]]": errComplex, "export X=1": errComplex, "time a": errComplex,
	} {
		_, err := Parse(text)
		require.ErrorIs(t, err, why, text)
	}
}

// TestFirst names the rule that allows a command.
func TestFirst(t *testing.T) {
	t.Parallel()
	var rules []Rule
	for _, text := range []string{"go vet", "go test", "go"} {
		rule, err := Parse(text)
		require.NoError(t, err)
		rules = append(rules, rule)
	}
	require.Equal(t, 1, First("go test ./...", rules))
	require.Equal(t, 2, First("go build", rules))
	require.Equal(t, -1, First("make", rules))
	require.Equal(t, -1, First("go test; x", rules))
	require.Equal(t, -1, First("go test", nil))
}

// FuzzAllows: a rule allows itself, reading never panics, and what "go test" allows runs nothing else: a shell in which every
// other command is an error runs go with the first argument test, once.
func FuzzAllows(f *testing.F) {
	for _, seed := range []string{"go test", "go test; x", "go test 'a' \"b\" \\c", "go test $(x)", "a && b | c & d", "X=1 go test >f 2>&1", "go te\\\nst", "go test {a,b}*~"} {
		f.Add(seed)
	}
	rule, err := Parse("go test")
	require.NoError(f, err)
	sh, missing := exec.LookPath("bash")
	f.Fuzz(func(t *testing.T, line string) {
		if own, err := Parse(line); err == nil && !own.Allows(line) {
			t.Fatalf("%q does not allow itself", line)
		}
		if !rule.Allows(line) || missing != nil {
			return
		}
		const around = `go() { [ "$1" = test ] && printf ran; }; command_not_found_handle() { printf other; }; PATH=; `
		cmd := exec.Command(sh, "--noprofile", "--norc", "-c", around+"\n"+line)
		cmd.Dir = t.TempDir()
		out, err := cmd.Output()
		if err != nil || string(out) != "ran" {
			t.Fatalf("%q: %q, %v", line, out, err)
		}
	})
}

// FuzzAlways: what a rule of "always" allows beyond its own words are plain words, behind programs that only read and print.
func FuzzAlways(f *testing.F) {
	for _, seed := range []string{"ls\x00ls -l", "sudo -u x\x00sudo -u x id", "cd a && cat\x00cd a && cat b", "PATH=. ls\x00PATH=. ls x", "'ls'\x00ls $(x)", "./ls\x00./ls x"} {
		command, line, _ := strings.Cut(seed, "\x00")
		f.Add(command, line)
	}
	f.Fuzz(func(t *testing.T, command, line string) {
		rule, err := Always(command)
		if err != nil || !rule.Allows(line) {
			return
		}
		steps, err := read(line)
		if err != nil || len(steps) != len(rule.steps) {
			t.Fatalf("%q allows %q", command, line)
		}
		last := steps[len(steps)-1]
		if len(last.words) == len(rule.steps[len(steps)-1].words) {
			return
		}
		if len(last.assigns) > 0 || slices.Contains(slices.Concat(runners[:len(runners)-len(interpreters)], anywhere, hosts), path.Base(last.words[0].text)) {
			t.Fatalf("%q allows %q, which runs what it names", command, line)
		}
		if len(last.redirects) > 0 {
			t.Fatalf("%q allows %q, which writes", command, line)
		}
	})
}
