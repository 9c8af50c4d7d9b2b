package rpc

import (
	"encoding/base64"
	"fmt"
	"strings"

	"cursord/daemon/api"
)

// coreContexts translates the context of turn/start. It checks what can be wrong only in JSON: required members, ranges and
// base64. The core checks the rest.
func coreContexts(list []Context) ([]api.Context, error) {
	var out []api.Context
	for i := range list {
		c, err := list[i].core(fmt.Sprintf("context[%d].", i))
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// core translates c; at is its place in the parameters, for errors.
func (c *Context) core(at string) (api.Context, error) {
	out := api.Context{Kind: c.Kind}
	needs := func(field string, missing bool) error {
		if missing {
			return invalid(at+field, "is missing in a context of kind "+c.Kind)
		}
		return nil
	}
	var err error
	switch c.Kind {
	case "selection":
		err = firstError(needs("range", c.Range == nil), needs("text", c.Text == nil))
	case "diagnostics":
		err = needs("items", c.Items == nil)
	case "text":
		err = needs("text", c.Text == nil)
	case "image":
		out.Data, err = c.image(at)
	}
	if err != nil {
		return out, err
	}
	if c.Range != nil {
		if err := checkRange(at+"range", *c.Range); err != nil {
			return out, err
		}
	}
	if c.Path != nil {
		out.Path = *c.Path
	}
	if c.Text != nil {
		out.Text = *c.Text
	}
	out.Range, out.Title = c.Range, c.Title
	if c.Items == nil {
		return out, nil
	}
	for i, d := range *c.Items {
		if err := checkRange(fmt.Sprintf("%sitems[%d].range", at, i), d.Range); err != nil {
			return out, err
		}
		if d.Severity < 0 || d.Severity > 4 {
			return out, invalid(fmt.Sprintf("%sitems[%d].severity", at, i), "must be 1 to 4")
		}
		out.Items = append(out.Items, api.Diagnostic{
			Range: d.Range, Severity: max(d.Severity, 1), Message: d.Message, Source: d.Source,
		})
	}
	return out, nil
}

// image returns the bytes in a context of kind image; nil if it names a path instead.
func (c *Context) image(at string) ([]byte, error) {
	switch {
	case c.Path != nil && c.Data != nil:
		return nil, invalid(at+"data", "does not go with a path")
	case c.MimeType != "" && !strings.HasPrefix(c.MimeType, "image/"):
		return nil, invalid(at+"mimeType", "must be that of an image, such as image/png")
	case c.Data == nil:
		return nil, nil
	}
	data, err := base64.StdEncoding.DecodeString(*c.Data)
	if err != nil {
		return nil, invalid(at+"data", "must be base64, with its padding")
	}
	if len(data) == 0 {
		return nil, invalid(at+"data", "must not be empty")
	}
	return data, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func checkRange(field string, r api.Range) error {
	switch {
	case r.Start.Line < 0 || r.Start.Character < 0 || r.End.Line < 0 || r.End.Character < 0:
		return invalid(field, "lines and characters count from 0")
	case r.End.Line < r.Start.Line || r.End.Line == r.Start.Line && r.End.Character < r.Start.Character:
		return invalid(field, "must not end before it starts")
	}
	return nil
}
