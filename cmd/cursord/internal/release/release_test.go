package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/semver"
)

var someDay = time.Unix(1_700_000_000, 0).UTC()

// TestArchives are the same for the same files, and have them all, with the program as one.
func TestArchives(t *testing.T) {
	t.Parallel()
	all := files{
		"cursord": {data: []byte("program"), program: true}, "man/cursord.1": {data: []byte(".TH")}, "a/b/c": {data: nil}, "LICENSE": {data: []byte("MIT")},
	}
	tarred, err := tarGzip("top", all, someDay)
	require.NoError(t, err)
	packed, err := zipped("top", all, someDay)
	require.NoError(t, err)
	for range 5 {
		again, err := tarGzip("top", all, someDay)
		require.NoError(t, err)
		require.Equal(t, tarred, again)
		again, err = zipped("top", all, someDay)
		require.NoError(t, err)
		require.Equal(t, packed, again)
	}

	z, err := gzip.NewReader(bytes.NewReader(tarred))
	require.NoError(t, err)
	var names []string
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		require.True(t, h.ModTime.Equal(someDay))
		names = append(names, h.Name)
		require.Equal(t, h.Typeflag == tar.TypeDir || h.Name == "top/cursord", h.Mode == 0o755, h.Name)
	}
	require.Equal(t, []string{
		"top/", "top/a/", "top/a/b/", "top/man/", "top/LICENSE", "top/a/b/c", "top/cursord", "top/man/cursord.1",
	}, names)

	r, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	require.NoError(t, err)
	names = nil
	for _, f := range r.File {
		names = append(names, f.Name)
	}
	require.Equal(t, []string{"top/LICENSE", "top/a/b/c", "top/cursord", "top/man/cursord.1"}, names)
}

// TestAfterTag: what git describes between releases comes after the one and before the next, in the order that daemons go by.
func TestAfterTag(t *testing.T) {
	t.Parallel()
	for described, want := range map[string]string{
		"v0.9.0": "v0.9.0", "v0.9.0-rc.1": "v0.9.0-rc.1", "v0.9.0-14-g0123456789ab": "v0.9.1-dev.14.g0123456789ab",
	} {
		require.Equal(t, want, afterTag(described))
		require.True(t, versions.MatchString(want))
	}
	between := afterTag("v0.9.0-14-g0123456789ab")
	require.Positive(t, semver.Compare(between, "v0.9.0"))
	require.Negative(t, semver.Compare(between, "v0.9.1"))
	for _, wrong := range []string{"", "0.9.0", "v1", "v1.2", "v01.2.3", "v1.2.3+x", "v1.2.3 ", "latest"} {
		require.False(t, versions.MatchString(wrong), wrong)
	}
}

// TestLicenseOf knows the licences of what is linked in, and no others.
func TestLicenseOf(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"MIT License\n\nPermission is hereby\ngranted, free of charge, to":          "MIT",
		"Apache License\nVersion 2.0, January 2004":                                 "Apache-2.0",
		"Redistribution and use in source and binary forms\n * Neither the name of": "BSD-3-Clause",
		"Redistribution and use in source and binary\nforms":                        "BSD-2-Clause",
		"All rights reserved.": "",
	} {
		require.Equal(t, want, licenseOf(map[string][]byte{"LICENSE": []byte(text)}), text)
	}
	require.Empty(t, licenseOf(map[string][]byte{"PATENTS": []byte("Permission is hereby granted, free of charge")}))
	require.Empty(t, licenseOf(nil))
}

// TestLinked: of all that is linked into cursord the version, the checksum and the licence are known, and in its bill of materials.
func TestLinked(t *testing.T) {
	t.Parallel()
	program := os.Getenv("CURSORD_TEST_PROGRAM")
	if program == "" {
		program = filepath.Join(t.TempDir(), "cursord")
		out, err := exec.Command("go", "build", "-o", program, "cursord/cmd/cursord").CombinedOutput()
		require.NoError(t, err, "%s", out)
	}
	r := &release{version: "v0.9.0", top: ".", made: someDay}
	linked, err := r.linked(program)
	require.NoError(t, err)
	require.Equal(t, "std", linked[0].path)
	i := slices.IndexFunc(linked, func(m module) bool { return m.path == "go.etcd.io/bbolt" })
	require.GreaterOrEqual(t, i, 0)
	require.Equal(t, "MIT", linked[i].license)
	require.Contains(t, linked[i].texts, "LICENSE")
	require.True(t, strings.HasPrefix(linked[i].sum, "h1:"))

	bill, err := r.bill(target{"linux", "amd64"}, linked)
	require.NoError(t, err)
	again, err := r.bill(target{"linux", "amd64"}, linked)
	require.NoError(t, err)
	require.Equal(t, bill, again)
	other, err := r.bill(target{"linux", "arm64"}, linked)
	require.NoError(t, err)
	var is, not struct {
		BomFormat, SerialNumber string
		Components              []struct{ Purl string }
	}
	require.NoError(t, json.Unmarshal(bill, &is))
	require.NoError(t, json.Unmarshal(other, &not))
	require.Equal(t, "CycloneDX", is.BomFormat)
	require.NotEqual(t, is.SerialNumber, not.SerialNumber)
	require.Equal(t, "pkg:golang/go.etcd.io/bbolt@"+linked[i].version, is.Components[i].Purl)
}

