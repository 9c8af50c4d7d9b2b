package origins

import (
	"cmp"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"time"

	"cursord/daemon/api"
	"cursord/daemon/internal/commits"
	"cursord/daemon/internal/git"
	"cursord/diffs"
	"cursord/diffs/history"
	"cursord/sessions"
)

// Known is what a workspace knows of the lines of a text.
type Known struct {
	Lines     []diffs.Origin
	Forgotten bool // a history of the file was dropped
}

// An Answer is what a workspace knows of the lines that a commit adds, by path from the top of the work tree. It has no lines of people.
type Answer map[string]Known

// Answers are the answers that a workspace keeps. An answer is worked out once, when the commit is new or first asked about, because later changes
// of its files would make it a guess. One goroutine uses Answers.
type Answers struct {
	Tree   git.Tree
	Store  *sessions.Store
	Of     func(path, text string) (Known, error) // returns what is known now of a text of the file at a path below the folder
	Any    func() bool                            // reports whether anything is known of any file
	Submit func(ops ...sessions.Op)
	Log    *slog.Logger

	made  commits.Made
	kept  map[string]kept // by commit
	total int64
}

// kept says how large an answer is in the store, and when it was kept, in ms since 1970.
type kept struct{ size, at int64 }

// The size of an answer in the store: what each takes beside its data, and the data of one that knows nothing.
const (
	overhead = 64
	nothing  = 8
)

// Load reads which answers the store has.
func (a *Answers) Load() error {
	a.kept, a.made = map[string]kept{}, commits.Made{Root: a.Tree.Dir}
	return a.Store.Answers(a.Tree.Dir, func(commit string, data []byte) {
		if len(data) >= nothing {
			a.note(commit, int64(binary.BigEndian.Uint64(data)), len(data))
		}
	})
}

func (a *Answers) note(commit string, at int64, size int) {
	a.total += overhead + int64(size)
	a.kept[commit] = kept{overhead + int64(size), at}
}

// lookTime bounds the questions to git of a look.
const lookTime = 5 * time.Second

// Look keeps answers for the commits that were made in the work tree since the last look, unless an agent may have made them in a call of which not
// all is known: then quiet is false.
func (a *Answers) Look(quiet bool) {
	if !quiet {
		return
	}
	made := a.made.Look()
	if len(made) == 0 || !a.Any() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookTime)
	defer cancel()
	for _, id := range made {
		if _, has := a.kept[id]; has {
			continue
		}
		c, err := commits.Read(ctx, a.Tree, id, false)
		if failed := (*api.Error)(nil); errors.As(err, &failed) {
			continue // there is no such commit any more
		}
		var answer Answer
		if err == nil {
			answer, err = Work(ctx, c, a.Of)
		}
		if err != nil {
			a.Log.Warn("what is known of new commits cannot be kept", "err", err)
			return
		}
		a.Put(c.ID, answer)
	}
}

// Work works out what is known now of the lines that a commit adds.
func Work(ctx context.Context, c commits.Commit, of func(path, text string) (Known, error)) (Answer, error) {
	answer := Answer{}
	for _, f := range c.Files {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		all, err := of(f.Path, f.Text)
		if err != nil {
			return nil, err
		}
		known := Known{Forgotten: all.Forgotten}
		for _, r := range f.Lines {
			for _, o := range Cut(all.Lines, r.From, r.To) {
				if o.Source != nil || o.Commit != "" {
					known.Lines = append(known.Lines, o)
				}
			}
		}
		if known.Forgotten || known.Lines != nil {
			answer[c.Dir+f.Path] = known
		}
	}
	return answer, nil
}

// Get returns the answer that is kept for a commit. All that was submitted must be in the store.
func (a *Answers) Get(commit string) (Answer, bool) {
	if _, has := a.kept[commit]; !has {
		return nil, false
	}
	of, _ := a.Store.Answer(commit)
	answer, err := decode(of[a.Tree.Dir])
	if err != nil {
		a.Submit(a.drop(commit))
	}
	return answer, err == nil
}

// Put keeps the answer for a commit, if none is kept, and if anything is known of any file.
func (a *Answers) Put(commit string, answer Answer) {
	if _, has := a.kept[commit]; !has && a.Any() {
		now := time.Now().UnixMilli()
		data := answer.encode(now)
		a.note(commit, now, len(data))
		a.Submit(sessions.PutAnswer{Commit: commit, Data: data})
	}
}

