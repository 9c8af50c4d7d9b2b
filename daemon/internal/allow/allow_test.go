package allow

import (
	"os/exec"
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
			"go test", "go  test\t./...", `go test -run 'TestX|TestY' ./...`, `go test "a b"`, `"go" 'test' x`, "go te\\st", " go test ",
			"go test *.go", "go test 'a\nb'", "go test ~/x", "go test '$HOME' '`id`' 'a;b' 'a && b'", "go test \\\n  ./x", "go test -ldflags=-X=a=b",
		}, []string{
			"", "go", "go tester", "go testx", "gotest", "go vet", "/usr/bin/go test", "x go test", "go -C /x test",
			"go test ;", "go test;", "go test -v; ", "go test\n", "go test -v \n\n", "\ngo test", " \n go test", "go test ;\n", "\\\n\ngo test", "go test \\\n;",
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
		{"cd web && npm test", []string{"cd web && npm test", "cd web && npm test -- -u", "cd 'web'&&npm test", "cd web \\\n&& npm test"}, []string{
			"cd web &&\nnpm test", "cd web && npm test;",
			"npm test", "cd web", "cd web x && npm test", "cd web; npm test", "cd web || npm test", "cd web && npm test && rm x", "cd webx && npm test", "cd web &&\nnpm test; x",
		}},
		{"go vet ./... 2>&1 | tail -5", []string{"go vet ./... 2>&1 | tail -5", "go vet ./... 2>&1 | tail -5 -q"}, []string{
			"go vet ./... | tail -5", "go vet ./... 2>&1 | tail -5 > x", "go vet ./... x 2>&1 | tail -5", "go vet ./... 2>&1 |& tail -5", "go vet ./... 2>x | tail -5", "go vet ./... 2>&1",
		}},
		{"a; b\nc", []string{"a;b \n c x"}, []string{"a && b; c", "a; b", "a & b; c", "a; b; c", "a\nb\nc", "a;\nb\nc", "a; b\n\nc", "a; b\nc\n"}},
		{"go test;", []string{"go test ;", "go test x;"}, []string{"go test", "go test\n", "go test;\n"}},
		{"go test\n", []string{" go test \n", "go test x\n"}, []string{"go test", "go test;", "\ngo test"}},
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

// TestAlways: "always in this folder" was offered with more arguments for commands that run or write what an argument names.
func TestAlways(t *testing.T) {
	t.Parallel()
	for exact, asks := range map[string][]string{
		"go build":       {"-toolexec ./evil", "-o x", "./a"},
		"go test":        {"-toolexec ./evil", "-o x", "-toolexec=./evil", "-exec=./evil", "-overlay=x", "-C=x", "-modfile=x", "example.com/evil", "../x", "./../x", "./a.go", "./a*", "/x", "''", "-", "--", "$X", "'./a b'"},
		"go test ./a":    {"-exec ./evil", "-exec=./evil", "-run X", "-args", "-coverprofile=x", "-count=1=2", "-vettool=./evil", "./a/../../x", "./.../..", "std", "~/x", "./{a,b}", "-run='$X'", "-run=-x"},
		"go vet":         {"-vettool=./evil", "-c=1"},
		"git status":     {"-v", "-vv", "--verbose", "--help", "--", "'*'", "*", "--porcelain=v2", ":x"},
		"git status -s":  {"--help"},
		"cargo build":    {`--config build.rustc-wrapper="./evil"`},
		"make test":      {"SHELL=./evil", "-f x", "-C x", "lint"},
		"gdbserver :1":   {"./evil"},
		"fab x":          {"-- rm y"},
		"git diff":       {"--ext-diff", "--output=x"},
		"git status -vv": {"x"}, "go test -exec": {"./evil", "./a"}, "go test -exec ./x": {"./a"}, "go test -run X ./a": {"./b"}, "go test -args": {"./a"}, "go test $X": {"./a"},
	} {
		rule, err := Always(exact)
		require.NoError(t, err, exact)
		require.True(t, rule.Allows(exact) && rule.Allows(" "+exact+"  "), exact)
		for _, more := range asks {
			require.False(t, rule.Allows(exact+" "+more), "%s %s", exact, more)
		}
		require.False(t, rule.Allows(exact+";") || rule.Allows(exact+"\n"), exact)
	}
	for _, exact := range []string{
		"pip install x", "gem install", "cargo install", "brew install", "npm install", "apt install x", "npm test", "npm run build", "pytest", "python3 manage.py test", "./gradlew test",
		"touch x", "new-program", "python3.12 x.py", "java Main", "diff a b", "curl x", "ping x", "dd if=a", "git log", "git show", "git blame x", "git commit -m x", "git", "git branch", "gh pr list",
		"git -c x status", "git -C x status", "jq . x", "ps aux", "ls-2", "rm x", "cp a b", "tee x", "uniq a", "tree", "file x", "xxd x", "rg x", "ag x", "fd x", "sort a", "sed s/a/b/", "awk", "find . -name x",
		"printf -v", "test -v", "[ -v", "tar c", "gofmt -l", "go", "go run", "go list", "go env", "go generate", "go install", "go -C x test", "man x", "less x", "sh -c '\"$@\"' x",
		"sudo make", "sudo ls", "env ls", "./ls", "/bin/ls", "../go test", "LS", "l\u0455", "t\u043euch", "$CMD", "\"$CMD\" x", "${X}ls", "g?ep x", "go $X", "git 'stat'$X", "cd x", "docker run x",
		"echo x >f", "cat 2>f", "PATH=. ls", "cat <f", "cat x 2>&1 | head", "ls & PATH=x cat", "ls | xargs x", "alias ls=x; ls", "hash -p /x ls; ls", "source x; ls", "make && ls", "ls | make", "cat x | sort",
		"go test ./... 2>&1 | tail -5", "echo x >ls; ls", "echo $(rm -rf x)", "echo `rm x`", "cat <(make)", "cat x $(id) | head", "tail -f x &", "echo \"$(id)\"",
	} {
		rule, err := Always(exact)
		require.NoError(t, err, exact)
		require.True(t, rule.Exact(), exact)
		require.True(t, rule.Allows(exact), exact)
		for _, more := range []string{" id", " -x", " ''", " a b", " ./a"} {
			require.False(t, rule.Allows(exact+more), exact+more)
		}
	}
	for _, open := range []string{
		"ls", "ls -l", "cat x", "grep -r x", "cd web && ls", "cd $X && ls", "cat x | grep y", "echo x; ls", "'ls' x", "\\ls", "ls & wc", "head -5", "wc x", "du -sh", "go test ./... | tail -5", "git status; ls", "cat *.go", "ls $X",
	} {
		rule, err := Always(open)
		require.NoError(t, err, open)
		require.False(t, rule.Exact(), open)
		require.True(t, rule.Allows(open+" -x 'y z' *"), open)
		require.False(t, rule.Allows(open+" $X"), open)
		require.False(t, rule.Allows(open+" >f"), open)
		require.False(t, rule.Allows(open+"; id"), open)
	}
	for open, more := range map[string][]string{
		"git status":                     {"-s", "--short -b", "a/b.go", "-sb ../x .env"},
		"git status --short":             {"x"},
		"go test":                        {"./...", "./a ./b/...", "-v -race ./a", "-count=1", "-run=TestX/y ./a", "-timeout=10m .", "'./a'"},
		"cd web && go test -v":           {"./..."},
		"go vet -json":                   {"./..."},
		"go test -count=1 ./a -run=Test": {"-short"},
	} {
		rule, err := Always(open)
		require.NoError(t, err, open)
		require.False(t, rule.Exact(), open)
		for _, m := range more {
			require.True(t, rule.Allows(open+" "+m), "%s %s", open, m)
		}
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

// FuzzAlways: what a rule of "always" allows beyond its own words are plain words, behind programs that only read and print, or behind tools that
// know each of them.
func FuzzAlways(f *testing.F) {
	for _, seed := range []string{"ls\x00ls -l", "sudo -u x\x00sudo -u x id", "cd a && cat\x00cd a && cat b", "PATH=. ls\x00PATH=. ls x", "'ls'\x00ls $(x)", "./ls\x00./ls x", "go test\x00go test ./a"} {
		command, line, _ := strings.Cut(seed, "\x00")
		f.Add(command, line)
	}
	f.Fuzz(func(t *testing.T, command, text string) {
		rule, err := Always(command)
		if err != nil || !rule.Allows(text) {
			return
		}
		l, err := read(text)
		if err != nil || len(l.steps) != len(rule.line.steps) {
			t.Fatalf("%q allows %q", command, text)
		}
		last := l.steps[len(l.steps)-1]
		if len(last.words) == len(rule.line.steps[len(l.steps)-1].words) {
			return
		}
		name := last.words[0].text
		if len(last.assigns) > 0 || !slices.Contains(readers, name) && l.harmless() != more(name+" "+last.words[1].text) {
			t.Fatalf("%q allows %q, which may run what it names", command, text)
		}
		if len(last.redirects) > 0 {
			t.Fatalf("%q allows %q, which writes", command, text)
		}
	})
}
