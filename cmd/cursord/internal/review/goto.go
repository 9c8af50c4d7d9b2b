package review

import (
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"cursord/cmd/cursord/internal/term"
)

// A destination is a part to which the person may go.
type destination struct {
	file int // index in r.files
	part part
}

// destinations returns all parts that are left, in order.
func (r *review) destinations() (all []destination) {
	for i, f := range r.files {
		for _, p := range f.parts() {
			all = append(all, destination{i, p})
		}
	}
	return all
}

func (r *review) goTo(s destination) {
	r.at = s.file
	r.files[s.file].at = s.part.step
}

// number gives a file its number for "file 3 of 30". A file keeps its number when others are decided.
func (r *review) number(path string) {
	if _, known := r.numbers[path]; !known {
		if r.numbers == nil {
			r.numbers = map[string]int{}
		}
		r.numbers[path] = len(r.numbers) + 1
	}
}

// ofFiles returns ", file 3 of 30"; "" if the review has a single file.
func (r *review) ofFiles(path string) string {
	r.number(path)
	if len(r.numbers) < 2 {
		return ""
	}
	return fmt.Sprintf(", file %d of %d", r.numbers[path], len(r.numbers))
}

// jump goes to where: the number of a hunk, or the beginning or a part of a file's path. If where is empty, it lists the
// hunks and asks. again reports whether to ask about the present part again.
func (r *review) jump(ctx context.Context, present part, where string) (again bool, err error) {
	all := r.destinations()
	if where == "" {
		const most = 50 // lines of the list
		for i, s := range all[:min(len(all), most)] {
			mark := " "
			if s.file == r.at && s.part.step == present.step {
				mark = "*"
			}
			fmt.Fprintf(r.out, "%s%3d  %s%s  %s  %s\n", mark, i+1, term.Clean(r.files[s.file].diff.Path), s.part.colonLine(), term.Clean(s.part.hunk.ID), s.part.firstLine())
		}
		if len(all) > most {
			fmt.Fprintf(r.out, "     and %d more\n", len(all)-most)
		}
		where, err = r.in.line(ctx, "Go to which hunk, or file? ")
		if err != nil && !errors.Is(err, io.EOF) {
			return true, err
		}
	}
	if where = strings.TrimSpace(where); where == "" {
		return true, nil
	}
	if n, err := strconv.Atoi(where); err == nil {
		if n < 1 || n > len(all) {
			r.tell(fmt.Sprintf("There are hunks 1 to %d.", len(all)))
			return true, nil
		}
		r.goTo(all[n-1])
		return false, nil
	}
	i := slices.IndexFunc(all, func(s destination) bool { return strings.HasPrefix(r.files[s.file].diff.Path, where) })
	if i < 0 {
		i = slices.IndexFunc(all, func(s destination) bool { return strings.Contains(r.files[s.file].diff.Path, where) })
	}
	if i < 0 {
		r.tell(fmt.Sprintf("No file left to review matches %q.", term.Abridge(where, 40)))
		return true, nil
	}
	r.goTo(all[i])
	return false, nil
}

// firstLine returns a part's first changed line, by which a person recognizes it.
func (p part) firstLine() string {
	if at := changedLines(p.hunk); len(at) > 0 {
		return term.Fit(term.Clean(p.hunk.Lines[at[p.from]]), 60)
	}
	return "whole file"
}

// colonLine returns ":12" for a part at line 12; "" if the hunk has no lines.
func (p part) colonLine() string {
	if p.of == 0 {
		return ""
	}
	return fmt.Sprintf(":%d", p.line())
}

// search goes to the next part, past the end back to the first, whose hunk or path matches a regular expression. If expr is
// empty, it asks; an empty answer repeats the last search.
func (r *review) search(ctx context.Context, present part, expr string) (again bool, err error) {
	if expr == "" {
		expr, err = r.in.line(ctx, "Search for (a regular expression): ")
		if err != nil && !errors.Is(err, io.EOF) {
			return true, err
		}
	}
	if expr = strings.TrimRight(expr, "\r\n"); expr == "" {
		expr = r.sought
	}
	if expr == "" {
		return true, nil
	}
	re, err := regexp.Compile(expr)
	if err != nil {
		r.tell(fmt.Sprintf("%q is no regular expression: %v", term.Abridge(expr, 40), err))
		return true, nil
	}
	r.sought = expr
	all := r.destinations()
	here := slices.IndexFunc(all, func(s destination) bool { return s.file == r.at && s.part.step == present.step })
	for i := 1; i <= len(all); i++ {
		s := all[(here+i+len(all))%len(all)]
		if slices.ContainsFunc(s.part.hunk.Lines, re.MatchString) || re.MatchString(r.files[s.file].diff.Path) {
			if s.file == r.at && s.part.step == present.step {
				r.tell("No other hunk has that.")
				return true, nil
			}
			r.goTo(s)
			return false, nil
		}
	}
	r.tell("No hunk has that.")
	return true, nil
}

// next goes to the next part without a decision. It returns false at the last part.
func (r *review) next(f *reviewFile, p part) bool {
	after := p.step + max(p.to-p.from, 1)
	switch {
	case after < len(steps(f.diff)):
		f.at = after
	case r.at+1 < len(r.files):
		r.at++
		r.files[r.at].at = 0
	default:
		r.tell("This is the last hunk.")
		return false
	}
	return true
}

// previous goes to the part before. It returns false at the first part.
func (r *review) previous(p part) bool {
	switch {
	case p.step > 0:
		r.files[r.at].at = p.step - 1
	case r.at > 0:
		r.at--
		r.files[r.at].at = len(steps(r.files[r.at].diff)) - 1
	default:
		r.tell("This is the first hunk.")
		return false
	}
	return true
}
