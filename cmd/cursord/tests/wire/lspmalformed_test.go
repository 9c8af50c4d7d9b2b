//go:build unix

package wire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
	"cursord/rpc"
)

// inLSP turns messages of the native protocol into messages of a language client, with methods of LSP.
func inLSP(messages []malformed) (list []malformed) {
	words := strings.NewReplacer("daemon/status", "workspace/diagnostic", `daemon\/status`, `workspace\/diagnostic`,
		`\u0064aemon/status`, `\u0077orkspace/diagnostic`)
	for _, m := range messages {
		if strings.Contains(m.body, "session/list") || m.field != "" {
			continue // a language server has no such method
		}
		m.body = words.Replace(m.body)
		list = append(list, m)
	}
	return list
}

// TestMalformedLSP sends the same broken messages to a language server, in both framings.
func TestMalformedLSP(t *testing.T) {
	t.Parallel()
	sendAllLSP(t, inLSP(wireMessages()))
}

// TestHugeMessagesLSP sends a language server messages around the limits of size.
func TestHugeMessagesLSP(t *testing.T) {
	world.TooLargeForRace(t)
	sendAllLSP(t, inLSP(largeMessages("/")))
}

func sendAllLSP(t *testing.T, messages []malformed) {
	w := world.New(t)
	w.Start()
	for _, headers := range []bool{false, true} {
		t.Run(fmt.Sprintf("headers=%v", headers), func(t *testing.T) {
			p := processDoor(w, "lsp")(t)
			if p.headers = headers; headers {
				p.write("\r\n \n")
			}
			p.send(`{"jsonrpc":"2.0","id":"early","method":"workspace/diagnostic"}`)
			require.Equal(t, -32002, p.next().Error.Code)
			p.send(`{"jsonrpc":"2.0","id":"i","method":"initialize","params":{"processId":null,"capabilities":{},"rootUri":null}}`)
			require.Contains(t, string(p.next().Result), `"cursord"`)
			all := messages
			if headers {
				all = append(all[:len(all):len(all)], inLSP(framed)...)
			}
			for _, m := range all {
				p.after = m.name
				p.check(m)
				p.send(`{"jsonrpc":"2.0","id":"good","method":"workspace/diagnostic","params":{}}`)
				require.Equal(t, `"good"`, string(p.next().ID), m.name)
			}
			p.send(`{"jsonrpc":"2.0","id":"end","method":"shutdown"}`)
			require.Equal(t, "null", string(p.next().Result))
			p.send(`{"jsonrpc":"2.0","method":"exit"}`)
			_, err := p.in.ReadByte()
			require.Error(t, err)
		})
	}
	for _, raw := range []string{
		"Content-Length: x\r\n\r\n{}", "Hello there\r\n\r\n", fmt.Sprintf("Content-Length: %d\r\n\r\n", rpc.HardCap+1), "GET / HTTP/1.1\r\nHost: x\r\n\r\n",
	} {
		p := processDoor(w, "lsp")(t)
		p.headers = true
		p.write(raw)
		require.Equal(t, "null", string(p.next().ID), raw)
		_, err := p.in.ReadByte()
		require.Error(t, err)
	}
}
