package main

import (
	"fmt"
	"strings"
)

// noCompression is what a client asks for that asks for none.
const noCompression = "none"

// compressionFlag says how the messages of a client's streams are compressed.
type compressionFlag struct {
	Compression string `default:"none" enum:"none,gzip,deflate" help:"Ask the exchange to compress each message by itself: gzip over gRPC and SSE, deflate over WebSocket. One of ${enum}."`
}

// compresses reports whether to compress on a row, by its name, that has the
// compression called has, or none where that is empty. The error of one that the
// row has not lists where there is which.
func (f *compressionFlag) compresses(row, has string, where []string) (bool, error) {
	if f.Compression == noCompression || f.Compression == has {
		return f.Compression == has, nil
	}
	return false, usageError{fmt.Errorf("--compression %s: not over %s; there is %s", f.Compression, row, strings.Join(where, ", "))}
}

// compressionName is the compression as results have it.
func (f *compressionFlag) compressionName() string {
	if f.Compression == noCompression {
		return ""
	}
	return f.Compression
}

// transportCompressions lists what each transport has.
func transportCompressions() (where []string) {
	for i := range transports {
		if t := &transports[i]; t.defaultsHTTP && t.compression != "" {
			where = append(where, t.compression+" over "+t.name)
		}
	}
	return where
}

// pathCompressions lists what each path has.
func pathCompressions() (where []string) {
	for i := range orderPaths {
		if p := &orderPaths[i]; p.compression != "" {
			where = append(where, p.compression+" over "+p.name)
		}
	}
	return where
}
