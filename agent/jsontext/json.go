package jsontext

import (
	"bytes"
	"encoding/json"
	"iter"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A Value is a JSON value inside of a text that End, or json.Valid, has found valid; nil is an absent value. What its
// methods return shares its memory, unless they say that it is a copy.
type Value []byte

// A Member is a member of an object; its key has no quotes.
type Member struct {
	Key   []byte
	Value Value
}

// An Object is the members of a JSON object, in order.
type Object []Member

// IsObject and the methods like it judge a value's kind by its first byte; an absent value is null.
func (v Value) IsObject() bool { return len(v) > 0 && v[0] == '{' }
func (v Value) IsArray() bool  { return len(v) > 0 && v[0] == '[' }
func (v Value) IsString() bool { return len(v) > 0 && v[0] == '"' }
func (v Value) IsNull() bool   { return len(v) == 0 || v[0] == 'n' }

// Members yields the members of an object, and nothing for any other value.
func (v Value) Members() iter.Seq2[[]byte, Value] {
	return func(yield func([]byte, Value) bool) {
		if !v.IsObject() {
			return
		}
		for i := SkipSpace(v, 1); v[i] == '"'; {
			end := StringEnd(v, i)
			key := v[i+1 : end-1]
			if bytes.IndexByte(key, '\\') >= 0 {
				key = []byte(Unquote(v[i:end]))
			}
			i = SkipSpace(v, SkipSpace(v, end)+1)
			end = skipValue(v, i)
			if !yield(key, v[i:end]) {
				return
			}
			if i = SkipSpace(v, end); v[i] != ',' {
				return
			}
			i = SkipSpace(v, i+1)
		}
	}
}

// Elements yields the elements of an array, and nothing for any other value.
func (v Value) Elements() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if !v.IsArray() {
			return
		}
		for i := SkipSpace(v, 1); v[i] != ']'; {
			end := skipValue(v, i)
			if !yield(v[i:end]) {
				return
			}
			if i = SkipSpace(v, end); v[i] != ',' {
				return
			}
			i = SkipSpace(v, i+1)
		}
	}
}

// Get returns the first member with one of the keys that is not null; the keys are in order of preference.
func (v Value) Get(keys ...string) Value {
	var found Value
	for k, val := range v.Members() {
		for i, key := range keys {
			if string(k) == key && !val.IsNull() {
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

// Object appends the members of v to dst.
func (v Value) Object(dst Object) Object {
	for k, val := range v.Members() {
		dst = append(dst, Member{k, val})
	}
	return dst
}

// Get is Value.Get without walking the value again.
func (o Object) Get(keys ...string) Value {
	for _, key := range keys {
		for i := range o {
			if string(o[i].Key) == key && !o[i].Value.IsNull() {
				return o[i].Value
			}
		}
	}
	return nil
}

// Without returns the object without some members, or nil if nothing is left.
func (o Object) Without(keys ...string) Value {
	var left []byte
next:
	for _, f := range o {
		for _, key := range keys {
			if string(f.Key) == key {
				continue next
			}
		}
		key, _ := json.Marshal(string(f.Key))
		left = append(append(append(left, ','), key...), ':')
		left = append(left, f.Value...)
	}
	if left == nil {
		return nil
	}
	left[0] = '{'
	return append(left, '}')
}

// Text returns the first non-empty string under one of the keys.
func (o Object) Text(keys ...string) string {
	for _, key := range keys {
		if s := o.Get(key).Text(); s != "" {
			return s
		}
	}
	return ""
}

// Text returns a string's content, and "" for any other value.
func (v Value) Text() string {
	if !v.IsString() {
		return ""
	}
	return Unquote(v)
}

// Quoted returns the first non-empty string under one of the keys, quoted.
func (o Object) Quoted(keys ...string) Value {
	for _, key := range keys {
		if v := o.Get(key); v.IsString() && len(v) > len(`""`) {
			return v
		}
	}
	return nil
}

// Name returns a string's content, or a number as it is written.
func (v Value) Name() string {
	if len(v) > 0 && (v[0] == '-' || '0' <= v[0] && v[0] <= '9') {
		return string(v)
	}
	return v.Text()
}

// Int reads a number, also one written as a string, as 64-bit numbers are.
func (v Value) Int() (int64, bool) {
	s := v.Name()
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

// Bool reads a boolean, also one written as a string.
func (v Value) Bool() (is, ok bool) {
	switch s := string(bytes.Trim(v[:min(len(v), 8)], `"`)); s {
	case "true", "false":
		return s == "true", true
	}
	return false, false
}

// Copy returns a copy in UTF-8 that does not share memory; nil for an absent value.
func (v Value) Copy() json.RawMessage {
	if !utf8.Valid(v) {
		return json.RawMessage(bytes.ToValidUTF8(v, []byte("\uFFFD")))
	}
	return json.RawMessage(bytes.Clone(v))
}

// SkipSpace returns the index after the white space at b[i], or len(b).
func SkipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\n' || b[i] == '\r') {
		i++
	}
	return i
}

// StringEnd returns the index after the string that begins at b[i]; -1 if it does not end in b.
func StringEnd(b []byte, i int) int {
	for j := i + 1; ; j++ {
		next := bytes.IndexByte(b[j:], '"')
		if next < 0 {
			return -1
		}
		j += next
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
			if i = StringEnd(b, i); depth == 0 {
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

// Unquote returns the content of a quoted string, with U+FFFD for lone surrogates and for bytes that are not UTF-8. It
// copies once.
func Unquote(q []byte) string {
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

// Torn returns the low surrogate with which a string begins, and the high surrogate with which it ends; 0 for none.
func (v Value) Torn() (low, high rune) {
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
