package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"text/template"
	"time"
)

const (
	summary    = "Work with Cursor's agent from editors and scripts, and review its changes"
	maintainer = "The authors of cursord <cursord@localhost.invalid>"
)

// A packaged file is a file of a package, in the form of nfpm's configuration.
type packaged struct {
	Source string `json:"src"`
	To     string `json:"dst"`
	Info   struct {
		Mode int `json:"mode"`
	} `json:"file_info"`
}

// placeInSystem returns the path at which a package of a format installs a file.
func placeInSystem(format, name string) string {
	zsh := "/usr/share/zsh/vendor-completions/_cursord"
	if format == "rpm" {
		zsh = "/usr/share/zsh/site-functions/_cursord"
	}
	switch {
	case name == "cursord":
		return "/usr/bin/cursord"
	case name == "man/cursord.1":
		return "/usr/share/man/man1/cursord.1.gz"
	case name == "completions/cursord.bash":
		return "/usr/share/bash-completion/completions/cursord"
	case name == "completions/_cursord":
		return zsh
	case name == "completions/cursord.fish":
		return "/usr/share/fish/vendor_completions.d/cursord.fish"
	case name == "LICENSE" && format == "deb":
		return "/usr/share/doc/cursord/copyright"
	case name == "LICENSE":
		return "/usr/share/licenses/cursord/LICENSE"
	case strings.HasPrefix(name, "editors/"):
		return "/usr/share/cursord/" + name
	}
	return "/usr/share/doc/cursord/" + name
}

// systemPackage makes a package with nfpm. It needs no script for upgrades: the first client of the new version makes an
// older daemon hand over.
func (r *release) systemPackage(t target, format string, all files) error {
	dir := filepath.Join(r.work, t.os+"-"+t.arch+"-"+format)
	var contents []packaged
	for name, one := range all {
		p := packaged{Source: filepath.Join(dir, filepath.FromSlash(name)), To: placeInSystem(format, name)}
		p.Info.Mode = int(one.mode())
		data := one.data
		if strings.HasSuffix(p.To, ".gz") {
			var err error
			if data, err = gzipped(data); err != nil {
				return err
			}
		}
		if err := os.MkdirAll(filepath.Dir(p.Source), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(p.Source, data, 0o644); err != nil {
			return err
		}
		contents = append(contents, p)
	}
	settings := map[string]any{ // the keys of nfpm's YAML
		"name": "cursord", "arch": t.arch, "platform": "linux", "version": r.version, "version_schema": "semver", "release": "1",
		"section": "devel", "priority": "optional", "maintainer": maintainer, "description": summary, "license": "MIT", "homepage": r.url,
		"mtime": r.made.Format(time.RFC3339), "recommends": []string{"git"}, "contents": contents,
		"rpm": map[string]string{"buildhost": "localhost", "summary": summary},
	}
	text, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	config := filepath.Join(dir, ".nfpm.yaml")
	if err := os.WriteFile(config, text, 0o644); err != nil {
		return err
	}
	return r.command(r.top, nil, "go", "tool", "-modfile=.ci/release.mod", "nfpm", "package", "--config", config, "--packager", format, "--target", r.out)
}

func gzipped(data []byte) ([]byte, error) {
	var b bytes.Buffer
	z, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := z.Write(data); err != nil {
		return nil, err
	}
	err = z.Close()
	return b.Bytes(), err
}

//go:embed recipes
var recipeTexts embed.FS

// A recipe holds the data for the recipes of package managers, which use the archives.
type recipe struct {
	Version, Number, URL, Summary string
	Sums                          map[string]string // of archives, by systems such as linux/amd64
}

// Name returns the file name of a system's archive.
func (r recipe) Name(system string) string {
	osName, arch, _ := strings.Cut(system, "/")
	t := target{osName, arch}
	return (&release{version: r.Version}).nameOf(t) + archiveEnding(t)
}

// Archive returns the URL of a system's archive.
func (r recipe) Archive(system string) string {
	return r.URL + "/releases/download/" + r.Version + "/" + r.Name(system)
}

// Sum returns the checksum of a system's archive.
func (r recipe) Sum(system string) (string, error) {
	if r.Sums[system] == "" {
		return "", fmt.Errorf("there is no archive for %s: make recipes with the archives of all systems", system)
	}
	return r.Sums[system], nil
}

// ArchVersion returns the version as Arch writes it, without a hyphen.
func (r recipe) ArchVersion() string { return strings.ReplaceAll(r.Number, "-", "_") }

// recipes writes the recipes for the archives of a release.
func (r *release) recipes(chosen []target) error {
	what := recipe{Version: r.version, Number: r.number(), URL: r.url, Summary: summary, Sums: map[string]string{}}
	for _, t := range chosen {
		sum, err := sumOf(filepath.Join(r.out, r.nameOf(t)+archiveEnding(t)))
		if err != nil {
			return err
		}
		what.Sums[t.String()] = sum
	}
	all, err := what.texts()
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(r.out, name), text, 0o644); err != nil {
			return err
		}
	}
	return err
}

func (r recipe) texts() (map[string][]byte, error) {
	list, err := recipeTexts.ReadDir("recipes")
	if err != nil {
		return nil, err
	}
	all := map[string][]byte{}
	for _, e := range list {
		t, err := template.ParseFS(recipeTexts, path.Join("recipes", e.Name()))
		if err != nil {
			return nil, err
		}
		var b bytes.Buffer
		if err := t.Execute(&b, r); err != nil {
			return nil, err
		}
		all[strings.TrimSuffix(e.Name(), ".tmpl")] = b.Bytes()
	}
	return all, nil
}
