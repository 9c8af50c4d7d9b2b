package program

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"cursord/agent/failure"
	"cursord/agent/plaintext"
)

const (
	versionTime  = 5 * time.Second // for a program to print its version; twice, then four times as long after it was too slow
	failureStays = time.Minute     // until a program that failed is asked again
	silenceStays = 2 * time.Second // until a program that did not answer is asked again
	maxPrograms  = 64              // about which something is remembered
)

// build matches the version of Cursor's program: a date and a commit.
var build = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\d{4}\.\d{2}\.\d{2}-[0-9A-Za-z][0-9A-Za-z.+-]{0,60}$`)
})

// IsBuild reports whether a version has the form of cursor-agent's, YYYY.MM.DD-hash.
func IsBuild(version string) bool { return build().MatchString(version) }

// A Finder finds the agent and knows the builds of what it found. It asks a program for its version once, until the
// program's file changes. It asks a script each time, because what the script starts can change. Any goroutine may call its
// methods.
type Finder struct {
	end      context.Context
	stop     context.CancelFunc
	patience time.Duration // versionTime, except in tests
	ran      sync.WaitGroup

	mu      sync.Mutex
	answers map[string]answer    // guarded by mu; by path
	asking  map[string]*question // guarded by mu; by path
	closed  bool                 // guarded by mu
}

// An answer is a program's answer to the question for its version.
type answer struct {
	file    os.FileInfo
	script  bool
	version string
	err     error
	at      time.Time
	late    int // how many times in a row it was too slow
}

// silent reports whether the program did not answer in time. That does not say what it is: a first start may take long.
func (a *answer) silent() bool {
	var failed *failure.Error
	return errors.As(a.err, &failed) && failed.Kind == failure.KindHung
}

// A question is being asked; answer is valid once done is closed.
type question struct {
	done chan struct{}
	answer
}

// NewFinder returns a Finder, which must be closed.
func NewFinder() *Finder {
	f := &Finder{patience: versionTime, answers: map[string]answer{}, asking: map[string]*question{}}
	f.end, f.stop = context.WithCancel(context.Background())
	return f
}

// Close ends the programs that are being asked.
func (f *Finder) Close() {
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	f.stop()
	f.ran.Wait()
}

// foreign says why a program called agent does not count as Cursor's.
func (a *answer) foreign() string {
	if a.silent() {
		return "it does not answer: " + a.err.Error() + "; it is asked again"
	}
	if a.err != nil {
		return "it does not print its version: " + a.err.Error()
	}
	return fmt.Sprintf("its --version prints %q, but Cursor's prints a date and a commit, such as 2026.10.01-e373342", plaintext.Cut(a.version, 60))
}

// Known returns a program's version without asking it, "" if unknown, and whether it is certain.
func (f *Finder) Known(path string) (version string, certain bool) {
	if version := installedBuild(path); version != "" {
		return version, true
	}
	a, known := f.answer(path)
	if !known {
		return "", false
	}
	return a.version, !a.script || a.err != nil
}

// answer returns a program's last answer, unless its file has changed or it is time to ask again.
func (f *Finder) answer(path string) (answer, bool) {
	if version := installedBuild(path); version != "" {
		return answer{version: version}, true
	}
	f.mu.Lock()
	a, known := f.answers[path]
	f.mu.Unlock()
	stays := failureStays
	if a.silent() {
		stays = silenceStays
	}
	if !known || a.err != nil && time.Since(a.at) > stays {
		return answer{}, false
	}
	info, err := os.Stat(path)
	if err != nil || a.file == nil || !os.SameFile(info, a.file) || info.Size() != a.file.Size() || !info.ModTime().Equal(a.file.ModTime()) {
		return answer{}, false
	}
	return a, true
}

// installedBuild returns the build of a program in the folders that Cursor's installer makes, …/versions/BUILD/PROGRAM, to
// which the link on PATH leads; "" for other programs.
func installedBuild(path string) string {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return ""
	}
	dir := filepath.Dir(resolved)
	if name := filepath.Base(dir); filepath.Base(filepath.Dir(dir)) == "versions" && IsBuild(name) {
		return name
	}
	return ""
}

// Version returns a program's version. It asks the program unless the version is certain. Errors are *failure.Error, or
// ctx's.
func (f *Finder) Version(ctx context.Context, path string) (string, error) {
	if a, known := f.answer(path); known && (!a.script || a.err != nil) {
		return a.version, a.err
	}
	q := f.ask(path)
	if q == nil {
		return "", &failure.Error{Kind: failure.KindFailed, Message: "cursord ends"}
	}
	select {
	case <-q.done:
		return q.version, q.err
	case <-ctx.Done():
		return "", ctx.Err()
	}
}

// Begin asks a program, and calls then with no lock held when it has answered; it does not wait.
func (f *Finder) Begin(path string, then func()) {
	q := f.ask(path)
	if q == nil {
		return
	}
	go func() {
		<-q.done
		then()
	}()
}

// ask asks a program, unless that is being done already; it returns nil if f is closed.
func (f *Finder) ask(path string) *question {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil
	}
	if q := f.asking[path]; q != nil {
		return q
	}
	q := &question{done: make(chan struct{})}
	f.asking[path] = q
	late := f.answers[path].late
	f.ran.Go(func() {
		ctx, cancel := context.WithTimeout(f.end, f.patience<<min(late, 2))
		defer cancel()
		file, err := os.Stat(path)
		if err == nil {
			q.file, q.script = file, isScript(path)
		}
		q.version, q.err = Program{Path: path}.Version(ctx)
		if q.at = time.Now(); q.silent() {
			q.late = late + 1
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		delete(f.asking, path)
		if len(f.answers) >= maxPrograms {
			clear(f.answers)
		}
		if f.end.Err() == nil {
			f.answers[path] = q.answer
		}
		close(q.done)
	})
	return q
}

// isScript reports whether a program may behave differently although its file is the same.
func isScript(path string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return true
	}
	file, err := os.Open(path)
	if err != nil {
		return true
	}
	defer file.Close()
	var begin [4]byte
	n, err := io.ReadFull(file, begin[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return true
	}
	for _, magic := range []string{"\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\xca\xfe\xba\xbe"} {
		if bytes.HasPrefix(begin[:n], []byte(magic)) {
			return false
		}
	}
	return true
}

// Broken reports whether a program is known not to run: asked for its version, it did not start, or failed.
func (f *Finder) Broken(path string) bool {
	a, known := f.answer(path)
	return known && errors.As(a.err, new(*failure.Error)) && !a.silent()
}
