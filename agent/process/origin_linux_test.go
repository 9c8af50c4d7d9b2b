package process

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOriginOf looks at the last of a chain of shells, of which the first has the mark, or none.
func TestOriginOf(t *testing.T) {
	t.Parallel()
	const mark = "ORIGIN_TEST_MARK=1"
	script := filepath.Join(t.TempDir(), "chain")
	require.NoError(t, os.WriteFile(script, []byte(`if [ $1 -gt 0 ]; then env -i "PATH=$PATH" sh "$0" $(($1 - 1)); exit; fi
echo $$; read line`), 0o600))
	for name, c := range map[string]struct {
		below int
		env   []string
		want  Origin
	}{
		"a person's":            {20, nil, Origin{}},
		"an agent's":            {20, []string{mark, "T=7"}, Origin{Marked: true, Value: "7"}},
		"without a value":       {0, []string{mark}, Origin{Marked: true}},
		"another's mark":        {0, []string{mark + "1", "T=7"}, Origin{}},
		"of too many ancestors": {ancestorSteps, []string{mark, "T=7"}, Origin{Unknown: true}},
	} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("sh", script, strconv.Itoa(c.below))
			cmd.Env = append(c.env, "PATH="+os.Getenv("PATH"))
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			line, err := bufio.NewReader(out).ReadString('\n')
			require.NoError(t, err)
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			require.NoError(t, err)
			require.Equal(t, c.want, OriginOf(pid, mark, "T"))
			require.NoError(t, in.Close())
			_ = cmd.Wait() // read at the end of the file fails
			require.Equal(t, Origin{Unknown: true}, OriginOf(cmd.Process.Pid, mark, "T"), "it has ended")
		})
	}
}
