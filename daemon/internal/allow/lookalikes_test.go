package allow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestLookAlikes marks words that are not what they look like, and no others.
func TestLookAlikes(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]string{
		"": "", "touch x": "", "git commit -m 'Добавил тест'": "", "echo café 日本 APIを 'où'": "", "cat naïve.txt": "", "rm x-файл": "", "sleep 10µs": "",
		"t\u043euch x":             "t<U+043E>uch",
		"\u0441\u043e\u0440\u0443": "<U+0441><U+043E><U+0440><U+0443>",
		"cat p\u0430sswd.txt t\u03bfp/x p\u0430sswd.txt": "p<U+0430>sswd.txt, t<U+03BF>p/x",
		"ls; X=1 '\u0261it' status":                      "'<U+0261>it'",
		"if a; then \u0455\u04bb x; fi":                  "<U+0455><U+04BB>",
		"echo $(\u0441at x)":                             "<U+0441>at, $(<U+0441>at",
		"./café/run":                                     "./caf<U+00E9>/run",
		"a 'b \u0430\u0430":                              "<U+0430><U+0430>",
		"ls \uff52m \U0001d42bm":                         "<U+FF52>m, <U+1D42B>m",
		"rm -rf build\u200d":                             "build<U+200D>",
		"cp a\u2003b c\u3000 x\ufe0f \u2800":             "a<U+2003>b, c<U+3000>, x<U+FE0F>, <U+2800>",
		"git commit -m '👍\ufe0f 👩\u200d🚀'":               "",
		"/bin\u2215ls":                                   "/bin<U+2215>ls",
		"x" + strings.Repeat(" ", MaxCommand) + "\u0430": "<U+0430>",
	} {
		require.Equal(t, want, strings.Join(LookAlikes(command, nil), ", "), command)
	}
	for path, want := range map[string]string{
		"": "", "docs/über uns.md": "", "проект/app/日本.md": "", "src/m\u0430in.go": "m<U+0430>in.go", "a b/read\u200bme.md": "read<U+200B>me.md", "x/\u00a0y": "<U+00A0>y",
	} {
		require.Equal(t, want, strings.Join(LookAlikes("", []string{path}), ", "), path)
	}
	var many strings.Builder
	for n := range 50 {
		fmt.Fprintf(&many, "\u0430a%d ", n)
	}
	require.Len(t, LookAlikes(many.String(), nil), mostLookAlikes+1)
}
