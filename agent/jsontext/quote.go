package jsontext

import "unicode/utf8"

// AppendQuoted appends s as a JSON string, as encoding/json writes it without its escapes for HTML. Bytes that are not UTF-8
// become U+FFFD. Every delta passes through it.
func AppendQuoted[S string | []byte](dst []byte, s S) []byte {
	const hex = "0123456789abcdef"
	dst = append(dst, '"')
	from := 0 // dst has everything before it
	for i := 0; i < len(s); {
		c := s[i]
		if ' ' <= c && c < utf8.RuneSelf && c != '"' && c != '\\' {
			i++
			continue
		}
		size, escape := 1, ""
		switch {
		case c == '"':
			escape = `\"`
		case c == '\\':
			escape = `\\`
		case c == '\n':
			escape = `\n`
		case c == '\r':
			escape = `\r`
		case c == '\t':
			escape = `\t`
		case c == '\b':
			escape = `\b`
		case c == '\f':
			escape = `\f`
		case c < ' ':
			dst = append(append(dst, s[from:i]...), '\\', 'u', '0', '0', hex[c>>4], hex[c&0xF])
			i++
			from = i
			continue
		default:
			var r rune
			r, size = utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			switch {
			case r == utf8.RuneError && size == 1:
				escape = `\ufffd`
			case r == '\u2028':
				escape = `\u2028`
			case r == '\u2029':
				escape = `\u2029`
			}
		}
		if escape != "" {
			dst = append(append(dst, s[from:i]...), escape...)
			from = i + size
		}
		i += size
	}
	return append(append(dst, s[from:]...), '"')
}

// Quote returns s as a JSON string.
func Quote(s string) []byte { return AppendQuoted(make([]byte, 0, len(s)+2), s) }
