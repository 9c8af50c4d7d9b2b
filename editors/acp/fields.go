package acp

import (
	"strings"
	"unicode"
)

// fieldsOf splits the words of a command at blanks. Quotes, and a backslash before a blank, keep blanks, as in a shell; a quote that is not closed goes
// on to the end.
func fieldsOf(words string) (fields []string) {
	var field strings.Builder
	begun, quote, escaped := false, rune(0), false
	runes := []rune(words)
	end := func() {
		if begun {
			fields = append(fields, field.String())
		}
		field.Reset()
		begun = false
	}
	for i, r := range runes {
		switch {
		case escaped:
			field.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'' && i+1 < len(runes) && (unicode.IsSpace(runes[i+1]) || strings.ContainsRune(`\"'`, runes[i+1])):
			begun, escaped = true, true
		case r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			begun, quote = true, r
		case quote == 0 && unicode.IsSpace(r):
			end()
		default:
			begun = true
			field.WriteRune(r)
		}
	}
	end()
	return fields
}

// quoted returns a word of which fieldsOf makes one field.
func quoted(word string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(word) + `"`
}
