package rpc

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"go/format"
	"maps"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/invopop/jsonschema"
	"github.com/stretchr/testify/require"

	"cursord/agent"
	"cursord/agent/failure"
	"cursord/daemon/api"
	"cursord/sessions"
)

var update = flag.Bool("update", false, "write schema.json anew")

// notificationTypes returns the parameters of the daemon's notifications.
func notificationTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"$/logTrace":       reflect.TypeFor[LogTraceParams](),
		"session/changed":  reflect.TypeFor[SessionChanged](),
		"turn/changed":     reflect.TypeFor[TurnChanged](),
		"item/changed":     reflect.TypeFor[ItemChanged](),
		"item/delta":       reflect.TypeFor[DeltaParams](),
		"diff/changed":     reflect.TypeFor[DiffChanged](),
		"approval/changed": reflect.TypeFor[ApprovalChanged](),
		"log/message":      reflect.TypeFor[LogMessage](),
	}
}

// clientNotificationTypes returns the parameters of clients' notifications.
func clientNotificationTypes() map[string]reflect.Type {
	return map[string]reflect.Type{
		"initialized":        reflect.TypeFor[None](),
		"exit":               reflect.TypeFor[None](),
		"$/cancelRequest":    reflect.TypeFor[CancelParams](),
		"$/setTrace":         reflect.TypeFor[SetTraceParams](),
		"document/didOpen":   reflect.TypeFor[DidOpenParams](),
		"document/didChange": reflect.TypeFor[DidChangeParams](),
		"document/didSave":   reflect.TypeFor[DidSaveParams](),
		"document/didClose":  reflect.TypeFor[DidCloseParams](),
	}
}

// wordsOf lists the fields with a fixed set of words that have no type of their own.
var wordsOf = map[string][]string{
	"Turn.approvals":                {"deny"},
	"TurnStartParams.approvals":     {"ask", "deny"},
	"AgentInfo.state":               {"unknown", "ready", "notInstalled", "notLoggedIn"},
	"AgentStatus.state":             {"unknown", "ready", "notInstalled", "notLoggedIn"},
	"AgentStatus.foundBy":           {"daemon", "client"},
	"AgentStatus.agentEnv":          {"client"},
	"AgentStatus.drivers":           {"print", "acp"},
	"Session.driver":                {"print", "acp"},
	"Turn.driver":                   {"print", "acp"},
	"SessionCreateParams.driver":    {"print", "acp"},
	"SessionUpdateParams.driver":    {"print", "acp"},
	"TurnStartParams.driver":        {"print", "acp"},
	"AgentStatus.options":           {"sandbox", "autoReview", "addDirs"},
	"Capabilities.features":         features(),
	"InitializeResult.agentEnv":     {"client"},
	"Joined.agentEnv":               {"client"},
	"CollectedSession.reason":       {"age", "count", "size"},
	"Context.kind":                  {"file", "selection", "diagnostics", "text", "image"},
	"DeltaParams.kind":              {"assistant", "thinking"},
	"Diff.baseline":                 {"known", "unknown"},
	"Diff.state":                    {"pending", "clean"},
	"Hunk.kind":                     {"text", "file"},
	"Hunk.state":                    {"conflict"},
	"InitializeParams.trace":        {"off", "messages", "verbose"},
	"Joined.replaced":               {"no", "now", "later"},
	"LogMessage.level":              {"error", "warning", "info", "debug"},
	"Session.isolation":             {"none", "copy"},
	"Session.sandbox":               {"enabled", "disabled"},
	"SessionCreateParams.isolation": {"none", "copy"},
	"SessionCreateParams.sandbox":   {"enabled", "disabled", "default"},
	"SessionUpdateParams.isolation": {"none", "copy"},
	"SessionUpdateParams.sandbox":   {"enabled", "disabled", "default"},
	"SetTraceParams.value":          {"off", "messages", "verbose"},
	"StatusMessage.level":           {"error", "warning", "info", "debug"},
	"SubscribeParams.diffs":         {"full", "summary"},
	"Todo.status":                   {"pending", "in_progress", "completed", "cancelled"},
	"Tool.name":                     agent.ToolNames(),
	"TurnError.kind":                append(failure.Kinds(), string(api.KindTooLarge), string(api.KindStorage)),
	"Turn.sandbox":                  {"enabled", "disabled"},
	"TurnStartParams.isolation":     {"none", "copy"},
	"TurnStartParams.sandbox":       {"enabled", "disabled"},
}

