// Command compiles checks the types of all packages of a module, of their tests, and of what they import, for each GOOS/GOARCH
// among its arguments: what the compiler would refuse, without the minutes that code for six systems takes. Bodies of functions
// are checked in this module alone.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// A listed package is what "go list" says of one.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct {
		Main      bool
		GoVersion string
	}
}

func main() {
	var failed atomic.Bool
	var all sync.WaitGroup
	for _, platform := range os.Args[1:] {
		all.Go(func() {
			packages, err := list(platform)
			if err == nil {
				err = check(platform, packages)
			}
			if err != nil {
				failed.Store(true)
				fmt.Fprintf(os.Stderr, "%s:\n%v\n", platform, err)
			}
		})
	}
	all.Wait()
	if failed.Load() {
		os.Exit(1)
	}
}

// list returns the packages in an order in which each comes after what it imports.
func list(platform string) ([]listed, error) {
	system, arch, ok := strings.Cut(platform, "/")
	if !ok {
		return nil, errors.New("give GOOS/GOARCH")
	}
	cmd := exec.Command("go", "list", "-deps", "-test", "-json=ImportPath,Dir,GoFiles,ImportMap,Module", "./...")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); err == io.EOF {
			return packages, nil
		} else if err != nil {
			return nil, err
		}
		packages = append(packages, p)
	}
}

// check returns all that is wrong in packages that list has returned.
func check(platform string, packages []listed) error {
	_, arch, _ := strings.Cut(platform, "/")
	known := map[string]*types.Package{"unsafe": types.Unsafe}
	var wrong []error
	for _, p := range packages {
		if p.ImportPath == "unsafe" || strings.HasSuffix(p.ImportPath, ".test") { // the latter are programs that "go test" writes
			continue
		}
		ours := p.Module != nil && p.Module.Main
		config := types.Config{
			IgnoreFuncBodies: !ours,
			Sizes:            types.SizesFor("gc", arch),
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped, is := p.ImportMap[path]; is {
					path = mapped
				}
				if known[path] == nil {
					return nil, fmt.Errorf("%s was not listed", path)
				}
				return known[path], nil
			}),
			Error: func(err error) { wrong = append(wrong, err) },
		}
		if p.Module != nil && p.Module.GoVersion != "" {
			config.GoVersion = "go" + p.Module.GoVersion
		}
		var files []*ast.File
		for _, name := range p.GoFiles {
			file, err := parse(filepath.Join(p.Dir, name))
			if err != nil {
				return err
			}
			files = append(files, file)
		}
		path, _, _ := strings.Cut(p.ImportPath, " ") // what a test is compiled with is "path [path.test]"
		known[p.ImportPath], _ = config.Check(path, positions, files, nil)
	}
	return errors.Join(wrong...)
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

var (
	positions = token.NewFileSet()
	parsed    = map[string]*ast.File{} // most files are the same on all systems
	mu        sync.Mutex
)

func parse(path string) (*ast.File, error) {
	mu.Lock()
	defer mu.Unlock()
	if file := parsed[path]; file != nil {
		return file, nil
	}
	file, err := parser.ParseFile(positions, path, nil, parser.SkipObjectResolution)
	parsed[path] = file
	return file, err
}
