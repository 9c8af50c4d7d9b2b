package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"cursord/editors/lsp/found"
	"cursord/rpc"
)

// A silent daemon reads every message and answers none, so that an input always has the same effect.
type silent struct {
	closed chan struct{}
	once   sync.Once
}

func newSilent(onNotify func(string, json.RawMessage)) *rpc.Client {
	return rpc.NewClient(&silent{closed: make(chan struct{})}, onNotify)
}

func (s *silent) Read([]byte) (int, error) {
	<-s.closed
	return 0, io.EOF
}

func (s *silent) Write(b []byte) (int, error) { return len(b), nil }

func (s *silent) Close() error {
	s.once.Do(func() { close(s.closed) })
	return nil
}

// told holds the daemon's notifications about a folder: a session with a turn, and changes of all kinds, with an isolated
// one of f.
var told = [][2]string{
	{"session/changed", `"session":{"id":"s","workspace":"W","title":"a title","state":"running","turns":1,"seq":1}`},
	{"turn/changed", `"turn":{"id":"t","sessionId":"s","workspace":"W","prompt":"p","status":"running","seq":2}`},
	{"item/changed", `"item":{"id":"i","turnId":"t","sessionId":"s","workspace":"W","index":0,"kind":"assistant","status":"running","seq":3}`},
	{"diff/changed", `"diff":{"workspace":"W","path":"f","kind":"modified","state":"pending","baseline":"known","rev":1,"hunks":[
		{"id":"1.1","kind":"text","oldStart":1,"oldLines":3,"newStart":1,"newLines":4,"lines":[" a","-b","+B","+𝄞"," c"],"isolated":true,"sources":[]},
		{"id":"1.2","kind":"text","oldStart":9,"oldLines":1,"newStart":10,"newLines":0,"lines":["-z"],"isolated":true,"linked":["1.1"],"sources":[]}]}`},
	{"approval/changed", `"approval":{"id":"a-t","turnId":"t","sessionId":"s","workspace":"W","kind":"permission","title":"Run","command":"make","text":false,"status":"pending","options":[
		{"id":"y","label":"Yes","kind":"allowOnce"},{"id":"n","label":"No","kind":"rejectOnce"}]}`},
	{"diff/changed", `"diff":{"workspace":"W","path":"g","kind":"modified","state":"pending","baseline":"unknown","rev":1,"hunks":[
		{"id":"2.1","kind":"text","oldStart":0,"oldLines":0,"newStart":1,"newLines":1,"lines":["+x"],"newNoEol":true,"sources":[{"sessionId":"s","turnId":"t","via":"edit"}]}]}`},
	{"diff/changed", `"diff":{"workspace":"W","path":"new","kind":"created","state":"pending","baseline":"known","rev":1,"hunks":[
		{"id":"3.1","kind":"file","oldStart":0,"oldLines":0,"newStart":1,"newLines":1,"lines":["+n"],"isolated":true,"sources":[]}]}`},
	{"diff/changed", `"diff":{"workspace":"W","path":"now","oldPath":"was","kind":"renamed","state":"pending","baseline":"known","rev":1,"hunks":[
		{"id":"4.1","kind":"file","lines":[],"isolated":true,"sources":[]}]}`},
	{"diff/changed", `"diff":{"workspace":"W","path":"gone","kind":"deleted","state":"pending","baseline":"known","rev":1,"hunks":[
		{"id":"5.1","kind":"file","oldStart":1,"oldLines":1,"lines":["-g"],"sources":[]}]}`},
}

// panics is a log that fails the test for each contained panic.
type panics struct {
	slog.Handler
	t *testing.T
}

func (p panics) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "panic" {
		r.Attrs(func(a slog.Attr) bool {
			p.t.Errorf("%s: %s", a.Key, a.Value)
			return true
		})
	}
	return nil
}

func (p panics) Enabled(context.Context, slog.Level) bool { return true }

// FuzzServer sends any editor's messages: none causes a panic, every request gets one answer, and an unreadable message gets
// an answer without an id. Files in /W have changes; files in /STATE are shown by the server.
func FuzzServer(f *testing.F) {
	f.Fuzz(func(t *testing.T, input []byte) {
		dir, err := filepath.EvalSymlinks(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "g"), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
		state := filepath.Join(dir, "state")
		own := (&Server{opts: Options{StateDir: state}}).stateFolderOf(&workspace{path: dir})
		input = bytes.ReplaceAll(bytes.ReplaceAll(input, []byte("/W"), []byte(dir)), []byte("/STATE"), []byte(own))
		// The headers are right for the body, whatever the input is.
		if bytes.HasPrefix(input, []byte("FRAMED")) {
			var all []byte
			for line := range bytes.Lines(input[len("FRAMED"):]) {
				all = rpc.AppendFrame(all, rpc.FramingHeaders, line)
			}
			input = all
		}
		want := map[string]int{}
		for r := rpc.NewFrameReader(bytes.NewReader(input), rpc.MaxMessage); ; {
			body, err := r.Read()
			if err != nil {
				break
			}
			m, bad := rpc.ParseMessage(body)
			if bad != nil {
				want[idOf(m.ID)]++
			} else if m.ID != nil && !m.IsResponse() {
				want[idOf(m.ID)]++
			} else if m.Method == "exit" && !m.IsResponse() {
				break
			}
		}

		var out bytes.Buffer
		s := newServer(t.Context(), &out, Options{
			Version: "test", StateDir: state, Dial: newSilent, Log: slog.New(panics{slog.DiscardHandler, t}),
			Transcript: func(context.Context, *rpc.Client, string) (found.Transcript, error) {
				return found.Transcript{Text: "# chat\n"}, nil
			},
			Files: func(context.Context, string) ([]string, error) { return []string{"f", "g"}, nil },
		})
		r, begun := rpc.NewFrameReader(bytes.NewReader(input), rpc.MaxMessage), false
		for s.phase != exited {
			m, err := s.next(r)
			if err != nil {
				break
			}
			s.guard("", func() { s.take(m) })
			if s.phase == serving && !begun {
				begun = true
				s.begin()
				for _, w := range s.folders {
					for _, n := range told {
						params := fmt.Sprintf(`{"workspace":%q,"seq":1,%s}`, w.path, strings.ReplaceAll(n[1], `"W"`, fmt.Sprintf("%q", w.path)))
						s.heard(n[0], json.RawMessage(params))
					}
				}
			}
			for ready := true; ready; {
				select {
				case f := <-s.inbox:
					s.guard("", f)
				default:
					ready = slices.ContainsFunc(s.folders, func(w *workspace) bool { return len(w.listed) > 0 })
				}
			}
		}
		s.giveUp()
		close(s.ended)
		s.cancel()
		if s.daemon != nil {
			s.daemon.client.Close()
		}

		for replies := rpc.NewFrameReader(&out, rpc.HardCap); ; {
			body, err := replies.Read()
			if err != nil {
				if err != io.EOF {
					t.Errorf("what is said cannot be read: %v", err)
				}
				break
			}
			m, bad := rpc.ParseMessage(body)
			if bad != nil {
				t.Errorf("%s: %s", bad.Message, body)
			}
			if m.IsResponse() {
				want[idOf(m.ID)]--
			}
		}
		delete(want, "null") // a broken frame is also answered with it
		for id, n := range want {
			if n != 0 {
				t.Errorf("%d answers too few to %s", n, id)
			}
		}
	})
}

func idOf(id json.RawMessage) string {
	if id == nil {
		return "null"
	}
	return string(id)
}
