// Command release builds what people install of cursord: archives with checksums and bills of materials for each system,
// packages for Debian and RPM, the extension for Visual Studio Code, and recipes for Arch, Homebrew and Nix. "make release"
// runs it.
//
// The result depends only on the commit, the version and Go's version, not on the folder, the machine or the time.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A target is a system for which a release is built.
type target struct{ os, arch string }

func (t target) String() string { return t.os + "/" + t.arch }

var targets = []target{
	{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}, {"windows", "amd64"}, {"windows", "arm64"},
}

// parts are the names of the parts of a release.
var parts = []string{"archives", "deb", "rpm", "vsix", "recipes"}

// A release is one run of this command.
type release struct {
	version string // such as v0.9.0
	url     string // the project's page; releases are below it
	top     string // the project's folder
	out     string
	work    string // a temporary folder
	made    time.Time
	host    string // a program of the release built for this system
}

// number returns the version as packages write it.
func (r *release) number() string { return strings.TrimPrefix(r.version, "v") }

var versions = regexp.MustCompile(`^v(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)(-[0-9A-Za-z]+(\.[0-9A-Za-z]+)*)?$`)

func main() {
	version := flag.String("version", "", "of the release, `v1.2.3`; without it what git describes the commit as")
	out := flag.String("out", "dist", "the `folder` that is made, or made anew")
	url := flag.String("url", "https://cursord.invalid", "the project's `address`, for the recipes")
	only := flag.String("only", "", "the `systems` to make it for, such as linux/amd64,darwin/arm64; all by default")
	some := flag.String("parts", "", "what to `make` of "+strings.Join(parts, ",")+"; all by default, but recipes only for all systems")
	flag.Parse()
	if err := run(*version, *out, *url, *only, *some); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(version, out, url, only, some string) (err error) {
	r := &release{version: version, url: strings.TrimSuffix(url, "/")}
	chosen, err := chooseTargets(only)
	if err != nil {
		return err
	}
	wanted, err := chooseParts(some, chosen)
	if err != nil {
		return err
	}
	top, err := output("go", "list", "-m", "-f", "{{.Dir}}")
	if err != nil {
		return err
	}
	r.top = strings.TrimSpace(top)
	if r.version == "" {
		if r.version, err = r.described(); err != nil {
			return err
		}
	}
	if !versions.MatchString(r.version) {
		return fmt.Errorf("the version %q is not like v1.2.3 or v1.2.3-rc.1", r.version)
	}
	if r.made, err = r.date(); err != nil {
		return err
	}
	if r.out, err = filepath.Abs(out); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "cursord-release-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(r.work)) }()
	if err := r.make(chosen, wanted); err != nil {
		return err
	}
	return r.sums()
}

func chooseTargets(only string) (chosen []target, err error) {
	if only == "" {
		return targets, nil
	}
	for _, name := range strings.Split(only, ",") {
		i := slices.IndexFunc(targets, func(t target) bool { return t.String() == name })
		if i < 0 {
			return nil, fmt.Errorf("there is no system %q; there are %v", name, targets)
		}
		chosen = append(chosen, targets[i])
	}
	return chosen, nil
}

// chooseParts says what to make. The recipes name the archives of all systems but Windows, so a release for fewer systems has none.
func chooseParts(some string, chosen []target) ([]string, error) {
	missing := slices.IndexFunc(targets, func(t target) bool { return t.os != "windows" && !slices.Contains(chosen, t) })
	if some == "" {
		if missing < 0 {
			return parts, nil
		}
		return slices.DeleteFunc(slices.Clone(parts), func(part string) bool { return part == "recipes" }), nil
	}
	wanted := strings.Split(some, ",")
	for _, part := range wanted {
		if !slices.Contains(parts, part) {
			return nil, fmt.Errorf("there is no part %q; there are %s", part, strings.Join(parts, ", "))
		}
	}
	if slices.Contains(wanted, "recipes") && (missing >= 0 || !slices.Contains(wanted, "archives")) {
		return nil, errors.New("recipes name the archives of Linux and macOS: make archives, too, and for all of linux/amd64,linux/arm64,darwin/amd64,darwin/arm64")
	}
	return wanted, nil
}

var description = regexp.MustCompile(`^v([0-9]+)\.([0-9]+)\.([0-9]+)-([0-9]+)-(g[0-9a-f]+)$`)

// described returns a commit's version: its tag, or a version after the latest tag.
func (r *release) described() (string, error) {
	git := []string{"git", "-C", r.top}
	said, err := output(append(git, "describe", "--tags", "--match", "v[0-9]*", "--abbrev=12")...)
	if err != nil {
		// There is no tag yet.
		n, err := output(append(git, "rev-list", "--count", "HEAD")...)
		if err != nil {
			return "", err
		}
		commit, err := output(append(git, "rev-parse", "--short=12", "HEAD")...)
		return "v0.0.0-dev." + strings.TrimSpace(n) + ".g" + strings.TrimSpace(commit), err
	}
	return afterTag(strings.TrimSpace(said)), nil
}

// afterTag makes a version from a commit's description by git. In the order of versions, by which daemons are replaced,
// v0.9.0-3-gabc would come before v0.9.0; v0.9.1-dev.3.gabc comes after it.
func afterTag(described string) string {
	m := description.FindStringSubmatch(described)
	if m == nil {
		return described
	}
	patch, _ := strconv.Atoi(m[3]) // the pattern allows only digits
	return fmt.Sprintf("v%s.%s.%d-dev.%s.%s", m[1], m[2], patch+1, m[4], m[5])
}

// date returns the time of all files of the release: SOURCE_DATE_EPOCH, else the commit's time.
func (r *release) date() (time.Time, error) {
	said := os.Getenv("SOURCE_DATE_EPOCH")
	if said == "" {
		var err error
		if said, err = output("git", "-C", r.top, "log", "-1", "--format=%ct"); err != nil {
			return time.Time{}, err
		}
	}
	seconds, err := strconv.ParseInt(strings.TrimSpace(said), 10, 64)
	return time.Unix(seconds, 0).UTC(), err
}

// make builds the wanted parts in r.out, for the chosen targets.
func (r *release) make(chosen []target, wanted []string) error {
	if err := r.clear(); err != nil {
		return err
	}
	wants := func(part string) bool { return slices.Contains(wanted, part) }
	// The extension comes first: it alone needs tools that a machine may lack.
	if wants("vsix") {
		if err := r.command(r.top, nil, ".ci/vscode", "package", strings.SplitN(r.number(), "-", 2)[0], filepath.Join(r.out, "cursord-"+r.number()+".vsix")); err != nil {
			return err
		}
	}
	var err error
	if r.host, err = r.build(target{hostOS, hostArch}); err != nil {
		return err
	}
	shared, err := r.sharedFiles()
	if err != nil {
		return err
	}
	for _, t := range chosen {
		program, err := r.build(t)
		if err != nil {
			return err
		}
		files, err := r.filesOf(t, program, shared)
		if err != nil {
			return fmt.Errorf("%s: %w", t, err)
		}
		if wants("archives") {
			if err := r.archive(t, files); err != nil {
				return err
			}
		}
		for _, format := range []string{"deb", "rpm"} {
			if t.os == "linux" && wants(format) {
				if err := r.systemPackage(t, format, files); err != nil {
					return fmt.Errorf("%s for %s: %w", format, t, err)
				}
			}
		}
	}
	if wants("recipes") {
		return r.recipes(chosen)
	}
	return nil
}

// clear empties the release's folder. It refuses a folder that holds something other than a release.
func (r *release) clear() error {
	had, err := os.ReadDir(r.out)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if len(had) > 0 && !slices.ContainsFunc(had, func(e os.DirEntry) bool { return e.Name() == sumsFile }) {
		return fmt.Errorf("%s is not empty, and has no release in it: name another folder by -out", r.out)
	}
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), nil, 0o644)
}