func words[T ~string](all ...T) *jsonschema.Schema {
	s := &jsonschema.Schema{Type: "string"}
	for _, one := range all {
		s.Enum = append(s.Enum, string(one))
	}
	return s
}

// plain returns the schemas of types whose JSON differs from their Go type.
func plain() map[reflect.Type]*jsonschema.Schema {
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[sessions.Time]():               {Type: "string", Format: "date-time"},
		reflect.TypeFor[uint64]():                      {Type: "integer", Minimum: "0"},
		reflect.TypeFor[json.RawMessage]():             {Type: "object"},
		reflect.TypeFor[sessions.SessionState]():       words(sessions.SessionIdle, sessions.SessionQueued, sessions.SessionRunning),
		reflect.TypeFor[sessions.Mode]():               words(sessions.ModeAgent, sessions.ModeAsk, sessions.ModePlan),
		reflect.TypeFor[sessions.ApprovalKind]():       words(sessions.ApprovalPermission, sessions.ApprovalQuestion, sessions.ApprovalPlan),
		reflect.TypeFor[sessions.ApprovalStatus]():     words(sessions.ApprovalPending, sessions.ApprovalAnswered, sessions.ApprovalWithdrawn, sessions.ApprovalExpired),
		reflect.TypeFor[sessions.ApprovalOptionKind](): words(sessions.AllowOnce, sessions.AllowAlways, sessions.RejectOnce, sessions.RejectAlways, sessions.AnswerOption),
		reflect.TypeFor[sessions.StopReason]():         words(sessions.StopMaxTokens, sessions.StopMaxRequests, sessions.StopRefusal),
		reflect.TypeFor[sessions.TurnStatus](): words(sessions.TurnQueued, sessions.TurnRunning, sessions.TurnCompleted,
			sessions.TurnFailed, sessions.TurnCancelled, sessions.TurnInterrupted),
		reflect.TypeFor[sessions.ItemKind](): words(sessions.ItemAssistant, sessions.ItemThinking, sessions.ItemTool,
			sessions.ItemPlan, sessions.ItemNotice),
		reflect.TypeFor[sessions.ItemStatus](): words(sessions.ItemRunning, sessions.ItemCompleted, sessions.ItemFailed,
			sessions.ItemRejected, sessions.ItemCancelled),
		reflect.TypeFor[sessions.DiffKind](): words(sessions.DiffModified, sessions.DiffCreated, sessions.DiffDeleted,
			sessions.DiffRenamed, sessions.DiffMode, sessions.DiffSymlink, sessions.DiffBinary, sessions.DiffLarge),
		reflect.TypeFor[api.StepKind](): words(api.StepAccept, api.StepReject, api.StepCommit, api.StepRewind),
		reflect.TypeFor[sessions.Via](): words(sessions.ViaEdit, sessions.ViaShell, sessions.ViaTool, sessions.ViaHook,
			sessions.ViaUnknown),
		reflect.TypeFor[api.ErrorKind](): words(api.KindInvalid, api.KindCancelled, api.KindNotFound,
			api.KindBusy, api.KindConflict, api.KindOutsideWorkspace, api.KindWorkspaceUntrusted,
			api.KindBaselineUnknown, api.KindAgentNotInstalled, api.KindAgentNotLoggedIn,
			api.KindAgentFailed, api.KindStorage, api.KindTooLarge, api.KindUnavailable, api.KindInternal,
			api.KindMaybeYours, api.KindChangedSince, api.KindForgotten, api.KindImported),
		reflect.TypeFor[api.WhyState](): words(api.WhyPending, api.WhyAccepted),
	}
}

var (
	generated     []byte
	generatedOnce sync.Once
)

// schema returns the text of rpc/schema.json, as the Go types would have it.
func schema(t *testing.T) []byte {
	generatedOnce.Do(func() { generated = generate(t) })
	return generated
}

