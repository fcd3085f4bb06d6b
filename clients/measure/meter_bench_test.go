package measure

import "testing"

// BenchmarkMeterSample is what a meter takes twenty times a second.
func BenchmarkMeterSample(b *testing.B) {
	m := NewMeter(nil, nil)
	b.ReportAllocs()
	for b.Loop() {
		m.now()
	}
}
