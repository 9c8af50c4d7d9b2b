package search

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSegmentsOfOtherWords: a segment whose words are those of another version is to be made anew, one of the present version is not, and
// both are read as they are until then.
func TestSegmentsOfOtherWords(t *testing.T) {
	made := segment{from: 1, to: 2, weight: 3, docs: 4, first: 5, last: 6}
	for end, stale := range map[byte]bool{0: true, 1: true, fresh: false, fresh + 1: true} {
		stored := made.encode()
		stored[len(stored)-1] = end
		want := made
		want.stale = stale
		got, ok := decodeSegment(segmentKey(prefixSegment, made.to), stored)
		require.True(t, ok)
		require.Equal(t, want, got)
	}
	require.EqualValues(t, fresh, made.encode()[40])
}

// TestNoticesAreNotSearched: what cursord itself has said is no text of the agent.
func TestNoticesAreNotSearched(t *testing.T) {
	for kind, texts := range map[string]int{"assistant": 1, "notice": 0} {
		_, list, _ := passages(&Object{Kind: Item, JSON: []byte(`{"kind":"` + kind + `","status":"completed","text":"a word"}`)})
		require.Len(t, list, texts, kind)
	}
}

// TestQuestionsAreSearched: what the agent has asked, and what was answered, is found as other texts are.
func TestQuestionsAreSearched(t *testing.T) {
	for object, want := range map[string][]passage{
		`{"kind":"tool","status":"completed","tool":{"name":"question","title":"Ask Which?","output":"Which? One or two\nTwo"}}`:                                                                                                   {{"text", "Which? One or two\nTwo"}},
		`{"kind":"tool","status":"cancelled","tool":{"name":"question","title":"Ask Which?"}}`:                                                                                                                                     {{"text", "Ask Which?"}},
		`{"kind":"tool","status":"completed","tool":{"name":"question","title":"Ask Which?","output":"Which?\n→ Two\n","args":{"questions":[{"prompt":"Which?","options":[{"id":"1","label":"One"},{"id":"2","label":"Two"}]}]}}}`: {{"text", "Which?\n→ Two\nOne"}},
		`{"kind":"tool","status":"completed","tool":{"name":"question","title":"Ask Which?","output":"Skipped","args":{"questions":[{"question":"Which?","options":[{"id":"1","name":"One"}]}]}}}`:                                 {{"text", "Skipped\nWhich?\nOne"}},
		`{"kind":"tool","status":"completed","tool":{"name":"question","title":"Ask Which?","args":{"questions":"Which?"}}}`:                                                                                                       {{"text", "Ask Which?"}},
		`{"kind":"plan","status":"rejected","text":"do it","tool":{"name":"createplan","error":"rejected: no tests"}}`:                                                                                                             {{"text", "do it"}, {"text", "rejected: no tests"}},
		`{"kind":"tool","status":"completed","tool":{"name":"shell","title":"ls","command":"ls","output":"many files"}}`:                                                                                                           {{"command", "ls"}},
	} {
		_, list, _ := passages(&Object{Kind: Item, JSON: []byte(object)})
		require.Equal(t, want, list)
	}
}
