package history

import "slices"

// A builder makes Runs and Dead line by line.
type builder struct {
	runs []Run
	dead []Grave
	line int
}

func (b *builder) alive(by Author, first First, count int) {
	if by.By != 0 && count > 0 {
		if n := len(b.runs); n > 0 && b.runs[n-1].To == b.line && b.runs[n-1].Author == by && b.runs[n-1].First == first {
			b.runs[n-1].To += count
		} else {
			b.runs = append(b.runs, Run{b.line, b.line + count, by, first})
		}
	}
	b.line += count
}

func (b *builder) bury(d Dead) {
	if n := len(b.dead); n > 0 && b.dead[n-1].At == b.line {
		b.dead[n-1].Lines = append(b.dead[n-1].Lines, d)
	} else {
		b.dead = append(b.dead, Grave{b.line, []Dead{d}})
	}
}

// share buries lines of an earlier history, which keeps them.
func (b *builder) share(lines []Dead) {
	if n := len(b.dead); len(lines) > 0 && (n == 0 || b.dead[n-1].At != b.line) {
		b.dead = append(b.dead, Grave{b.line, slices.Clip(lines)}) // bury copies them before it adds one
		return
	}
	for _, d := range lines {
		b.bury(d)
	}
}

// A cursor reads a history line by line.
type cursor struct {
	f    *File
	run  int
	dead int
	line int
}

// graves returns the dead lines in front of the present line, once.
func (c *cursor) graves() []Dead {
	if c.dead < len(c.f.Dead) && c.f.Dead[c.dead].At == c.line {
		c.dead++
		return c.f.Dead[c.dead-1].Lines
	}
	return nil
}

// next passes the present line and returns its run, or an empty one.
func (c *cursor) next() (r Run) {
	for c.run < len(c.f.Runs) && c.f.Runs[c.run].To <= c.line {
		c.run++
	}
	if c.run < len(c.f.Runs) && c.f.Runs[c.run].From <= c.line {
		r = c.f.Runs[c.run]
	}
	c.line++
	return r
}

// skip copies lines, with the dead ones in front of them, up to a present line, whose own graves are left.
func (c *cursor) skip(b *builder, to int) {
	for c.line < to {
		b.share(c.graves())
		stop := to // no run or grave begins or ends before it
		for i := c.run; i < len(c.f.Runs); i++ {
			if r := c.f.Runs[i]; r.To > c.line {
				if r.From > c.line {
					stop = min(stop, r.From)
				} else {
					stop = min(stop, r.To)
				}
				break
			}
		}
		if c.dead < len(c.f.Dead) {
			stop = min(stop, c.f.Dead[c.dead].At)
		}
		n := max(stop-c.line, 1)
		r := c.next()
		c.line += n - 1
		b.alive(r.Author, r.First, n)
	}
}
