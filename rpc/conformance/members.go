package conformance

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"cursord/rpc"
)

// A schema is as much of rpc/schema.json as tells the names of members.
type schema struct {
	Ref          string            `json:"$ref"`
	Defs         map[string]schema `json:"$defs"`
	AllOf, AnyOf []schema
	Properties   map[string]schema
}

var readSchema = sync.OnceValues(func() (s schema, err error) {
	err = json.Unmarshal(rpc.Schema, &s)
	return s, err
})

// members returns the members of s by name: those of each form, if s has several.
func (s schema) members(all schema) map[string]schema {
	found := maps.Clone(s.Properties)
	if found == nil {
		found = map[string]schema{}
	}
	for _, part := range slices.Concat(s.AllOf, s.AnyOf) {
		maps.Copy(found, part.members(all))
	}
	if s.Ref != "" {
		maps.Copy(found, all.Defs[strings.TrimPrefix(s.Ref, "#/$defs/")].members(all))
	}
	return found
}

// unknownMembers returns the members of a request's parameters that this build does not know. An initialize may hold whatever
// editors send to language servers.
func unknownMembers(method string, params json.RawMessage) (names []string) {
	var sent map[string]json.RawMessage
	all, err := readSchema()
	if err != nil || method == "initialize" || json.Unmarshal(params, &sent) != nil {
		return nil
	}
	request, ok := all.Properties["methods"].members(all)[method]
	if !ok {
		return nil // the daemon refuses the method
	}
	known := request.members(all)["params"].members(all)
	for name := range sent {
		if _, ok := known[name]; !ok {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}
