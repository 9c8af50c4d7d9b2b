package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"
)

const hostOS, hostArch = runtime.GOOS, runtime.GOARCH

// A file is a file of a release.
type file struct {
	data    []byte
	program bool
}

// files are a release's files by their paths, with slashes.
type files map[string]file

// sharedFiles returns the files that are the same on all systems: documents, completions, and the editors' plugins as
// installed.
func (r *release) sharedFiles() (files, error) {
	all := files{}
	for _, name := range []string{"LICENSE", "README.md", "CHANGELOG.md"} {
		data, err := os.ReadFile(filepath.Join(r.top, name))
		if err != nil {
			return nil, err
		}
		all[name] = file{data: data}
	}
	for name, args := range map[string][]string{
		"man/cursord.1":            {"man"},
		"completions/cursord.bash": {"completion", "bash"},
		"completions/_cursord":     {"completion", "zsh"},
		"completions/cursord.fish": {"completion", "fish"},
	} {
		said, err := output(append([]string{r.host}, args...)...)
		if err != nil {
			return nil, err
		}
		all[name] = file{data: []byte(said)}
	}
	for _, editor := range []string{"nvim", "emacs"} {
		dir := filepath.Join(r.work, "editors", editor)
		if _, err := output(r.host, "editor", "install", editor, "--dir", dir); err != nil {
			return nil, err
		}
		if err := all.addTree("editors/"+editor, dir); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// addTree adds the files of the folder dir below the path at.
func (f files) addTree(at, dir string) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		data, err := os.ReadFile(name)
		f[path.Join(at, filepath.ToSlash(rel))] = file{data: data}
		return err
	})
}

// filesOf returns the release's files for a system: the shared files, the program, its licences and its bill of materials.
// It also writes the bill of materials beside the archives.
func (r *release) filesOf(t target, program string, shared files) (files, error) {
	all := maps.Clone(shared)
	data, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	all[filepath.Base(program)] = file{data: data, program: true}
	linked, err := r.linked(program)
	if err != nil {
		return nil, err
	}
	for _, m := range linked {
		for name, text := range m.texts {
			all[path.Join("licenses", m.path, name)] = file{data: text}
		}
	}
	bill, err := r.bill(t, linked)
	if err != nil {
		return nil, err
	}
	all["cursord.cdx.json"] = file{data: bill}
	return all, os.WriteFile(filepath.Join(r.out, r.nameOf(t)+".cdx.json"), bill, 0o644)
}

// nameOf returns the name of a system's archive, without the ending.
func (r *release) nameOf(t target) string {
	return fmt.Sprintf("cursord-%s-%s-%s", r.number(), t.os, t.arch)
}

func archiveEnding(t target) string {
	if t.os == "windows" {
		return ".zip"
	}
	return ".tar.gz"
}

// archive writes a system's archive. It contains a single folder.
func (r *release) archive(t target, all files) error {
	pack := tarGzip
	if t.os == "windows" {
		pack = zipped
	}
	data, err := pack(r.nameOf(t), all, r.made)
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.out, r.nameOf(t)+archiveEnding(t)), data, 0o644)
}

func (f file) mode() int64 {
	if f.program {
		return 0o755
	}
	return 0o644
}

// tarGzip returns an archive. Equal files give equal archives.
func tarGzip(top string, all files, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	const level = 7 // an archive is 0.2 % longer than by the best, and made in less than half the time
	z, err := gzip.NewWriterLevel(&b, level)
	if err != nil {
		return nil, err
	}
	w := tar.NewWriter(z)
	for _, dir := range append([]string{""}, folders(all)...) {
		h := &tar.Header{Typeflag: tar.TypeDir, Name: path.Join(top, dir) + "/", Mode: 0o755, ModTime: at, Format: tar.FormatPAX}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
	}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		one := all[name]
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: path.Join(top, name), Size: int64(len(one.data)), Mode: one.mode(), ModTime: at, Format: tar.FormatPAX,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(one.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

// zipped is tarGzip for Windows.
func zipped(top string, all files, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		h := &zip.FileHeader{Name: path.Join(top, name), Method: zip.Deflate, Modified: at}
		h.SetMode(fs.FileMode(all[name].mode()))
		to, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := to.Write(all[name].data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}

// folders returns the folders of all files, parents first.
func folders(all files) (dirs []string) {
	for name := range all {
		for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.SortFunc(dirs, strings.Compare)
	return slices.Compact(dirs)
}