// TestRecipes name the archives of a release with their checksums, and say if there is none. The shell reads that for Arch.
func TestRecipes(t *testing.T) {
	t.Parallel()
	what := recipe{Version: "v0.9.0-rc.1", Number: "0.9.0-rc.1", URL: "https://example.org/c", Summary: summary, Sums: map[string]string{}}
	_, err := what.texts()
	require.ErrorContains(t, err, "there is no archive for")
	for i, one := range targets {
		what.Sums[one.String()] = strings.Repeat(string(rune('a'+i)), 64)
	}
	all, err := what.texts()
	require.NoError(t, err)
	for _, name := range []string{"PKGBUILD", "cursord.rb", "cursord.nix"} {
		require.Contains(t, string(all[name]), what.Sums["linux/amd64"], name)
		require.Contains(t, string(all[name]), what.Sums["linux/arm64"], name)
	}
	require.Contains(t, string(all["cursord.rb"]), "https://example.org/c/releases/download/v0.9.0-rc.1/cursord-0.9.0-rc.1-darwin-arm64.tar.gz")
	require.Contains(t, string(all["cursord.nix"]), what.Sums["darwin/amd64"])
	if runtime.GOOS == "windows" {
		return
	}
	name := filepath.Join(t.TempDir(), "PKGBUILD")
	require.NoError(t, os.WriteFile(name, all["PKGBUILD"], 0o600))
	out, err := exec.Command("bash", "-euc", `. "$1"; echo "$pkgver ${source_x86_64[0]##*/} ${sha256sums_aarch64[0]}"; type package >/dev/null`, "", name).CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Equal(t, "0.9.0_rc.1 cursord-0.9.0-rc.1-linux-amd64.tar.gz "+what.Sums["linux/arm64"], strings.TrimSpace(string(out)))
}

// TestOneSystem: a release for one system has no recipes, and says so before it builds anything if they are asked for.
func TestOneSystem(t *testing.T) {
	t.Parallel()
	one, unix := targets[:1], targets[:4]
	wanted, err := chooseParts("", one)
	require.NoError(t, err)
	require.Equal(t, []string{"archives", "deb", "rpm", "vsix"}, wanted)
	for _, all := range [][]target{unix, targets} {
		wanted, err = chooseParts("", all)
		require.NoError(t, err)
		require.Contains(t, wanted, "recipes")
	}
	_, err = chooseParts("archives,recipes", one)
	require.ErrorContains(t, err, "recipes name the archives of Linux and macOS")
	_, err = chooseParts("recipes", targets)
	require.ErrorContains(t, err, "make archives, too")
	_, err = chooseParts("snap", targets)
	require.ErrorContains(t, err, `no part "snap"`)
}

// TestPlacesInSystem are those where each system's shells, man and editors look.
func TestPlacesInSystem(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/usr/bin/cursord", placeInSystem("deb", "cursord"))
	require.Equal(t, "/usr/share/man/man1/cursord.1.gz", placeInSystem("rpm", "man/cursord.1"))
	require.Equal(t, "/usr/share/zsh/vendor-completions/_cursord", placeInSystem("deb", "completions/_cursord"))
	require.Equal(t, "/usr/share/zsh/site-functions/_cursord", placeInSystem("rpm", "completions/_cursord"))
	require.Equal(t, "/usr/share/doc/cursord/copyright", placeInSystem("deb", "LICENSE"))
	require.Equal(t, "/usr/share/doc/cursord/licenses/std/LICENSE", placeInSystem("deb", "licenses/std/LICENSE"))
	require.Equal(t, "/usr/share/cursord/editors/nvim/plugin/cursord.lua", placeInSystem("rpm", "editors/nvim/plugin/cursord.lua"))
}

// TestClear removes a release and nothing else.
func TestClear(t *testing.T) {
	t.Parallel()
	r := &release{out: filepath.Join(t.TempDir(), "dist")}
	require.NoError(t, r.clear())
	require.NoError(t, os.WriteFile(filepath.Join(r.out, "old.deb"), nil, 0o600))
	require.NoError(t, r.clear())
	require.NoFileExists(t, filepath.Join(r.out, "old.deb"))
	other := &release{out: t.TempDir()}
	require.NoError(t, os.WriteFile(filepath.Join(other.out, "mine"), nil, 0o600))
	require.ErrorContains(t, other.clear(), "is not empty")
	require.FileExists(t, filepath.Join(other.out, "mine"))
}

// TestWhereInstalled: "make install" says where the program is, and whether a shell finds it or another one.
func TestWhereInstalled(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip(".ci/where is a shell script, which Windows does not run")
	}
	top, err := output("go", "list", "-m", "-f", "{{.Dir}}")
	require.NoError(t, err)
	ours, other := t.TempDir(), t.TempDir()
	for _, dir := range []string{ours, other} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "cursord"), []byte("#!/bin/sh\n"), 0o700))
	}
	tools := t.TempDir() // not /usr/bin, where a cursord may be installed
	for _, name := range []string{"sh", "basename", "dirname"} {
		at, err := exec.LookPath(name)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(at, filepath.Join(tools, name)))
	}
	for path, want := range map[string]string{
		"": ours + " is not on your PATH.", ours: "it is on your PATH", ours + ":" + other: "it is on your PATH",
		other + ":" + ours: "your PATH finds another cursord first: " + other + "/cursord.",
	} {
		cmd := exec.Command(filepath.Join(strings.TrimSpace(top), ".ci", "where"), filepath.Join(ours, "cursord"))
		cmd.Env = []string{"PATH=" + path + ":" + tools}
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", said)
		require.True(t, strings.HasPrefix(string(said), "installed "+ours+"/cursord\n"+want), "%s", said)
	}
}
