package main

import (
	"reflect"
	"testing"

	"google.golang.org/protobuf/proto"
)

// Each codec reads what it wrote as it was, appends to what is there, and refuses
// half a message.
func TestRoundTrip(t *testing.T) {
	for _, c := range codecs() {
		for _, s := range subjects() {
			t.Run(c.name+"/"+s.name, func(t *testing.T) {
				p := c.prepare(s)
				if p == nil {
					t.Skip("has no words for it")
				}
				data, err := p.encode(nil)
				if err != nil || len(data) < 50 {
					t.Fatalf("%d bytes, %v", len(data), err)
				}
				got, err := p.decode(data)
				if err != nil {
					t.Fatal(err)
				}
				if want, ok := p.value.(proto.Message); ok {
					if !proto.Equal(got.(proto.Message), want) {
						t.Errorf("%v, want %v", got, want)
					}
				} else if !reflect.DeepEqual(got, p.value) {
					t.Errorf("%+v, want %+v", got, p.value)
				}
				if _, err := p.decode(data[:len(data)-1]); err == nil {
					t.Error("half a message is not found")
				}
			})
		}
	}
}

// The two protobuf libraries write the same, and what the exchange writes of an order.
func TestProtobufIsTheSame(t *testing.T) {
	for _, s := range subjects() {
		want, err := proto.Marshal(s.value)
		if err != nil {
			t.Fatal(err)
		}
		got, err := vtprotobuf(s).encode(nil)
		if err != nil || string(got) != string(want) {
			t.Errorf("%s: vtprotobuf differs, %v", s.name, err)
		}
		if p := prepareProtobuf(s); p != nil && s.name == "order, 1 KB" {
			if got, err := p.encode(nil); err != nil || string(got) != string(want) {
				t.Errorf("%s: the exchange's differs, %v", s.name, err)
			}
		}
	}
}
