//go:build unix

package cli

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cursord/cmd/cursord/tests/world"
)

// usesTypes is a client in TypeScript with allowed and forbidden messages. It uses the schema's types under any generator's
// names.
const usesTypes = `import type { Context, CursordProtocol, DecideParams, Item, SessionChanged } from "./cursord";

type Params<M extends keyof CursordProtocol["methods"]> = CursordProtocol["methods"][M]["params"];
type Result<M extends keyof CursordProtocol["methods"]> = CursordProtocol["methods"][M]["result"];

export const start: Params<"turn/start"> = {
  workspace: "/w", prompt: "p", mode: "ask", model: null,
  context: [{ kind: "text", text: "t" }, { kind: "image", path: "p.png" }],
};
export const decide: DecideParams = { workspace: "/w", all: true };
export function status(r: Result<"turn/wait">): "queued" | "running" | "completed" | "failed" | "cancelled" | "interrupted" {
  return r.turn.status;
}
export function line(item: Item): string {
  return item.kind === "tool" ? item.tool.title : item.text ?? "";
}
export function gone(p: SessionChanged): string | undefined {
  return "session" in p ? undefined : "removed";
}
export function append(text: string, p: CursordProtocol["notifications"]["item/delta"]): string {
  return p.offset === text.length ? text + p.text : text;
}
export const opened: CursordProtocol["clientNotifications"]["document/didOpen"] = { uri: "file:///w/a", text: "a" };

// @ts-expect-error a file has a path
export const noPath: Context = { kind: "file" };
// @ts-expect-error there is no such kind
export const noKind: Context = { kind: "song", text: "t" };
// @ts-expect-error something must be selected
export const nothing: DecideParams = { workspace: "/w" };
// @ts-expect-error there is no such method
export type No = Params<"no/such">;
// @ts-expect-error a text has no tool
export function tool(item: Item) { return item.kind === "notice" ? item.tool.title : ""; }
`

// TestTypeScript generates types from the schema with two generators and compiles a client that uses them.
func TestTypeScript(t *testing.T) {
	t.Parallel()
	compiler := world.EditorsFound(t, "tsc", "tsc")[0]
	dir := t.TempDir()
	// The compiler's own declarations are not checked, and none of a browser is read: they take most of its time.
	check := exec.Command(compiler, "--noEmit", "--strict", "--skipLibCheck", "--lib", "es2020")
	for name, types := range map[string][]string{
		"json2ts": {world.EditorsFound(t, "json2ts", "json2ts")[0], world.Top("rpc", "schema.json")},
		"cursord": {"cursord", "schema", "--typescript"},
	} {
		made, err := exec.Command(types[0], types[1:]...).Output()
		require.NoError(t, err, name)
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "cursord.ts"), made, 0o600))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name, "client.ts"), []byte(usesTypes), 0o600))
		check.Args = append(check.Args, filepath.Join(name, "client.ts"))
	}
	check.Dir = dir
	out, err := check.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

// usesClasses is a client in Python that decodes each answer by quicktype's classes and encodes it again.
const usesClasses = `import json, subprocess, sys
import cursord

def call(method, params, kind):
    said = json.loads(subprocess.check_output(["cursord", "call", method, json.dumps(params)]))
    value = kind.from_dict(said)
    assert kind.from_dict(value.to_dict()) == value, method
    return value

work = {"workspace": sys.argv[1]}
started = call("turn/start", {**work, "prompt": "p", "context": [{"kind": "text", "text": "t"}]}, cursord.TurnStartResult)
ended = call("turn/wait", {"turnId": started.turn.id}, cursord.TurnResult)
assert ended.turn.status is cursord.TurnStatus.COMPLETED, ended
read = call("session/read", {"sessionId": started.session.id}, cursord.Transcript)
assert [item.kind for item in read.items][:1] == [cursord.ItemKind.TOOL], read
diffs = call("diff/list", work, cursord.DiffList).diffs
assert diffs[0].hunks[0].sources[0].via is cursord.Via.EDIT, diffs
call("daemon/status", {}, cursord.Status)
try:
    cursord.Context.from_dict({"kind": "song"})
except ValueError:
    print("as it should be")
`

// TestPython generates classes from the schema and runs a client that uses them with a daemon.
func TestPython(t *testing.T) {
	t.Parallel()
	python := world.Program(t, "python3")
	quicktype := world.EditorsFound(t, "quicktype", "quicktype")[0]
	w := world.New(t)
	before, after := "a\n", "b\n"
	w.Put("f.txt", before)
	w.Plays(world.Lines(world.Edits("c1", "f.txt", before, after))...)
	w.Start()
	w.Opens()
	run := func(args ...string) string {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir, cmd.Env = w.Dir, w.Env()
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	run(quicktype, "-s", "schema", world.Top("rpc", "schema.json"), "-l", "python", "--python-version", "3.7", "-o", filepath.Join(w.Dir, "cursord.py"))
	// Quicktype's classes read times with a package that may not be installed.
	require.NoError(t, os.Mkdir(filepath.Join(w.Dir, "dateutil"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "dateutil", "parser.py"), []byte("from datetime import datetime\n\n\ndef parse(text):\n    return datetime.fromisoformat(text.replace(\"Z\", \"+00:00\"))\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "client.py"), []byte(usesClasses), 0o600))
	require.Equal(t, "as it should be\n", run(python, "client.py", w.Root))
	own := run("cursord", "schema", "--python")
	require.NoError(t, os.WriteFile(filepath.Join(w.Dir, "protocol_types.py"), []byte(own+"\nassert Turn.__required_keys__ >= {'id', 'status'} and 'hint' in TurnError.__annotations__\n"), 0o600))
	if out := run(python, "-c", "import sys; print(sys.version_info >= (3, 11))"); out == "True\n" {
		run(python, "protocol_types.py")
	}
}

func TestSchemaIsWhatTheDaemonSpeaks(t *testing.T) {
	t.Parallel()
	out, err := exec.Command("cursord", "schema").Output()
	require.NoError(t, err)
	require.Equal(t, world.ReadPage(t, "rpc/schema.json"), string(out))
}
