package wsserver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"time"

	"github.com/coder/websocket"

	"github.com/tickgauge/tickgauge/feed"
	"github.com/tickgauge/tickgauge/order"
	"github.com/tickgauge/tickgauge/proto/wire"
	"github.com/tickgauge/tickgauge/streams"
)

const (
	// closeGrace is how long a closing handshake may take. The library's own
	// patience is 5 s for each half of it.
	closeGrace = time.Second
	// keepBytes is the largest buffer that an idle connection keeps.
	keepBytes = 8 << 10
)

// errReading is wrapped by what ended reading: the client closed, vanished, or
// broke the protocol.
var errReading = errors.New("reading ended")

// stream is one connection with its session. The goroutine of run writes; one
// more, which run waits for, reads.
type stream struct {
	session  *streams.Session
	ws       *websocket.Conn
	socket   net.Conn // under ws, for its deadlines alone
	dialect  dialect
	maxBytes int

	// Of the goroutine of run:
	out      []byte
	writeErr error
}

func (s *stream) run() {
	// A write has no context, which would cost it an AfterFunc: one that blocks is
	// freed here instead. The connection stays, for what can still be said.
	cut := make(chan struct{})
	stop := context.AfterFunc(s.session.Context(), func() {
		defer close(cut)
		_ = s.socket.SetWriteDeadline(time.Unix(1, 0)) // fails where the socket is closed, which does as well
	})
	readDone := make(chan struct{})
	go func() {
		defer close(readDone)
		if err := s.read(); err != nil {
			s.session.End(err)
		}
	}()
	err := s.session.Run(s)
	if !stop() {
		<-cut // before close sets deadlines of its own
	}
	s.session.End(err) // frees a reader whose answers nobody writes any more
	s.close(err)
	<-readDone
}

// close tells the client why the stream ended and gives it closeGrace to answer.
// After a write that failed nothing more can be said.
func (s *stream) close(why error) {
	// net.ErrClosed: the closing handshake has begun already, and may go on.
	if s.writeErr != nil && !errors.Is(s.writeErr, net.ErrClosed) {
		_ = s.ws.CloseNow()
		return
	}
	code, reason := closing(why)
	_ = s.socket.SetDeadline(time.Now().Add(closeGrace))
	_ = s.ws.Close(code, reason) // a client that does not answer is closed all the same
}

// read hands the session what the client says until either is over. It returns
// nil where the session has been left to end by itself.
func (s *stream) read() error {
	var (
		in  bytes.Buffer
		req wire.StreamRequest
	)
	for {
		frames, r, err := s.ws.Reader(context.Background())
		if err != nil {
			return fmt.Errorf("%w: %w", errReading, err)
		}
		in.Reset()
		if _, err := in.ReadFrom(io.LimitReader(r, int64(s.maxBytes)+1)); err != nil {
			return fmt.Errorf("%w: %w", errReading, err)
		}
		if in.Len() > s.maxBytes {
			return s.session.Refuse(&feed.Problem{Code: feed.CodeTooLarge, Fatal: true,
				Message: fmt.Sprintf("a message of more than %d bytes; send less in one, such as fewer symbols", s.maxBytes)})
		}
		switch p := s.decode(frames, in.Bytes(), &req); {
		case p != nil:
			err = s.session.Refuse(p)
		case req.Order.Action != order.ActionNone:
			err = s.session.Order(&req.Order)
		default:
			err = s.session.Handle(&req.Feed)
		}
		if err != nil {
			return err
		}
		if in.Cap() > keepBytes {
			in = bytes.Buffer{}
		}
	}
}

func (s *stream) decode(frames websocket.MessageType, data []byte, req *wire.StreamRequest) *feed.Problem {
	if frames != s.dialect.frames {
		return &feed.Problem{Code: feed.CodeBadRequest, Message: fmt.Sprintf("%s takes %s frames, and this was a %s frame",
			s.dialect.subprotocol, kind(s.dialect.frames), kind(frames))}
	}
	if err := wire.UnmarshalStreamRequest(s.dialect.encoding, data, req); err != nil {
		return &feed.Problem{Code: feed.CodeBadRequest, Message: err.Error()}
	}
	return nil
}

func kind(t websocket.MessageType) string {
	if t == websocket.MessageText {
		return "text"
	}
	return "binary"
}

// WriteMessage is streams.Writer's.
func (s *stream) WriteMessage(m *feed.Message) error {
	var err error
	if s.out, err = wire.AppendMessage(s.out[:0], s.dialect.encoding, m); err != nil {
		return err
	}
	return s.write()
}

// WriteExecution is streams.Writer's.
func (s *stream) WriteExecution(e *order.Execution) error {
	var err error
	if s.out, err = wire.AppendExecutionMessage(s.out[:0], s.dialect.encoding, e); err != nil {
		return err
	}
	return s.write()
}

// WriteTicks is streams.Writer's. Up to 4 KiB, the library's buffer, header and
// ticks leave in one write to the socket; a larger message takes two.
func (s *stream) WriteTicks(ticks [][]byte) error {
	size := len(`{"ticks":[]}`)
	for _, t := range ticks {
		size += len(t) + len(",")
	}
	s.out = wire.AppendTicks(slices.Grow(s.out[:0], size), s.dialect.encoding, ticks)
	return s.write()
}

func (s *stream) write() error {
	err := s.ws.Write(context.Background(), s.dialect.frames, s.out)
	if cap(s.out) > keepBytes {
		s.out = nil
	}
	if err != nil {
		s.writeErr = err
		return fmt.Errorf("ws write: %w", err)
	}
	return nil
}
