package main

import (
	"encoding/json"

	"github.com/bytedance/sonic"
	jsonv2 "github.com/go-json-experiment/json"
	gojson "github.com/goccy/go-json"
	"google.golang.org/protobuf/proto"
)

// codec spells a subject: encode appends to dst, or returns bytes of its own where
// the library has no other way; decode reads into a message of its own each time.
// prepare returns nil for a subject that the codec has no words for.
type codec struct {
	name    string
	prepare func(s subject) *pair
}

type pair struct {
	encode func(dst []byte) ([]byte, error)
	decode func(data []byte) (any, error)
	value  any // what decode returns of what encode wrote
}

func codecs() []codec {
	return []codec{
		jsonLibrary("encoding/json", json.Marshal, json.Unmarshal),
		jsonLibrary("go-json-experiment/json",
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
			func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) }),
		jsonLibrary("goccy/go-json", gojson.Marshal, gojson.Unmarshal),
		jsonLibrary("bytedance/sonic", sonic.Marshal, sonic.Unmarshal),
		{"tickgauge JSON", prepareJSON},
		{"protobuf-go", protobufGo},
		{"vtprotobuf", vtprotobuf},
		{"tickgauge protobuf", prepareProtobuf},
	}
}

// jsonLibrary writes the fields under their protobuf names, numbers as numbers.
func jsonLibrary(name string, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) codec {
	return codec{name, func(s subject) *pair {
		return &pair{
			encode: func([]byte) ([]byte, error) { return marshal(s.value) },
			decode: func(data []byte) (any, error) {
				m := s.remake()
				return m, unmarshal(data, m)
			},
			value: s.value,
		}
	}}
}

func protobufGo(s subject) *pair {
	return &pair{
		encode: func(dst []byte) ([]byte, error) { return proto.MarshalOptions{}.MarshalAppend(dst, s.value) },
		decode: func(data []byte) (any, error) {
			m := s.remake()
			return m, proto.Unmarshal(data, m)
		},
		value: s.value,
	}
}

// vt is what vtprotobuf adds to a generated message.
type vt interface {
	SizeVT() int
	MarshalToSizedBufferVT(data []byte) (int, error)
	UnmarshalVT(data []byte) error
}

func vtprotobuf(s subject) *pair {
	v, ok := s.value.(vt)
	if !ok {
		return nil
	}
	return &pair{
		encode: func(dst []byte) ([]byte, error) {
			n := v.SizeVT()
			if cap(dst)-len(dst) < n {
				dst = append(make([]byte, 0, len(dst)+n), dst...)
			}
			dst = dst[:len(dst)+n]
			_, err := v.MarshalToSizedBufferVT(dst[len(dst)-n:])
			return dst, err
		},
		decode: func(data []byte) (any, error) {
			m := s.remake()
			return m, m.(vt).UnmarshalVT(data)
		},
		value: s.value,
	}
}
