package acp

import (
	"slices"
	"strings"

	"cursord/editors/acp/protocol"
	"cursord/rpc"
	"cursord/sessions"
)

// The choices of a session, by their ids.
const (
	optionMode      = "mode"
	optionModel     = "model"
	optionIsolation = "isolation"
	optionSandbox   = "sandbox"
	optionReview    = "auto_review"
	optionThrough   = "write_through"
)

// byDefault is the value for what cursord's or the agent's own settings say.
const byDefault = "default"

// models are those that the agent has, once somebody has asked it.
type models struct {
	asked bool
	list  []protocol.Choice
}

// learnModels asks the agent for its models. The first answers to session/new do not wait for that.
func (s *Server) learnModels() {
	if s.models.asked {
		return
	}
	s.models.asked = true
	call(s, "agent/models", none{}, func(all rpc.ModelList, err error) {
		if err != nil {
			s.models.asked = false // the next session asks again
			return
		}
		for _, m := range all.Models {
			s.models.list = append(s.models.list, protocol.Choice{Value: m.ID, Name: m.Name})
		}
		for _, at := range s.sessions {
			if at.news == nil {
				s.tellOptions(at)
			}
		}
	})
}

var modes = []protocol.Mode{
	{ID: string(sessions.ModeAgent), Name: "Agent", Description: "Reads, changes files and runs commands"},
	{ID: string(sessions.ModeAsk), Name: "Ask", Description: "Answers questions and changes nothing"},
	{ID: string(sessions.ModePlan), Name: "Plan", Description: "Makes a plan and changes nothing"},
}

func modesOf(at *session) protocol.Modes {
	return protocol.Modes{CurrentModeID: string(at.info.Mode), AvailableModes: modes}
}

// optionsOf returns the choices of a session, the most important first.
func (s *Server) optionsOf(at *session) []protocol.ConfigOption {
	mode := protocol.ConfigOption{ID: optionMode, Name: "Mode", Category: "mode", Type: "select", CurrentValue: string(at.info.Mode)}
	for _, m := range modes {
		mode.Options = append(mode.Options, protocol.Choice{Value: m.ID, Name: m.Name, Description: m.Description})
	}
	options := []protocol.ConfigOption{mode, s.modelOption(at), isolationOption(at), sandboxOption(at), s.reviewOption(at)}
	if s.canWriteThrough(at) {
		options = append(options, s.toggle(protocol.ConfigOption{
			ID: optionThrough, Name: "Accepts by the editor", Category: "_review",
			Description: "What you accept is written by the editor, so that it is in its own review, and unsaved texts are safe",
		}, at.through))
	}
	return options
}

func (s *Server) modelOption(at *session) protocol.ConfigOption {
	current := byDefault
	if at.info.Model != nil && *at.info.Model != "" {
		current = *at.info.Model
	}
	all := append([]protocol.Choice{{Value: byDefault, Name: "Default", Description: "The model that cursor-agent's settings name"}}, s.models.list...)
	if !slices.ContainsFunc(all, func(c protocol.Choice) bool { return c.Value == current }) {
		all = append(all, protocol.Choice{Value: current, Name: current})
	}
	return protocol.ConfigOption{ID: optionModel, Name: "Model", Category: "model", Type: "select", CurrentValue: current, Options: all}
}

func isolationOption(at *session) protocol.ConfigOption {
	o := protocol.ConfigOption{
		ID: optionIsolation, Name: "Works in", Category: "_isolation", Type: "select", CurrentValue: at.info.Isolation,
		Description: "Where the agent works. It cannot change once the session has a turn",
		Options: []protocol.Choice{
			{Value: "none", Name: "The folder itself", Description: "Changes are on disk at once, and under review"},
			{Value: "copy", Name: "A copy", Description: "Nothing changes on disk before you accept it"},
		},
	}
	if at.info.Turns > 0 {
		o.Options = slices.DeleteFunc(o.Options, func(c protocol.Choice) bool { return c.Value != at.info.Isolation })
	}
	return o
}

func sandboxOption(at *session) protocol.ConfigOption {
	current := byDefault
	if at.info.Sandbox != "" {
		current = at.info.Sandbox
	}
	return protocol.ConfigOption{
		ID: optionSandbox, Name: "Sandbox", Category: "_sandbox", Type: "select", CurrentValue: current,
		Description: "Whether commands run in the agent's sandbox",
		Options: []protocol.Choice{
			{Value: byDefault, Name: "Default", Description: "As the settings say"},
			{Value: "enabled", Name: "Sandbox", Description: "Commands that the sandbox can hold run, others are denied"},
			{Value: "disabled", Name: "No sandbox", Description: "Commands run only as the agent's permissions say"},
		},
	}
}

