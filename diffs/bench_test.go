package diffs

import (
	"fmt"
	"strings"
	"testing"
)

// A large review: 100,000 lines, of which every hundredth was replaced by the agent.
func large() (base, now Content, agent *Source) {
	var old, new strings.Builder
	for i := range 100_000 {
		line := fmt.Sprintf("\tline %d of a file that is about as wide as source is\n", i)
		old.WriteString(line)
		if i%100 == 50 {
			line = fmt.Sprintf("\tanother line %d\n", i)
		}
		new.WriteString(line)
	}
	content := func(b *strings.Builder) Content { return Content{Exists: true, Data: []byte(b.String())} }
	return content(&old), content(&new), &Source{SessionID: "s", TurnID: "t", Via: "edit"}
}

func BenchmarkObserve100k(b *testing.B) {
	base, now, agent := large()
	again := Content{Exists: true, Data: []byte(strings.Replace(string(now.Data), "line 77 ", "my line ", 1))}
	b.Run("agent", func(b *testing.B) {
		r := New(base)
		b.ReportAllocs()
		for b.Loop() {
			twin(r).Observe(now, agent)
		}
	})
	b.Run("user", func(b *testing.B) {
		r := New(base)
		r.Observe(now, agent)
		b.ReportAllocs()
		for b.Loop() {
			twin(r).Observe(again, nil)
		}
	})
	b.Run("unchanged", func(b *testing.B) {
		r := New(base)
		r.Observe(now, agent)
		b.ReportAllocs()
		for b.Loop() {
			r.Observe(now, nil)
		}
	})
}

func BenchmarkDecide100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	var ids []uint64
	for _, h := range r.Hunks() {
		ids = append(ids, h.ID)
	}
	for _, some := range [][]uint64{ids[500:501], ids} {
		b.Run(fmt.Sprint(len(some)), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				c := twin(r)
				if _, err := c.Decide(some, false, nil); err != nil {
					b.Fatal(err)
				}
				c.Current()
			}
		})
	}
}

func BenchmarkHunks100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	b.ReportAllocs()
	for b.Loop() {
		r.Hunks()
	}
}

func BenchmarkMarshal100k(b *testing.B) {
	base, now, agent := large()
	r := New(base)
	r.Observe(now, agent)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Unmarshal(r.Marshal(), base.Data, now.Data); err != nil {
			b.Fatal(err)
		}
	}
}
