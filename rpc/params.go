package rpc

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"cursord/agent/jsontext"
	"cursord/daemon/paths"
)

// DecodeParams stores the params of a request in *p, a struct. Its error names the wrong field, as in
// "context[1].range.start". Names must match exactly. A field without omitempty in its tag is required; null counts as
// absent. Fields that p does not have are ignored.
func DecodeParams[P any](params json.RawMessage, p *P) error {
	if params == nil {
		params = json.RawMessage("{}")
	}
	if params[0] != '{' {
		return invalid("params", "must be an object")
	}
	if err := decodeStruct(params, reflect.ValueOf(p).Elem(), ""); err != nil {
		return err
	}
	return nil
}

// decodeStruct decodes a valid JSON object; path is the path of v with a dot at its end, or empty.
func decodeStruct(object json.RawMessage, v reflect.Value, path string) *Error {
	values := map[string]json.RawMessage{}
	for name, value := range jsontext.Value(object).Members() {
		values[string(name)] = json.RawMessage(slices.Clip(value))
	}
	for i := range v.NumField() {
		name, options, _ := strings.Cut(v.Type().Field(i).Tag.Get("json"), ",")
		value, ok := values[name]
		if !ok || value[0] == 'n' {
			if options != "omitempty" {
				return invalid(path+name, "is missing")
			}
			continue
		}
		if err := decodeValue(value, v.Field(i), path+name); err != nil {
			return err
		}
	}
	return nil
}

// decodeValue decodes a valid JSON value that is not null.
func decodeValue(value json.RawMessage, v reflect.Value, path string) *Error {
	if _, own := v.Addr().Interface().(json.Unmarshaler); own {
		if err := json.Unmarshal(value, v.Addr().Interface()); err != nil {
			return invalid(path, err.Error())
		}
		return nil
	}
	switch v.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		return decodeValue(value, v.Elem(), path)
	case reflect.Struct:
		if value[0] != '{' {
			return invalid(path, "must be an object")
		}
		return decodeStruct(value, v, path+".")
	case reflect.Slice:
		if value[0] != '[' {
			return invalid(path, "must be an array")
		}
		v.Set(reflect.MakeSlice(v.Type(), 0, 0))
		for element := range jsontext.Value(value).Elements() {
			one := reflect.New(v.Type().Elem()).Elem()
			at := fmt.Sprintf("%s[%d]", path, v.Len())
			if element[0] == 'n' {
				return invalid(at, "must not be null")
			}
			if err := decodeValue(json.RawMessage(slices.Clip(element)), one, at); err != nil {
				return err
			}
			v.Set(reflect.Append(v, one))
		}
		return nil
	case reflect.String:
		if err := json.Unmarshal(value, v.Addr().Interface()); err != nil {
			return invalid(path, "must be a string")
		}
		switch path[strings.LastIndexByte(path, '.')+1:] {
		case "path", "uri", "workspace", "program":
			if why := paths.TooLong(v.String()); why != "" {
				return invalid(path, why)
			}
		}
		return nil
	default:
		if err := json.Unmarshal(value, v.Addr().Interface()); err != nil {
			return invalid(path, "must be "+describe(v.Type()))
		}
		return nil
	}
}

// describe says in words what a value of a plain type is.
func describe(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Bool:
		return "true or false"
	case reflect.Uint, reflect.Uint64:
		return "a whole number from 0"
	case reflect.Int, reflect.Int64:
		return "a whole number"
	default:
		return "a " + t.String()
	}
}