// build builds the program for a system and returns its path. It builds each program once.
func (r *release) build(t target) (string, error) {
	name := "cursord"
	if t.os == "windows" {
		name += ".exe"
	}
	file := filepath.Join(r.work, t.os+"-"+t.arch, name)
	if _, err := os.Stat(file); err == nil {
		return file, nil
	}
	fmt.Println("build", t)
	env := []string{"CGO_ENABLED=0", "GOOS=" + t.os, "GOARCH=" + t.arch, "GOAMD64=v1", "GOARM64=v8.0", "GOFLAGS=", "GOEXPERIMENT="}
	return file, r.command(r.top, env, "go", "build", "-trimpath", "-buildvcs=false",
		"-ldflags", "-s -w -buildid= -X cursord/cmd/cursord/internal/version.stamped="+r.version, "-o", file, "./cmd/cursord")
}

// sumsFile is the file with the checksums of all other files of a release.
const sumsFile = "SHA256SUMS"

// sums writes the checksums in the format of sha256sum -c.
func (r *release) sums() error {
	list, err := os.ReadDir(r.out)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	for _, e := range list {
		if e.Name() == sumsFile {
			continue
		}
		sum, err := sumOf(filepath.Join(r.out, e.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&b, "%s  %s\n", sum, e.Name())
	}
	return os.WriteFile(filepath.Join(r.out, sumsFile), b.Bytes(), 0o644)
}

func sumOf(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return hex.EncodeToString(h.Sum(nil)), err
}

// command runs a program. If it fails, the error has the program's output.
func (r *release) command(dir string, env []string, args ...string) error {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "SOURCE_DATE_EPOCH="+strconv.FormatInt(r.made.Unix(), 10))
	cmd.Env = append(cmd.Env, env...)
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%s: %w\n%s", strings.Join(args, " "), err, said)
	}
	return nil
}

// output runs a program and returns its standard output.
func output(args ...string) (string, error) {
	out, err := exec.Command(args[0], args[1:]...).Output()
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		return "", fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(exit.Stderr))
	}
	return string(out), err
}
