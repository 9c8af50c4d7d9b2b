//go:build unix

package world

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cursord/cmd/cursord/internal/undertest"
)

// TooLargeForRace marks a test that takes minutes with the race detector; "make test" runs it without.
func TooLargeForRace(t *testing.T) {
	if RaceDetector {
		t.Skip("too large for the race detector")
	}
}

// programVar names the program under test, if it is built already: DIR/cursord with the tag cursordtest, and with the race
// detector if the tests are. Beside it may be DIR/fakeagent.
const programVar = "CURSORD_TEST_PROGRAM"

// Main runs the tests of a package and ends the process. The program under test is the first "cursord" in PATH. If the
// tests' own binary is started by a name in others, it runs that function. No daemon of a test outlives Main.
func Main(m *testing.M, others map[string]func()) {
	testscript.Main(tests{m}, others)
}

type tests struct{ m *testing.M }

func (t tests) Run() int {
	flag.Parse()
	if flag.Lookup("test.list").Value.String() != "" {
		return t.m.Run()
	}
	dir, err := os.MkdirTemp("", "cursordtest")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	if err := os.Chmod(dir, 0o755); err != nil { // some children run as other users
		panic(err)
	}
	program := os.Getenv(programVar)
	if program == "" {
		program = filepath.Join(dir, "cursord")
		if err := build(program); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if signal.Ignored(syscall.SIGHUP) { // below nohup this process ignores SIGHUP; a child of a process that catches it does not
		signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP)
	}
	os.Setenv("PATH", filepath.Dir(program)+string(filepath.ListSeparator)+os.Getenv("PATH"))

	shared = filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		panic(err)
	}
	held, err := MakeLife(filepath.Join(dir, "life"))
	if err != nil {
		panic(err)
	}
	defer held.Close()
	os.Setenv(undertest.Life, held.Name())
	return t.m.Run()
}

var shared string

// Shared is a folder for files that several tests of a package use. Main removes it.
func Shared() string { return shared }

// FakeAgent returns the command of the fake agent: the small program beside cursord if there is one, else cursord itself.
var FakeAgent = sync.OnceValue(func() string {
	cursord, err := exec.LookPath("cursord")
	if err != nil {
		panic(err)
	}
	if small, err := exec.LookPath(filepath.Join(filepath.Dir(cursord), "fakeagent")); err == nil {
		return small
	}
	return cursord + " fake-agent"
})

// build builds the program under test: cursord with package undertest.
func build(path string) error {
	cmd := exec.Command("go", "build", "-tags", "cursordtest", "-buildvcs=false", "-o", path, "cursord/cmd/cursord")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if RaceDetector {
		cmd.Args = append(cmd.Args[:2:2], append([]string{"-race"}, cmd.Args[2:]...)...)
		cmd.Env = os.Environ()
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%v: %w\n%s", cmd.Args, err, out)
	}
	return nil
}

// MakeLife makes a pipe that this process holds open and that its children watch, so that no daemon of a test outlives the
// tests, however they end.
func MakeLife(path string) (*os.File, error) {
	if err := syscall.Mkfifo(path, 0o644); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_RDWR, 0)
}

// Top returns a path in the project, from its top folder.
func Top(elem ...string) string { return filepath.Join(append([]string{topFolder()}, elem...)...) }

var topFolder = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	if err != nil {
		panic(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			panic("the tests run outside the project")
		}
		dir = filepath.Dir(dir)
	}
})

// ReadSources reads the names of the program's sources, so that "go test" does not take a result from its cache after one of
// them has changed.
var ReadSources = sync.OnceValue(func() error {
	return filepath.WalkDir(topFolder(), func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() && (d.Name() == "bin" || d.Name()[0] == '.') {
			return filepath.SkipDir
		}
		return err // of each folder that is read, "go test" notes its files' names, sizes and times
	})
})