// Total returns how many bytes all answers take.
func (a *Answers) Total() int64 { return a.total }

// Shorten drops answers from before a moment, the oldest first, until they have freed so many bytes. It returns how many they have freed, and
// the operations that store that.
func (a *Answers) Shorten(before, bytes int64) (freed int64, ops []sessions.Op) {
	if bytes <= 0 {
		return 0, nil
	}
	oldest := func(x, y string) int { return cmp.Or(cmp.Compare(a.kept[x].at, a.kept[y].at), cmp.Compare(x, y)) }
	for _, commit := range slices.SortedFunc(maps.Keys(a.kept), oldest) {
		if freed >= bytes || a.kept[commit].at >= before {
			break
		}
		freed += a.kept[commit].size
		ops = append(ops, a.drop(commit))
	}
	return freed, ops
}

// Reconsider drops the answers that know nothing: something else has become known.
func (a *Answers) Reconsider() {
	for commit, k := range a.kept {
		if k.size == overhead+nothing {
			a.Submit(a.drop(commit))
		}
	}
}

func (a *Answers) drop(commit string) sessions.Op {
	a.total -= a.kept[commit].size
	delete(a.kept, commit)
	return sessions.DropAnswer{Commit: commit}
}

// The form of an answer in the store, behind the moment when it was kept. A field's JSON name never changes.
type (
	form struct {
		Of    []formOf   `json:"o,omitempty"`
		Files []formFile `json:"f"`
	}
	formOf struct {
		Source *diffs.Source `json:"s,omitempty"`
		At     int64         `json:"a,omitempty"`
		ByText bool          `json:"t,omitempty"`
		Commit string        `json:"c,omitempty"`
	}
	formFile struct {
		Path      string   `json:"p"`
		Runs      [][3]int `json:"r,omitempty"` // from, to, and the number of what they are of
		Forgotten bool     `json:"x,omitempty"`
	}
)

func (a Answer) encode(at int64) []byte {
	data := binary.BigEndian.AppendUint64(nil, uint64(at))
	if len(a) == 0 {
		return data
	}
	var f form
	for _, path := range slices.Sorted(maps.Keys(a)) {
		file := formFile{Path: path, Forgotten: a[path].Forgotten}
		for _, o := range a[path].Lines {
			of := formOf{o.Source, o.At, o.ByText, o.Commit}
			n := slices.IndexFunc(f.Of, func(p formOf) bool {
				return p.At == of.At && p.ByText == of.ByText && p.Commit == of.Commit && (p.Source == nil) == (of.Source == nil) &&
					(p.Source == nil || *p.Source == *of.Source)
			})
			if n < 0 {
				n, f.Of = len(f.Of), append(f.Of, of)
			}
			file.Runs = append(file.Runs, [3]int{o.From, o.To, n})
		}
		f.Files = append(f.Files, file)
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // impossible: the form has only numbers and strings
	}
	return append(data, history.Pack(text)...)
}

var errDamaged = errors.New("what is known of a commit is damaged")

// decode returns the answer that encode has written.
func decode(data []byte) (Answer, error) {
	switch {
	case len(data) < nothing:
		return nil, errDamaged
	case len(data) == nothing:
		return Answer{}, nil
	}
	text, err := history.Unpack(data[nothing:])
	var f form
	if err == nil {
		err = json.Unmarshal(text, &f)
	}
	if err != nil {
		return nil, errDamaged
	}
	a := Answer{}
	for _, file := range f.Files {
		known, line := Known{Forgotten: file.Forgotten}, 0
		for _, r := range file.Runs {
			if r[0] < line || r[1] <= r[0] || r[2] < 0 || r[2] >= len(f.Of) {
				return nil, errDamaged
			}
			line = r[1]
			of := f.Of[r[2]]
			known.Lines = append(known.Lines, diffs.Origin{From: r[0], To: r[1], Source: of.Source, At: of.At, ByText: of.ByText, Commit: of.Commit})
		}
		a[file.Path] = known
	}
	return a, nil
}

// Pending marks those lines of a file which come from an edit that the file's present text has to be reviewed.
func (k Known) Pending(present []diffs.Origin) {
	pending := map[diffs.Source]bool{}
	for _, o := range present {
		if o.Pending && o.Source != nil {
			pending[*o.Source] = true
		}
	}
	for i, o := range k.Lines {
		k.Lines[i].Pending = o.Source != nil && pending[*o.Source]
	}
}