func (s *Server) reviewOption(at *session) protocol.ConfigOption {
	return s.toggle(protocol.ConfigOption{
		ID: optionReview, Name: "Auto-review", Category: "_sandbox",
		Description: "A classifier of the agent decides about commands that would be denied",
	}, at.info.AutoReview != nil && *at.info.AutoReview)
}

// toggle makes an option of yes and no: a boolean for editors that know these.
func (s *Server) toggle(o protocol.ConfigOption, on bool) protocol.ConfigOption {
	if s.client.Session.ConfigOptions.Boolean {
		o.Type, o.CurrentValue = "boolean", on
		return o
	}
	o.Type, o.CurrentValue = "select", "off"
	if on {
		o.CurrentValue = "on"
	}
	o.Options = []protocol.Choice{{Value: "off", Name: "Off"}, {Value: "on", Name: "On"}}
	return o
}

// setMode sets the mode of the turns that begin later.
func (s *Server) setMode(r *request) {
	at := s.sessionOf(r)
	if at == nil {
		return
	}
	var p protocol.SetModeParams
	r.decode(&p)
	mode := sessions.Mode(p.ModeID)
	if !slices.ContainsFunc(modes, func(m protocol.Mode) bool { return m.ID == p.ModeID }) {
		r.answer(nil, invalid("modeId", "must be agent, ask or plan"))
		return
	}
	s.change(r, at, rpc.SessionUpdateParams{Mode: &mode}, func() any { return none{} })
}

// setOption sets a choice for the turns that begin later.
func (s *Server) setOption(r *request) {
	at := s.sessionOf(r)
	if at == nil {
		return
	}
	var p protocol.SetOptionParams
	r.decode(&p)
	word, isWord := p.Value.(string)
	on, isBool := p.Value.(bool)
	if !isBool {
		on = word == "on" || word == "true"
	}
	answer := func() any {
		options := s.optionsOf(at)
		at.told = string(protocol.Encode(options))
		return protocol.OptionsResult{ConfigOptions: options}
	}
	known := slices.IndexFunc(s.optionsOf(at), func(o protocol.ConfigOption) bool { return o.ID == p.ConfigID })
	if known < 0 {
		r.answer(nil, invalid("configId", "there is no choice "+p.ConfigID))
		return
	}
	anyModel := p.ConfigID == optionModel && len(s.models.list) == 0 // editors remember models of which the agent is only asked later
	if o := s.optionsOf(at)[known]; !anyModel && !mayBe(o, p.Value) {
		r.answer(nil, invalid("value", "is not one of the option's values"+valuesOf(o)))
		return
	}
	var u rpc.SessionUpdateParams
	switch p.ConfigID {
	case optionMode:
		mode := sessions.Mode(word)
		u.Mode = &mode
	case optionModel:
		if word == byDefault {
			word = ""
		}
		if !isWord {
			r.answer(nil, invalid("value", "must be a string"))
			return
		}
		u.Model = &word
	case optionIsolation:
		u.Isolation = &word
	case optionSandbox:
		u.Sandbox = &word
	case optionReview:
		u.AutoReview = &on
	case optionThrough:
		at.through = on
		r.answer(answer(), nil)
		return
	}
	s.change(r, at, u, answer)
}

// mayBe reports whether an option has a value.
func mayBe(o protocol.ConfigOption, value any) bool {
	if _, isBool := value.(bool); isBool {
		return o.Type == "boolean"
	}
	return slices.ContainsFunc(o.Options, func(c protocol.Choice) bool { return c.Value == value })
}

// valuesOf returns the values of an option as the end of a message.
func valuesOf(o protocol.ConfigOption) string {
	var values []string
	for _, c := range o.Options {
		values = append(values, c.Value)
	}
	if len(values) == 0 {
		return ""
	}
	return ": " + strings.Join(values, ", ")
}

// change changes a session, and then answers with what answer returns.
func (s *Server) change(r *request, at *session, u rpc.SessionUpdateParams, answer func() any) {
	u.SessionID = at.info.ID
	mode := at.info.Mode // as the editor has it
	if r.method == "session/set_mode" {
		mode = *u.Mode
	}
	at.setting++
	call(s, "session/update", u, func(now rpc.SessionResult, err error) {
		at.setting--
		if err != nil {
			r.answer(nil, err)
		} else {
			if now.Session.Seq > at.info.Seq {
				at.info = now.Session
			}
			if r.answer(answer(), nil); at.info.Mode != mode {
				s.tellMode(at)
			}
		}
		s.tellOptions(at) // what has changed beside it, and the options after a change of the mode
	})
}
