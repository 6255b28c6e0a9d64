package space

import (
	"bytes"
	"encoding/json"
)

// Values are values in JSON, in which numbers keep their types: see [ParseValue].
type Values []Value

// MarshalJSON writes a list.
func (v Values) MarshalJSON() ([]byte, error) {
	list := make([]json.RawMessage, len(v))
	for i := range v {
		var err error
		if list[i], err = MarshalValue(v[i]); err != nil {
			return nil, err
		}
	}
	return marshal(list)
}

// UnmarshalJSON reads a list.
func (v *Values) UnmarshalJSON(data []byte) error {
	var list []json.RawMessage
	err := json.Unmarshal(data, &list)
	*v = make(Values, len(list))
	for i := 0; i < len(list) && err == nil; i++ {
		(*v)[i], err = ParseValue(list[i])
	}
	return err
}

// Named are values by name, of constants or of parameters. Numbers keep their types in JSON.
type Named map[string]Value

// MarshalJSON writes an object.
func (v Named) MarshalJSON() ([]byte, error) {
	object := map[string]json.RawMessage{}
	for name, value := range v {
		var err error
		if object[name], err = MarshalValue(value); err != nil {
			return nil, err
		}
	}
	return marshal(object)
}

// UnmarshalJSON reads an object; null is nil.
func (v *Named) UnmarshalJSON(data []byte) error {
	var object map[string]json.RawMessage
	err := json.Unmarshal(data, &object)
	for name, raw := range object {
		if *v == nil {
			*v = Named{}
		}
		if err == nil {
			(*v)[name], err = ParseValue(raw)
		}
	}
	return err
}

// marshal is json.Marshal without the escapes for HTML.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSpace(b.Bytes()), err
}
