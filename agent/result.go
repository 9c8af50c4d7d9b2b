package agent

import "cursord/agent/jsontext"

// result decodes the end of a run. An unknown subtype counts as a failure.
func (d *Decoder) result(dst []Event, e *event) []Event {
	dst = d.settle(dst)
	r := Result{
		OK:        e.subtype == "" || e.subtype == "success",
		SessionID: e.text("session_id"),
		RequestID: e.text("request_id"),
		Usage:     usageOf(e),
	}
	if is, _ := e.get("is_error").Bool(); is {
		r.OK = false
	}
	for _, o := range []jsontext.Object{e.top, e.payload} {
		if code, ok := o.Get("exitCode", "exit_code").Int(); ok && code != 0 {
			r.OK = false
		}
	}
	if is, _ := jsontext.Value(e.payload.Get("is_error")).Bool(); is {
		r.OK = false
	}
	if r.Usage == nil && d.steps != nil {
		sum := *d.steps
		r.Usage = &sum
	}
	text := e.get("result")
	switch {
	case r.OK && text.IsString():
		s := text.Text()
		r.Text = &s
		if d.said.all == 0 {
			dst = d.chunk(dst, s, false)
		}
	case !r.OK:
		for _, key := range []string{"error", "result", "message", "detail"} {
			if r.Error = messageOf(e.get(key)); r.Error != "" {
				break
			}
		}
		if r.Error == "" && e.subtype != "success" && e.subtype != "error" {
			r.Error = "the agent ended the run with " + e.subtype
		}
	}
	return append(dst, r)
}

// usageOf reads a result's counters under any of their names; nil if there are none.
func usageOf(e *event) *Usage {
	if usage := e.get("usage"); usage.IsObject() {
		return counters(usage.Object(nil))
	}
	if u := counters(e.top); u != nil {
		return u
	}
	return counters(e.payload)
}

func counters(o jsontext.Object) *Usage {
	u, found := Usage{}, false
	read := func(to *int64, keys ...string) {
		for _, key := range keys {
			if n, ok := o.Get(key).Int(); ok && n >= 0 {
				*to, found = n, true
				return
			}
		}
	}
	read(&u.Input, "inputTokens", "input_tokens")
	read(&u.Output, "outputTokens", "output_tokens")
	read(&u.CacheRead, "cacheReadTokens", "cache_read_tokens", "cachedInputTokens", "cached_input_tokens",
		"cacheReadInputTokens", "cache_read_input_tokens")
	read(&u.CacheWrite, "cacheWriteTokens", "cache_write_tokens", "cacheCreationInputTokens",
		"cache_creation_input_tokens", "cacheWriteInputTokens", "cache_write_input_tokens")
	if !found {
		return nil
	}
	return &u
}

// step adds the tokens of a step_finish event.
func (d *Decoder) step(e *event) {
	tokens := jsontext.Value(e.get("part")).Get("tokens").Object(nil)
	if tokens == nil {
		return
	}
	if d.steps == nil {
		d.steps = &Usage{}
	}
	cache := tokens.Get("cache").Object(nil)
	for _, c := range []struct {
		to   *int64
		from jsontext.Value
	}{
		{&d.steps.Input, tokens.Get("input")},
		{&d.steps.Output, tokens.Get("output")},
		{&d.steps.CacheRead, cache.Get("read")},
		{&d.steps.CacheWrite, cache.Get("write")},
	} {
		if n, ok := c.from.Int(); ok && n >= 0 {
			*c.to += n
		}
	}
}
