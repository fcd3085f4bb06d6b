package measure

import (
	"reflect"
	"slices"
)

// MedianRun returns the median of each figure of several runs of one cell, nil
// where there are none. It is valid where all are, saturated where any is, and has
// no reasons, no start and no histogram, which are those of a run.
func MedianRun(runs []*Run) *Run {
	m := medianOf(runs)
	if m == nil {
		return nil
	}
	m.Reasons, m.Valid, m.Saturated = []string{}, true, false
	m.Started, m.LatencyHDR = "", ""
	for _, r := range runs {
		m.Valid, m.Saturated = m.Valid && r.Valid, m.Saturated || r.Saturated
	}
	return m
}

// MedianOrders returns the median of each figure of several runs of one path, as
// MedianRun does.
func MedianOrders(runs []*Orders) *Orders {
	m := medianOf(runs)
	if m == nil {
		return nil
	}
	m.Reasons, m.Valid, m.Saturated = []string{}, true, false
	m.Started, m.LatencyHDR = "", ""
	for _, r := range runs {
		m.Valid, m.Saturated = m.Valid && r.Valid, m.Saturated || r.Saturated
	}
	return m
}

// medianOf returns a record with the median of every number in it, however deep. A
// number that some records do not have is the median of the others; what is no
// number is that of the first.
func medianOf[T any](records []*T) *T {
	if len(records) == 0 {
		return nil
	}
	m := *records[0]
	values := make([]reflect.Value, len(records))
	for i, r := range records {
		values[i] = reflect.ValueOf(r).Elem()
	}
	setMedian(reflect.ValueOf(&m).Elem(), values)
	return &m
}

func setMedian(to reflect.Value, of []reflect.Value) {
	switch to.Kind() {
	case reflect.Int, reflect.Int64:
		v := make([]int64, len(of))
		for i := range of {
			v[i] = of[i].Int()
		}
		to.SetInt(median(v))
	case reflect.Float64:
		v := make([]float64, len(of))
		for i := range of {
			v[i] = of[i].Float()
		}
		to.SetFloat(median(v))
	case reflect.Struct:
		for i := range to.NumField() {
			fields := make([]reflect.Value, len(of))
			for j := range of {
				fields[j] = of[j].Field(i)
			}
			setMedian(to.Field(i), fields)
		}
	case reflect.Pointer:
		var known []reflect.Value
		for _, v := range of {
			if !v.IsNil() {
				known = append(known, v.Elem())
			}
		}
		if len(known) == 0 {
			return
		}
		own := reflect.New(to.Type().Elem()) // the first record stays as it is
		own.Elem().Set(known[0])
		setMedian(own.Elem(), known)
		to.Set(own)
	}
}

// median returns the middle one, of an even number the mean of the two.
func median[T int64 | float64](v []T) T {
	slices.Sort(v)
	n := len(v)
	if n%2 == 1 {
		return v[n/2]
	}
	return (v[n/2-1] + v[n/2]) / 2
}
