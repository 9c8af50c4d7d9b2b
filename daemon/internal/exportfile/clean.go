package exportfile

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"cursord/daemon/config"
	"cursord/daemon/internal/params"
	"cursord/daemon/internal/wire"
	"cursord/sessions"
)

// clean returns an error if a session of a file has an id or a mode that no session can have. It removes the other fields that are not
// valid, and those that would decide what agents may do on this machine.
func clean(s *sessions.Session) error {
	if s.ID == "" || len(s.ID) > params.TurnIDMax || strings.Trim(s.ID, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz") != "" {
		return fmt.Errorf("%q is no session's id", s.ID)
	}
	if !params.ValidMode(s.Mode) {
		return fmt.Errorf("%q is no mode", s.Mode)
	}
	if s.AgentSessionID != nil && params.CheckChat(*s.AgentSessionID) != nil {
		s.AgentSessionID = nil
	}
	s.Title = wire.CutText(s.Title, params.TitleMax)
	if s.State = sessions.SessionIdle; s.Isolation != config.IsolationCopy {
		s.Isolation = config.IsolationNone
	}
	if _, err := config.CheckDriver(s.Driver); err != nil {
		s.Driver = ""
	}
	if from := s.ForkedFrom; from != nil && (len(from.SessionID) > params.TurnIDMax || utf8.RuneCountInString(from.TurnID) > params.TurnIDMax) {
		s.ForkedFrom = nil
	}
	s.Attempt = nil // it has no tree here
	s.Sandbox, s.AutoReview, s.AddDirs = "", nil, nil
	return nil
}

// validTurn returns an error if a turn of a file has an id or a mode that no turn can have.
func validTurn(t *sessions.Turn) error {
	if t.ID == "" || utf8.RuneCountInString(t.ID) > params.TurnIDMax || !utf8.ValidString(t.ID) || strings.ContainsFunc(t.ID, unicode.IsControl) {
		return fmt.Errorf("%q is no turn's id", t.ID)
	}
	if !params.ValidMode(t.Mode) {
		return fmt.Errorf("%q is no mode", t.Mode)
	}
	return nil
}
