package agent

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A value is one JSON value as it stands in a line that endOf has found valid; nil is an absent one. Lines of the
// agent hold whole files several levels deep, so values are walked in place: nothing is copied until it is asked for.
type value []byte

// A field is one member of an object, its key without quotes.
type field struct {
	key []byte
	val value
}

// An object is the members of a JSON object in their order.
type object []field

func (v value) isObject() bool { return len(v) > 0 && v[0] == '{' }
func (v value) isArray() bool  { return len(v) > 0 && v[0] == '[' }
func (v value) isString() bool { return len(v) > 0 && v[0] == '"' }
func (v value) isNull() bool   { return len(v) == 0 || v[0] == 'n' }

// fields yields the members of an object, and nothing for any other value.
func (v value) fields() iter.Seq2[[]byte, value] {
	return func(yield func([]byte, value) bool) {
		if !v.isObject() {
			return
		}
		for i := skipSpace(v, 1); v[i] == '"'; {
			end := skipString(v, i)
			key := v[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(unquote(v[i:end]))
			}
			i = skipSpace(v, skipSpace(v, end)+1)
			end = skipValue(v, i)
			if !yield(key, v[i:end]) {
				return
			}
			if i = skipSpace(v, end); v[i] != ',' {
				return
			}
			i = skipSpace(v, i+1)
		}
	}
}

// elems yields the elements of an array, and nothing for any other value.
func (v value) elems() iter.Seq[value] {
	return func(yield func(value) bool) {
		if !v.isArray() {
			return
		}
		for i := skipSpace(v, 1); v[i] != ']'; {
			end := skipValue(v, i)
			if !yield(v[i:end]) {
				return
			}
			if i = skipSpace(v, end); v[i] != ',' {
				return
			}
			i = skipSpace(v, i+1)
		}
	}
}

// get returns the first member that has one of the keys and is not null, the first key preferred.
func (v value) get(keys ...string) value {
	var found value
	for k, val := range v.fields() {
		for i, key := range keys {
			if string(k) == key && !val.isNull() {
				if i == 0 {
					return val
				}
				found, keys = val, keys[:i]
				break
			}
		}
	}
	return found
}

// object appends the members of v to dst.
func (v value) object(dst object) object {
	for k, val := range v.fields() {
		dst = append(dst, field{k, val})
	}
	return dst
}

// get is value.get without walking the value again.
func (o object) get(keys ...string) value {
	for _, key := range keys {
		for i := range o {
			if string(o[i].key) == key && !o[i].val.isNull() {
				return o[i].val
			}
		}
	}
	return nil
}

// text returns the first non-empty string among the keys.
func (o object) text(keys ...string) string {
	for _, key := range keys {
		if s := o.get(key).text(); s != "" {
			return s
		}
	}
	return ""
}

// text returns a string's content, and "" for any other value.
func (v value) text() string {
	if !v.isString() {
		return ""
	}
	return unquote(v)
}

// string returns the first string among the keys that is not empty.
func (o object) string(keys ...string) value {
	for _, key := range keys {
		if v := o.get(key); v.isString() && len(v) > len(`""`) {
			return v
		}
	}
	return nil
}

// word is text without an allocation for the words that a flood is made of.
func (v value) word() string {
	switch string(v) {
	case `"assistant"`:
		return "assistant"
	case `"text"`:
		return "text"
	}
	return v.text()
}

// name returns a string's content or a number as it is written.
func (v value) name() string {
	if len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9') {
		return string(v)
	}
	return v.text()
}

// int reads a number, also one written as a string, as 64-bit numbers are.
func (v value) int() (int64, bool) {
	s := v.name()
	if s == "" {
		return 0, false
	}
	if n, err := strconv.ParseInt(s, 10, 64); err == nil {
		return n, true
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || f != f || f >= 1<<63 || f < -1<<63 {
		return 0, false
	}
	return int64(f), true
}

// bool reads a boolean, also one written as a string.
func (v value) bool() (is, ok bool) {
	switch s := string(bytes.Trim(v[:min(len(v), 8)], `"`)); s {
	case "true", "false":
		return s == "true", true
	}
	return false, false
}

// raw returns a copy that outlives the line, in UTF-8; nil for an absent value.
func (v value) raw() json.RawMessage {
	if !utf8.Valid(v) {
		return json.RawMessage(bytes.ToValidUTF8(v, []byte("\uFFFD")))
	}
	return json.RawMessage(bytes.Clone(v))
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// skipString returns the index after the string that begins at b[i].
func skipString(b []byte, i int) int {
	for j := i + 1; ; j++ {
		j += bytes.IndexByte(b[j:], '"')
		slashes := 0
		for b[j-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			return j + 1
		}
	}
}

// skipValue returns the index after the value that begins at b[i].
func skipValue(b []byte, i int) int {
	for depth := 0; ; {
		switch b[i] {
		case '"':
			if i = skipString(b, i); depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return i + 1
			}
		default:
			if depth == 0 {
				for i < len(b) && strings.IndexByte(" \t\r\n,:]}", b[i]) < 0 {
					i++
				}
				return i
			}
		}
		i++
	}
}

// unquote returns the content of a quoted string, with U+FFFD for what is not Unicode. It copies once.
func unquote(q []byte) string {
	s := q[1 : len(q)-1]
	if bytes.IndexByte(s, '\\') < 0 {
		return validUTF8(string(s))
	}
	var b strings.Builder
	b.Grow(len(s))
	for len(s) > 0 {
		i := bytes.IndexByte(s, '\\')
		if i < 0 {
			b.Write(s)
			break
		}
		b.Write(s[:i])
		s = s[i:]
		switch s[1] {
		case 'b':
			b.WriteByte('\b')
		case 'f':
			b.WriteByte('\f')
		case 'n':
			b.WriteByte('\n')
		case 'r':
			b.WriteByte('\r')
		case 't':
			b.WriteByte('\t')
		case 'u':
			r := hex4(s[2:])
			if utf16.IsSurrogate(r) {
				low := rune(-1)
				if len(s) >= 12 && s[6] == '\\' && s[7] == 'u' {
					low = hex4(s[8:])
				}
				if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
					s = s[6:]
				}
			}
			b.WriteRune(r)
			s = s[4:]
		default:
			b.WriteByte(s[1])
		}
		s = s[2:]
	}
	return validUTF8(b.String())
}

// torn returns the second half of a character with which a string begins, and the first half of one with which it ends.
func (v value) torn() (low, high rune) {
	n := len(v)
	if n < len(`"\ud800"`) || v[0] != '"' {
		return 0, 0
	}
	if v[1] == '\\' && v[2] == 'u' {
		if r := hex4(v[3:]); 0xdc00 <= r && r < 0xe000 {
			low = r
		}
	}
	if at := n - len(`\ud800"`); v[at] == '\\' && v[at+1] == 'u' {
		slashes := 0
		for v[at-1-slashes] == '\\' {
			slashes++
		}
		if r := hex4(v[at+2:]); slashes%2 == 0 && 0xd800 <= r && r < 0xdc00 {
			high = r
		}
	}
	return low, high
}

func validUTF8(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, "\uFFFD")
}

func hex4(s []byte) rune {
	n, _ := strconv.ParseUint(string(s[:4]), 16, 32)
	return rune(n)
}