func generate(t *testing.T) []byte {
	mapped := plain()
	r := &jsonschema.Reflector{
		Anonymous: true, AllowAdditionalProperties: true, Namer: nameOf,
		Mapper: func(typ reflect.Type) *jsonschema.Schema {
			if mapped[typ] == nil {
				return nil
			}
			s := *mapped[typ] // each field writes its own description into it
			return &s
		},
	}
	defs := jsonschema.Definitions{}
	seen, asked := map[string]reflect.Type{}, map[string]reflect.Type{}
	reference := func(typ reflect.Type, also ...map[string]reflect.Type) *jsonschema.Schema {
		s := r.ReflectFromType(typ)
		maps.Copy(defs, s.Definitions)
		for _, types := range append(also, seen) {
			collect(t, typ, types)
		}
		return refer(nameOf(typ))
	}
	roles := map[string][]string{} // roles of types: the parameters of one method, the result of another
	as := func(typ reflect.Type, role string) { roles[nameOf(typ)] = append(roles[nameOf(typ)], role) }
	pairs := jsonschema.Definitions{} // parameters and result of each method
	methods, sent, taken := members(), members(), members()
	for name, m := range new(face).table().methods {
		addRequest(pairs, methods, name, reference(m.params, asked), reference(m.result))
		as(m.params, "the parameters of "+name)
		as(m.result, "the answer to "+name)
	}
	addRequest(pairs, methods, "shutdown", reference(reflect.TypeFor[None]()), &jsonschema.Schema{Type: "null"})
	for name, typ := range notificationTypes() {
		add(sent, name, described(reference(typ), "the parameters of "+name))
		as(typ, "the parameters of "+name)
	}
	for name, typ := range clientNotificationTypes() {
		add(taken, name, described(reference(typ, asked), "the parameters of "+name))
		as(typ, "the parameters of "+name)
	}
	failure := reference(reflect.TypeFor[Error]())
	for field, list := range wordsOf {
		property := propertyOf(t, defs, field)
		if property.Type == "array" {
			property = property.Items
		}
		property.Enum = words(list...).Enum
	}
	for field, list := range numbersOf() {
		propertyOf(t, defs, field).Enum = list
	}
	defs["CancelParams"].Properties.Set("id", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{{Type: "string"}, {Type: "number"}}})
	for name, typ := range seen {
		allowNull(defs[name], typ)
	}
	for name, typ := range asked {
		allowNullParams(defs[name], typ)
	}
	addSummary(t, defs)
	addDescriptions(t, defs, roles)
	addUnions(t, defs)
	maps.Copy(defs, pairs)
	for name, def := range defs {
		def.Title = name // for generators that use only titles as names
	}
	raw, err := json.MarshalIndent(rootOf(defs, methods, sent, taken, failure), "", "  ")
	require.NoError(t, err)
	return append(raw, '\n')
}

func propertyOf(t *testing.T, defs jsonschema.Definitions, field string) *jsonschema.Schema {
	name, member, _ := strings.Cut(field, ".")
	require.Contains(t, defs, name)
	property, ok := defs[name].Properties.Get(member)
	require.True(t, ok, "no field %s", field)
	return property
}

// collect finds the structs in typ, by their names in the schema.
func collect(t *testing.T, typ reflect.Type, seen map[string]reflect.Type) {
	switch typ.Kind() {
	case reflect.Pointer, reflect.Slice:
		collect(t, typ.Elem(), seen)
	case reflect.Struct:
		name := nameOf(typ)
		if plain()[typ] != nil || seen[name] == typ {
			return
		}
		require.Nil(t, seen[name], "two types %s", name)
		seen[name] = typ
		for i := range typ.NumField() {
			collect(t, typ.Field(i).Type, seen)
		}
	}
}

// allowNull lets the fields of objects be null that are always present and may be nil.
func allowNull(s *jsonschema.Schema, typ reflect.Type) {
	why := typ == reflect.TypeFor[api.WhyLine]() || typ == reflect.TypeFor[api.WhySource]()
	if typ.PkgPath() != reflect.TypeFor[sessions.Turn]().PkgPath() && !why {
		return // the other fields of results that are always present are never null
	}
	for i := range typ.NumField() {
		field := typ.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		if field.Type.Kind() != reflect.Pointer || options != "" {
			continue
		}
		if property, ok := s.Properties.Get(name); ok {
			s.Properties.Set(name, &jsonschema.Schema{OneOf: []*jsonschema.Schema{property, {Type: "null"}}})
		}
	}
}

