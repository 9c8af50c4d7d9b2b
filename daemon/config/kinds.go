package config

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"path/filepath"
	"strings"
	"time"
)

// A value reads and writes the value of a setting.
type value struct {
	get     func() any                         // returns the value in the form of the file
	set     func(decode func(any) error) error // takes the value that decode reads from the file; changes nothing on an error
	choices []string                           // all values, in the form of "cursord config set"; nil if the list is not short
}

// of returns v with choices.
func (v value) of(choices ...string) value {
	v.choices = choices
	return v
}

// read returns a function that decodes a T and passes it to take.
func read[T any](take func(T) error) func(func(any) error) error {
	return func(decode func(any) error) error {
		var v T
		if err := decode(&v); err != nil {
			return err
		}
		return take(v)
	}
}

func trimmed(s string) (string, error)      { return strings.TrimSpace(s), nil }
func asItIs(s string) (string, error)       { return s, nil }
func anything(l []string) ([]string, error) { return l, nil }

// text is a value for a string; normal checks it and returns its normal form.
func text(to *string, normal func(string) (string, error)) value {
	return value{get: func() any { return *to }, set: read(func(s string) error {
		s, err := normal(s)
		if err == nil {
			*to = s
		}
		return err
	})}
}

// either is a value for one of two words.
func either(to *bool, yes, no string) value {
	return value{
		get: func() any {
			if *to {
				return yes
			}
			return no
		},
		set: read(func(s string) error {
			if s != yes && s != no {
				return errors.New("neither of them")
			}
			*to = s == yes
			return nil
		}),
		choices: []string{yes, no},
	}
}

// span is a value for a duration, also in days.
func span(to *time.Duration, least time.Duration) value {
	return value{get: func() any { return ageText(*to) }, set: read(func(s string) error {
		d, err := parseAge(s)
		if err == nil && d < least {
			err = errors.New("too short")
		}
		if err == nil {
			*to = d
		}
		return err
	})}
}

// age is a value for a duration of at least an hour, or 0.
func age(to *time.Duration) value {
	return value{get: func() any { return ageText(*to) }, set: read(func(s string) error {
		d, err := parseAge(s)
		if err == nil && d != 0 && d < time.Hour {
			err = errors.New("too short")
		}
		if err == nil {
			*to = d
		}
		return err
	})}
}

// size is a value for a number of bytes.
func size[T int | int64](to *T, least, most int64) value {
	return value{get: func() any { return sizeText(int64(*to)) }, set: read(func(s string) error {
		n, err := parseSize(s)
		if err == nil && (n < least || n > most) {
			err = errors.New("out of range")
		}
		if err == nil {
			*to = T(n)
		}
		return err
	})}
}

// count is a value for a number.
func count(to *int, least, most int64) value {
	return value{get: func() any { return *to }, set: read(func(n int64) error {
		if n < least || n > most {
			return errors.New("out of range")
		}
		*to = int(n)
		return nil
	})}
}

func truth(to *bool) value {
	return value{get: func() any { return *to }, set: read(func(b bool) error { *to = b; return nil })}.of("true", "false")
}

// list is a value for a list of strings; normal checks it and returns its normal form.
func list(to *[]string, normal func([]string) ([]string, error)) value {
	return value{get: func() any { return append([]string{}, *to...) }, set: read(func(l []string) error {
		l, err := normal(l)
		if err == nil {
			*to = l
		}
		return err
	})}
}

func notEmpty(l []string) ([]string, error) {
	if len(l) == 0 {
		return nil, errors.New("no command")
	}
	return l, nil
}

// command checks a program with its arguments; the list may be empty.
func command(l []string) ([]string, error) {
	var err error
	if len(l) > 0 {
		l[0], err = Executable(l[0])
	}
	return l, err
}

// folders checks absolute paths, which may begin with "~".
func folders(l []string) ([]string, error) {
	if len(l) > MaxAddDirs {
		return nil, errors.New("too many")
	}
	for i, path := range l {
		path, err := Executable(path)
		if err != nil || !filepath.IsAbs(path) {
			return nil, errors.New("not an absolute path")
		}
		l[i] = filepath.Clean(path)
	}
	return l, nil
}

// isolations is a value for a table from workspaces to isolations.
func isolations(to *map[string]string) value {
	return value{
		get: func() any {
			table := map[string]string{}
			maps.Copy(table, *to)
			return table
		},
		set: read(func(table map[string]string) error {
			if table == nil {
				return errors.New("not a table") // the decoder ignores another type
			}
			resolved := map[string]string{}
			for path, isolation := range table {
				isolation, err := CheckIsolation(isolation)
				if err != nil {
					return err
				}
				root, err := Executable(path)
				if err != nil || !filepath.IsAbs(root) {
					return errors.New("not an absolute path")
				}
				if real, err := filepath.EvalSymlinks(root); err == nil {
					root = real
				}
				resolved[filepath.Clean(root)] = isolation
			}
			*to = resolved
			return nil
		}),
	}
}

func logLevel(to *slog.Level) value {
	return value{get: func() any { return strings.ToLower(to.String()) }, set: read(func(s string) error {
		levels := map[string]slog.Level{
			"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "warning": slog.LevelWarn, "error": slog.LevelError,
		}
		level, known := levels[strings.ToLower(s)]
		if !known {
			return fmt.Errorf("unknown level %q", s)
		}
		*to = level
		return nil
	})}.of("debug", "info", "warn", "error")
}
