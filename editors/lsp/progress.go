package lsp

import (
	"fmt"
	"strings"
	"time"

	"cursord/agent/plaintext"
	"cursord/editors/lsp/hunks"
	"cursord/editors/lsp/protocol"
	"cursord/editors/lsp/turns"
	"cursord/rpc"
	"cursord/sessions"
)

const (
	reportPause  = 200 * time.Millisecond // reports about a turn are gathered so long
	readingTime  = 3 * time.Second        // how long reports leave a message alone, which they replace in Helix
	silenceEvery = 10 * time.Second       // the time between looks at turns that say nothing
)

// A progress is the progress that an editor shows for a turn that has not ended.
type progress struct {
	workspace *workspace
	turn      string
	session   string
	token     string
	number    int // turns in the order in which they came
	begun     bool
	ended     bool
	message   string // the latest report
	said      string // the beginning of the agent's latest text
	queued    bool
	// background says that the turn only waits for background commands.
	background bool
	waiting    bool      // for a person's answer
	heard      time.Time // the time of the turn's latest notification
	silence    string    // the silence in the latest report
	reporting  bool
}

// turnChanged handles a new state of a turn.
func (s *Server) turnChanged(w *workspace, t *sessions.Turn) {
	if t == nil {
		return
	}
	w.began(t)
	s.follow(w, t.SessionID)
	s.tellStatus(w)
	w.notePrompt(t)
	p := w.running[t.ID]
	if t.Status.Final() {
		if p == nil && !w.own[t.ID] {
			return // it ended before the editor connected
		}
		delete(w.running, t.ID)
		delete(w.own, t.ID)
		s.endTurn(w, p, t)
		return
	}
	if p == nil {
		p = s.beginProgress(w, t)
	}
	switch n := len(t.Background); {
	case t.Status == sessions.TurnQueued:
		s.report(p, "waiting")
	case t.Waiting:
		s.report(p, "waits for your answer – "+s.client.Key("approvals"))
	case n > 0:
		s.report(p, "waiting for "+plaintext.Count(n, "background command"))
	case p.message == "" || p.queued || p.background || p.waiting:
		s.report(p, "thinking")
	}
	p.background, p.waiting = len(t.Background) > 0, t.Waiting
	p.queued, p.heard = t.Status == sessions.TurnQueued, time.Now()
}

// maxPrompts bounds the prompts that are kept to describe hunks.
const maxPrompts = 1000

// notePrompt keeps the first words of a turn's prompt.
func (w *workspace) notePrompt(t *sessions.Turn) {
	if len(w.prompts) >= maxPrompts {
		clear(w.prompts)
	}
	w.prompts[t.ID] = strings.Clone(plaintext.FirstLine(t.Asked(), 60))
}

// noteHeard notes that a notification about a turn came.
func (w *workspace) noteHeard(turn string) {
	if p := w.running[turn]; p != nil {
		p.heard = time.Now()
	}
}

// watchSilence reports from time to time how long a turn has said nothing, until the turn ends.
func (s *Server) watchSilence(p *progress) {
	s.after(silenceEvery, func() {
		if p.ended {
			return
		}
		silence := rpc.Silence(time.Since(p.heard))
		if p.queued || p.waiting {
			silence = ""
		}
		if silence != p.silence && p.begun {
			p.silence = silence
			s.progress(p, protocol.ProgressValue{Kind: "report", Message: p.words()})
		}
		s.watchSilence(p)
	})
}

// words returns the report about a turn.
func (p *progress) words() string {
	if p.silence == "" {
		return p.message
	}
	return p.message + ", " + p.silence
}