// allowNullParams lets the optional fields of parameters be null, which means the same as an absent field.
func allowNullParams(s *jsonschema.Schema, typ reflect.Type) {
	for i := range typ.NumField() {
		name, options, _ := strings.Cut(typ.Field(i).Tag.Get("json"), ",")
		if property, ok := s.Properties.Get(name); ok && options == "omitempty" {
			s.Properties.Set(name, &jsonschema.Schema{OneOf: []*jsonschema.Schema{property, {Type: "null"}}})
		}
	}
}

// addSummary adds the form of diff/changed for clients that subscribed with diffs: "summary".
func addSummary(t *testing.T, defs jsonschema.Definitions) {
	summary := *defs["Diff"]
	summary.Properties = jsonschema.NewProperties()
	for pair := defs["Diff"].Properties.Oldest(); pair != nil; pair = pair.Next() {
		if pair.Key != "hunks" {
			summary.Properties.Set(pair.Key, pair.Value)
		}
	}
	summary.Required = slices.DeleteFunc(slices.Clone(summary.Required), func(name string) bool { return name == "hunks" })
	defs["DiffSummary"] = &summary
	defs["DiffChanged"].Properties.Set("diff", &jsonschema.Schema{AnyOf: []*jsonschema.Schema{refer("Diff"), refer("DiffSummary")}})
}

// upToDate fails with the first different line, because a comparison of whole files would fill the screen.
func upToDate(t *testing.T, want, got []byte) {
	t.Helper()
	wants, gots := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(wants), len(gots)) {
		if i >= len(wants) || i >= len(gots) || wants[i] != gots[i] {
			now, is := "nothing", "nothing"
			if i < len(wants) {
				now = wants[i]
			}
			if i < len(gots) {
				is = gots[i]
			}
			t.Fatalf("run go generate ./rpc: line %d is\n%s\nand would be\n%s", i+1, is, now)
		}
	}
}

func TestSchemaIsUpToDate(t *testing.T) {
	want := schema(t)
	if *update {
		require.NoError(t, os.WriteFile("schema.json", want, 0o644))
	}
	got, err := os.ReadFile("schema.json")
	require.NoError(t, err)
	upToDate(t, want, got)
}

// requests generates the Client's methods, one for each method of the table.
func requests(t *testing.T) []byte {
	var b bytes.Buffer
	b.WriteString("// Code generated by go generate ./rpc; DO NOT EDIT.\n\npackage rpc\n\nimport (\n\t\"context\"\n\n\t\"cursord/daemon/api\"\n)\n")
	methods := new(face).table().methods
	methods["shutdown"] = method{params: reflect.TypeFor[None](), result: reflect.TypeFor[Done]()} // shutdown belongs to the dispatcher
	for _, name := range slices.Sorted(maps.Keys(methods)) {
		goName := ""
		for word := range strings.SplitSeq(name, "/") {
			if word == "gc" {
				word = "GC"
			}
			goName += strings.ToUpper(word[:1]) + word[1:]
		}
		takes, gives := "", "nil"
		if typ := methods[name].params; typ != reflect.TypeFor[None]() {
			takes, gives = ", p "+strings.TrimPrefix(typ.String(), "rpc."), "p"
		}
		fmt.Fprintf(&b, "\n// %s makes the request %s, as PROTOCOL.md describes it.\n", goName, name)
		if typ := methods[name].result; typ == reflect.TypeFor[Done]() {
			fmt.Fprintf(&b, "func (c *Client) %s(ctx context.Context%s) error {\n\treturn c.Call(ctx, %q, %s, nil)\n}\n", goName, takes, name, gives)
		} else {
			fmt.Fprintf(&b, "func (c *Client) %s(ctx context.Context%s) (result %s, err error) {\n\terr = c.Call(ctx, %q, %s, &result)\n\treturn result, err\n}\n",
				goName, takes, strings.TrimPrefix(typ.String(), "rpc."), name, gives)
		}
	}
	source, err := format.Source(b.Bytes())
	require.NoError(t, err, b.String())
	return source
}

func TestRequestsAreUpToDate(t *testing.T) {
	want := requests(t)
	if *update {
		require.NoError(t, os.WriteFile("requests.go", want, 0o644))
	}
	got, err := os.ReadFile("requests.go")
	require.NoError(t, err)
	upToDate(t, want, got)
}

func TestCapabilitiesListEverything(t *testing.T) {
	require.Equal(t, slices.Sorted(maps.Keys(notificationTypes())), notificationNames())
	require.Contains(t, methodNames(), "shutdown")
	require.Contains(t, methodNames(), "turn/start")
}
