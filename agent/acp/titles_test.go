//go:build unix

package acp

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/jsontext"
)

// TestTitlesStayAsTheAgentWroteThem: a person reads the agent's title, in the question and in the transcript. Only a bare name of a tool becomes words.
func TestTitlesStayAsTheAgentWroteThem(t *testing.T) {
	t.Parallel()
	for said, want := range map[string]string{
		"\"kind\":\"other\",\"title\":\"`Rm README.TXT`\"":                                       "`Rm README.TXT`",
		"\"kind\":\"other\",\"title\":\"`cat A B`\"":                                             "`cat A B`",
		"\"kind\":\"read\",\"title\":\"`cat A B`\"":                                              "`cat A B`",
		`"kind":"other","title":"Push Main To GitHub"`:                                           "Push Main To GitHub",
		`"kind":"other","title":"Read Makefile","locations":[{"path":"/w/Makefile"}]`:            "Read Makefile",
		`"kind":"think","title":"Read Makefile"`:                                                 "Read Makefile",
		`"title":"Read Makefile"`:                                                                "Read Makefile",
		`"kind":"other","title":"Look At A Table Of Users, Whose Title Is Longer Than Any Name"`: "Look At A Table Of Users, Whose Title Is Longer Than Any Name",
		`"kind":"fetch","title":"Query SELECT Users"`:                                            "Query SELECT Users",
		`"kind":"execute","title":"Run The Tests"`:                                               "Run The Tests",
		`"kind":"edit","title":"Apply A Patch To Users"`:                                         "Apply A Patch To Users",
		`"kind":"other","title":"MCP: Tickets List"`:                                             "MCP: Tickets List",
		`"kind":"other","title":"server.listUsers"`:                                              "server.listUsers",
		`"kind":"other","title":"switchMode"`:                                                    "Switch mode",
		`"kind":"other","title":"switch_mode"`:                                                   "Switch mode",
		`"kind":"fetch","title":"QueryUsers"`:                                                    "Query users",
		`"kind":"other","title":"README"`:                                                        "README",
		`"kind":"other","title":"getHTTPPage"`:                                                   "Get HTTP page",
		`"kind":"read","title":"Read File"`:                                                      "Read",
		`"kind":"read","title":"Look At Makefile","locations":[{"path":"/w/Makefile"}]`:          "Read Makefile",
		`"kind":"fetch","title":"Query SELECT Users","rawInput":{"url":"https://a"}`:             "Fetch https://a",
		`"kind":"other","title":"` + `Turn \u202eit` + `"`:                                       "Turn \u202eit",
	} {
		d := newDecoder("/w", time.Now, false)
		c := &call{report: agent.CallReport{ID: "1"}}
		d.learn(c, jsontext.Value(`{`+said+`,"rawInput":{"table":"users"}}`).Object(nil))
		require.Equal(t, want, c.shown("/w").Title, said)
		require.Equal(t, want, c.report.Call("/w").Title, said)
	}
}
