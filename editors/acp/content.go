package acp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"fmt"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"cursord/daemon/api"
	"cursord/daemon/paths"
	"cursord/editors/acp/protocol"
	"cursord/editors/acp/updates"
	"cursord/rpc"
)

// contentOf returns the words of a prompt, and what goes with them. Where a file is named between words, its name stays there.
// members are the names by which the editor knows what goes with them.
func contentOf(cwd, root string, blocks []protocol.Block) (text string, context []rpc.Context, members []string, err error) {
	var words strings.Builder
	c := composing{cwd: cwd, root: root, words: &words}
	for i, b := range blocks {
		member := fmt.Sprintf("prompt[%d]", i)
		switch b.Type {
		case "text":
			c.say(b.Text)
		case "resource_link":
			context = append(context, c.link(b.URI, b.Name)...)
		case "resource":
			if b.Resource == nil {
				return "", nil, nil, invalid(member+".resource", "is missing")
			}
			more, ok := c.embedded(b.Resource)
			if !ok {
				return "", nil, nil, invalid(member+".resource",
					fmt.Sprintf("%s is neither a text nor an image, and no file: the agent cannot read it; leave it out", cmp.Or(b.Resource.URI, "it")))
			}
			context = append(context, more...)
			member += ".resource"
		case "image":
			context = append(context, rpc.Context{Kind: "image", Data: &b.Data, MimeType: b.MimeType})
			member += ".data"
		case "audio":
			return "", nil, nil, invalid(member, "audio is not supported")
		default:
			return "", nil, nil, invalid(member+".type", fmt.Sprintf("%q is not known", b.Type))
		}
		for len(members) < len(context) {
			members = append(members, member)
		}
	}
	if text = words.String(); strings.TrimSpace(text) == "" {
		if len(context) == 0 {
			return "", nil, nil, invalid("prompt", "must be a list of blocks with something in them")
		}
		text = updates.NoWords
	}
	return text, context, members, nil
}

// A composing is a prompt while its blocks are put together.
type composing struct {
	cwd, root string // the folder, as the editor spells it and as the daemon does
	words     *strings.Builder
}

// say adds the words of a block, behind a blank if they would grow together with what is there.
func (c *composing) say(text string) {
	last, _ := utf8.DecodeLastRuneInString(c.words.String())
	first, _ := utf8.DecodeRuneInString(text)
	begins := unicode.IsLetter(first) || unicode.IsDigit(first) || first == '@' || first == '['
	if c.words.Len() > 0 && begins && !unicode.IsSpace(last) && !strings.ContainsRune("([{<\"'`“‘«@", last) {
		c.words.WriteByte(' ')
	}
	c.words.WriteString(text)
}

// link names a file or a page in the words. A file also goes along.
func (c *composing) link(uri, name string) []rpc.Context {
	path, lines, ok := c.fileOf(uri)
	if ok {
		c.say("@" + path)
		return []rpc.Context{{Kind: "file", Path: &path, Range: lines}}
	}
	if name != "" && name != uri {
		c.say(fmt.Sprintf("[%s](%s)", name, uri))
	} else {
		c.say(uri)
	}
	return nil
}

// embedded puts a text or an image along, and names its file in the words. It returns false for what the agent cannot get.
func (c *composing) embedded(r *protocol.Resource) (context []rpc.Context, ok bool) {
	path, lines, isFile := c.fileOf(r.URI)
	text := r.Text
	if text == nil && r.Blob != nil {
		text = textOfBlob(*r.Blob)
	}
	switch {
	case r.Text == nil && r.Blob != nil && strings.HasPrefix(r.MimeType, "image/"):
		return []rpc.Context{{Kind: "image", Data: r.Blob, MimeType: r.MimeType}}, true
	case text == nil && (isFile || r.Blob == nil):
		return c.link(r.URI, ""), true
	case text == nil:
		return nil, false
	case !isFile:
		return []rpc.Context{{Kind: "text", Title: r.URI, Text: text}}, true
	}
	c.say("@" + path)
	if lines == nil {
		return []rpc.Context{{Kind: "text", Title: path, Text: text}}, true
	}
	return []rpc.Context{{Kind: "selection", Path: &path, Range: lines, Text: text}}, true
}

// textOfBlob returns the text that a blob is; nil if it is none.
func textOfBlob(blob string) *string {
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil || !utf8.Valid(raw) || bytes.IndexByte(raw, 0) >= 0 {
		return nil
	}
	text := string(raw)
	return &text
}

// fileOf returns the file that a URI names, relative to the folder if it is in it, and the lines of its fragment.
func (c *composing) fileOf(uri string) (path string, lines *api.Range, ok bool) {
	if path, lines, ok = fileOf(uri); !ok {
		return "", nil, false
	}
	for _, folder := range []string{c.cwd, c.root} {
		if inside, is := paths.Within(folder, filepath.Clean(path)); is {
			return inside, lines, true
		}
	}
	return path, lines, true
}

// fileOf returns the absolute path that a URI names, and the lines of its fragment.
func fileOf(uri string) (path string, lines *api.Range, ok bool) {
	if filepath.IsAbs(uri) {
		return uri, nil, true
	}
	u, err := url.Parse(uri)
	if err != nil || !strings.EqualFold(u.Scheme, "file") || !filepath.IsAbs(u.Path) || u.Host != "" && u.Host != "localhost" {
		return "", nil, false
	}
	return u.Path, linesOf(u.Fragment), true
}

// linesOf returns the lines that the fragment of a URI names, as editors write it: L10, L10-20, L10:20 or L10-L20, from 1.
func linesOf(fragment string) *api.Range {
	first, last, several := strings.Cut(strings.ReplaceAll(fragment, ":", "-"), "-")
	number, isLine := strings.CutPrefix(first, "L")
	from, err := strconv.Atoi(number)
	to := from
	if several && err == nil {
		to, err = strconv.Atoi(strings.TrimPrefix(last, "L"))
	}
	if !isLine || err != nil || from < 1 || to < from {
		return nil
	}
	return &api.Range{Start: api.Position{Line: from - 1}, End: api.Position{Line: to}}
}
