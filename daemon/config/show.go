package config

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"
)

// Keys returns the keys of the configuration file in the order of the documentation.
func Keys() []string {
	var keys []string
	for _, s := range settings(&Config{}) {
		keys = append(keys, s.key)
	}
	return keys
}

// Means returns what a key is for, in half a line; "" if there is no such key.
func Means(key string) string {
	for _, s := range settings(&Config{}) {
		if s.key == key {
			return s.means
		}
	}
	return ""
}

// Choices returns all values of a key, in the form of Set; nil if the key has no short list of values.
func Choices(key string) []string {
	for _, s := range settings(&Config{}) {
		if s.key == key {
			return s.choices
		}
	}
	return nil
}

// Parse reads data, the content of the file at path, as Load does, but ignores the environment.
func Parse(path string, data []byte) (Config, []string, error) { return parseConfig(path, data) }

// Text returns the present value of a key, in the form of the file; false if there is no such key.
func (c *Config) Text(key string) (string, bool) {
	for _, s := range settings(c) {
		if s.key == key {
			return valueText(s.get()), true
		}
	}
	return "", false
}

// valueText returns a value as TOML, in one line.
func valueText(v any) string {
	if table, is := v.(map[string]string); is {
		var pairs []string
		for key, value := range table {
			pairs = append(pairs, valueText(key)+" = "+valueText(value))
		}
		slices.Sort(pairs)
		return "{" + strings.Join(pairs, ", ") + "}"
	}
	if tables, is := v.([]map[string]string); is {
		var texts []string
		for _, table := range tables {
			texts = append(texts, valueText(table))
		}
		return "[" + strings.Join(texts, ", ") + "]"
	}
	var b bytes.Buffer
	if err := toml.NewEncoder(&b).Encode(map[string]any{"v": v}); err != nil {
		return strconv.Quote(fmt.Sprint(v))
	}
	return strings.TrimPrefix(strings.TrimSpace(b.String()), "v = ")
}

// ageText is spanText with days, as "90d".
func ageText(d time.Duration) string {
	const day = 24 * time.Hour
	if d > 0 && d%day == 0 {
		return fmt.Sprintf("%dd", d/day)
	}
	return spanText(d)
}

// spanText returns a duration in the form of the file: "0", "2h", "30m", "1m30s".
func spanText(d time.Duration) string {
	if d == 0 {
		return "0"
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// sizeText returns a number of bytes in the form of the file.
func sizeText(n int64) string {
	units := []string{"", "KB", "MB", "GB", "TB"}
	i := 0
	for ; n > 0 && n%1024 == 0 && i < len(units)-1; i++ {
		n /= 1024
	}
	return fmt.Sprint(n) + units[i]
}

// A KeyError is the error for a key that does not exist.
type KeyError struct{ Key string }

func (e *KeyError) Error() string { return fmt.Sprintf("unknown key %q", e.Key) }

// Set returns the content of the file at path (data) with a new value for a key. The value is TOML, or a text without its
// quotes. The rest of the file, comments included, stays byte for byte, even if other values are wrong. The error is a *KeyError, or says which values are
// allowed.
func Set(path string, data []byte, key, value string) ([]byte, error) {
	i := slices.IndexFunc(settings(&Config{}), func(s setting) bool { return s.key == key })
	if i < 0 {
		return nil, &KeyError{key}
	}
	if isTable(key) {
		return nil, fmt.Errorf("%s is a table: edit the file (cursord config edit)", key)
	}
	if _, _, err := parseConfig(path, data); err != nil && !errors.As(err, new(Mistakes)) {
		return nil, err // the file is not TOML
	}
	refused := fmt.Errorf("%s must be %s", key, settings(&Config{})[i].allowed)
	for _, text := range []string{value, valueText(value)} {
		if strings.ContainsAny(text, "\r\n") || !isPair(key+" = "+text) {
			continue
		}
		edited := replacePair(data, key, text)
		_, _, err := parseConfig(path, edited)
		var wrong Mistakes
		if err == nil || errors.As(err, &wrong) && !wrong.Of(key) {
			return edited, nil
		}
		for _, m := range wrong {
			if m.Key == key && m.trap.reason != "" {
				refused = fmt.Errorf("%s %w", key, m.trap)
			}
		}
	}
	return nil, refused
}

// Unset returns the content of the file at path (data) without a key, which then has its default. The rest stays byte for byte.
// The key may be one that does not exist in this version. The second value is false if the file lacks the key. The error
// says why the file cannot be edited.
func Unset(path string, data []byte, key string) ([]byte, bool, error) {
	if _, _, err := parseConfig(path, data); err != nil && !errors.As(err, new(Mistakes)) {
		return nil, false, err // the file is not TOML
	}
	var values map[string]any
	if _, err := toml.Decode(string(data), &values); err != nil || values[key] == nil {
		return data, false, err
	}
	from, to, found := findPair(data, key)
	if !found {
		return nil, false, fmt.Errorf("%s is a table: edit the file (cursord config edit)", key)
	}
	return slices.Concat(data[:from], data[to:]), true, nil
}

// isPair reports whether a text is one key with its value.
func isPair(text string) bool {
	var values map[string]any
	_, err := toml.Decode(text, &values)
	return err == nil && len(values) == 1
}

// replacePair replaces the value of a key in a TOML text. If the text lacks the key, it adds the pair after the last pair
// before the first table.
func replacePair(data []byte, key, value string) []byte {
	from, to, found := findPair(data, key)
	if found {
		return slices.Concat(data[:from], []byte(key+" = "+value+string(comment(data[from:to]))), data[to:])
	}
	before := data[:from]
	if len(before) > 0 && before[len(before)-1] != '\n' {
		before = append(slices.Clone(before), '\n')
	}
	return slices.Concat(before, []byte(key+" = "+value+"\n"), data[from:])
}

// findPair returns where a TOML text has the pair of a key, with its whole lines. If it lacks the key, from and to are the
// place of a new pair.
func findPair(data []byte, key string) (from, to int, found bool) {
	lines := bytes.SplitAfter(data, []byte("\n"))
	at, last := 0, 0 // offsets in bytes; last is the end of the last pair
	for i := 0; i < len(lines); {
		line := bytes.TrimSpace(lines[i])
		if len(line) > 0 && line[0] == '[' {
			break
		}
		if len(line) == 0 || line[0] == '#' {
			at += len(lines[i])
			i++
			continue
		}
		statement := []byte(nil)
		for ; i < len(lines); i++ { // a value may have several lines
			statement = append(statement, lines[i]...)
			if isPair(string(statement)) {
				i++
				break
			}
		}
		var values map[string]any
		_, _ = toml.Decode(string(statement), &values)
		if _, is := values[key]; is {
			return at, at + len(statement), true
		}
		at += len(statement)
		last = at
	}
	if last > 0 {
		at = last
	}
	return at, at, false
}

// comment returns the part of a pair after its value: the comment with the blanks before it, and the line's end.
func comment(pair []byte) []byte {
	for i, b := range pair {
		if b == '#' && isPair(string(pair[:i])) {
			return pair[len(bytes.TrimRight(pair[:i], " \t")):]
		}
	}
	return pair[len(bytes.TrimRight(pair, "\r\n")):]
}

// Bare returns a value of Text in the form for people: a string without its quotes.
func Bare(value string) string {
	var text struct{ V string }
	if _, err := toml.Decode("v = "+value, &text); err == nil {
		return text.V
	}
	return value
}