// beginProgress begins a turn's progress, if the editor shows progress.
func (s *Server) beginProgress(w *workspace, t *sessions.Turn) *progress {
	s.tokens++
	p := &progress{workspace: w, turn: t.ID, session: t.SessionID, number: s.tokens, token: fmt.Sprintf("cursord-turn-%d", s.tokens)}
	w.running[t.ID] = p
	s.watchSilence(p)
	if !s.client.Progress {
		return p
	}
	s.ask("window/workDoneProgress/create", protocol.ProgressParams{Token: p.token}, func(m rpc.Message) {
		if protocol.Failed(m) != nil || p.ended {
			return
		}
		p.begun = true
		s.progress(p, protocol.ProgressValue{Kind: "begin", Title: "agent", Cancellable: true, Message: p.message})
	})
	return p
}

func (s *Server) progress(p *progress, v protocol.ProgressValue) {
	key := ""
	if v.Kind == "report" {
		key = "progress " + p.token
	}
	s.tell(key, "$/progress", protocol.ProgressParams{Token: p.token, Value: v})
}

// report reports what a turn does, in a moment.
func (s *Server) report(p *progress, message string) {
	if p.message == message && p.silence == "" {
		return
	}
	p.message, p.silence = message, ""
	if p.reporting {
		return
	}
	p.reporting = true
	s.reportAfter(p, reportPause)
}

func (s *Server) reportAfter(p *progress, pause time.Duration) {
	s.after(pause, func() {
		if left := readingTime - time.Since(s.showedAt); left > 0 && s.client.IsHelix() {
			s.reportAfter(p, left)
			return
		}
		p.reporting = false
		if p.begun && !p.ended {
			s.progress(p, protocol.ProgressValue{Kind: "report", Message: p.message})
		}
	})
}

func (s *Server) endProgress(p *progress, message string) {
	if p.ended = true; p.begun {
		s.progress(p, protocol.ProgressValue{Kind: "end", Message: message})
	}
}

// itemChanged handles a new state of an item.
func (s *Server) itemChanged(w *workspace, it *sessions.Item) {
	if it == nil {
		return
	}
	s.follow(w, it.SessionID)
	w.noteHeard(it.TurnID)
	s.noticed(w, it)
	p := w.running[it.TurnID]
	if said := plaintext.FirstLine(it.Text, turns.MaxSaid); p != nil && it.Kind == sessions.ItemAssistant && said != "" {
		p.said = said
	}
	if p == nil || p.waiting || it.Status != sessions.ItemRunning {
		return
	}
	switch it.Kind {
	case sessions.ItemThinking:
		s.report(p, "thinking")
	case sessions.ItemAssistant:
		s.report(p, "writing")
	case sessions.ItemTool:
		if it.Tool != nil {
			s.report(p, plaintext.FirstLine(it.Tool.Title, 60))
		}
	}
}

// endTurn reports the end of a turn.
func (s *Server) endTurn(w *workspace, p *progress, t *sessions.Turn) {
	if p != nil {
		s.endProgress(p, string(t.Status))
	}
	said := ""
	if p != nil {
		said = p.said
	}
	message, said := turns.Ended(t, said)
	level := map[sessions.TurnStatus]int{sessions.TurnFailed: levelError, sessions.TurnInterrupted: levelWarning}[t.Status]
	if level == 0 {
		level = levelInfo
	}
	if n, files := w.coming(); files > 0 {
		message += fmt.Sprintf(" – %s to review in %s", plaintext.Count(n, "hunk"), plaintext.Count(files, "file"))
		conflicts := 0
		for _, d := range w.diffs {
			conflicts += hunks.Conflicts(d)
		}
		if conflicts > 0 { // this message replaces the one about them in editors that show one line
			message += ", " + plaintext.Count(conflicts, "conflict")
		}
	}
	if notify := s.client.Settings.Notify; notify == nil || *notify || level == levelError {
		s.show(level, "cursord: %s", message+said)
	}
	s.hintStale(w)
}

func (s *Server) cancelProgress(p *protocol.CancelProgressParams) {
	for _, w := range s.folders {
		for id, one := range w.running {
			if one.token == p.Token {
				s.cancelTurn(id)
			}
		}
	}
}
