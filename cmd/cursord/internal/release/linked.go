package main

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// A module is a module linked into a program, with its licence.
type module struct {
	path, version, sum string
	license            string            // SPDX identifier
	texts              map[string][]byte // by file name
}

// linked returns the modules in a program, from its build info: Go's standard library first.
func (r *release) linked(program string) ([]module, error) {
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		return nil, err
	}
	root, err := output("go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	list := []module{{path: "std", version: strings.TrimPrefix(info.GoVersion, "go")}}
	dirs := map[string]string{"std": strings.TrimSpace(root)}
	args := []string{"go", "list", "-C", r.top, "-m", "-f", "{{.Path}}\t{{.Dir}}"}
	for _, d := range info.Deps {
		if d.Replace != nil {
			return nil, fmt.Errorf("%s is replaced by %s, which is no release of its own", d.Path, d.Replace.Path)
		}
		list = append(list, module{path: d.Path, version: d.Version, sum: d.Sum})
		args = append(args, d.Path)
	}
	said, err := output(args...)
	if err != nil {
		return nil, err
	}
	for line := range strings.Lines(said) {
		name, dir, _ := strings.Cut(strings.TrimSpace(line), "\t")
		dirs[name] = dir
	}
	for i := range list {
		if list[i].texts, err = licenseTexts(dirs[list[i].path]); err != nil {
			return nil, err
		}
		if list[i].license = licenseOf(list[i].texts); list[i].license == "" {
			return nil, fmt.Errorf("%s: no licence that is known here was found in %s", list[i].path, dirs[list[i].path])
		}
	}
	return list, nil
}

var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)(\.(txt|md))?$`)

// licenseTexts returns the files of a folder with licences and notices.
func licenseTexts(dir string) (map[string][]byte, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, e := range list {
		if e.IsDir() || !licenseFile.MatchString(e.Name()) {
			continue
		}
		if texts[e.Name()], err = os.ReadFile(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// licenses are recognized by phrases that the text has and, if not is set, does not have.
var licenses = []struct {
	id       string
	has, not []string
}{
	{"Apache-2.0", []string{"Apache License", "Version 2.0"}, nil},
	{"MIT", []string{"Permission is hereby granted, free of charge"}, nil},
	{"BSD-3-Clause", []string{"Redistribution and use in source and binary forms", "Neither the name"}, nil},
	{"BSD-2-Clause", []string{"Redistribution and use in source and binary forms"}, []string{"Neither the name"}},
}

// licenseOf returns the licence's SPDX identifier; "" if it is unknown.
func licenseOf(texts map[string][]byte) string {
	for name, text := range texts {
		if low := strings.ToLower(name); strings.HasPrefix(low, "patents") || strings.HasPrefix(low, "notice") {
			continue
		}
		words := strings.Join(strings.Fields(string(text)), " ")
		for _, l := range licenses {
			ok := true
			for _, s := range l.has {
				ok = ok && strings.Contains(words, s)
			}
			for _, s := range l.not {
				ok = ok && !strings.Contains(words, s)
			}
			if ok {
				return l.id
			}
		}
	}
	return ""
}

type component struct {
	Type       string       `json:"type"`
	Ref        string       `json:"bom-ref"`
	Name       string       `json:"name"`
	Version    string       `json:"version"`
	Purl       string       `json:"purl"`
	Licenses   []licensed   `json:"licenses"`
	Properties []namedValue `json:"properties,omitempty"`
}

type licensed struct {
	License struct {
		ID string `json:"id"`
	} `json:"license"`
}

type namedValue struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

func componentOf(kind, path, version, license string) component {
	ref := "pkg:golang/" + path + "@" + version
	c := component{Type: kind, Ref: ref, Name: path, Version: version, Purl: ref, Licenses: make([]licensed, 1)}
	c.Licenses[0].License.ID = license
	return c
}

// bill returns a program's bill of materials in CycloneDX 1.5.
func (r *release) bill(t target, linked []module) ([]byte, error) {
	type dependency struct {
		Ref string   `json:"ref"`
		On  []string `json:"dependsOn"`
	}
	type metadata struct {
		Timestamp string    `json:"timestamp"`
		Component component `json:"component"`
	}
	own := componentOf("application", "cursord", r.version, "MIT")
	own.Properties = []namedValue{{"go:os", t.os}, {"go:arch", t.arch}}
	on, parts := []string{}, []component{}
	for _, m := range linked {
		c := componentOf("library", m.path, m.version, m.license)
		if m.sum != "" {
			c.Properties = []namedValue{{"go:sum", m.sum}}
		}
		on, parts = append(on, c.Ref), append(parts, c)
	}
	// The serial number depends only on the program and its parts.
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %v", r.version, t, parts))
	sum[6], sum[8] = sum[6]&0x0f|0x80, sum[8]&0x3f|0x80
	serial := fmt.Sprintf("urn:uuid:%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:16])
	data, err := json.MarshalIndent(struct {
		Format       string       `json:"bomFormat"`
		Spec         string       `json:"specVersion"`
		Serial       string       `json:"serialNumber"`
		Version      int          `json:"version"`
		Metadata     metadata     `json:"metadata"`
		Components   []component  `json:"components"`
		Dependencies []dependency `json:"dependencies"`
	}{"CycloneDX", "1.5", serial, 1, metadata{r.made.Format(time.RFC3339), own}, parts, []dependency{{own.Ref, on}}}, "", "  ")
	return append(data, '\n'), err
}
