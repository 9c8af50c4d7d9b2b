package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"cursord/daemon"
	"cursord/rpc"
)

// endLimit is how long a joiner whose stdin has ended waits for the daemon's last answers; it is longer than the
// daemon itself waits for them.
const endLimit = 6 * time.Second

// initializeID is the id under which a joiner passes initialize on. No client's id is taken for it, since a client's
// own initialize is answered here.
const initializeID = `"cursord stdio initialize"`

// A joiner is an editor's end of the daemon, like a telephone line with a receptionist: it answers initialize itself,
// at once, while the line is still being laid, and from then on carries messages both ways as they are.
//
//	in  -> up   -> daemon
//	out <- down <- daemon
type joiner struct {
	in   *rpc.FrameReader
	line chan line     // gets one value
	gone chan struct{} // closed when the line has ended

	exiting atomic.Bool // the client has said exit

	// Owned by up.
	greeted  bool // the first message but for refused initializes has come
	shutdown bool
	conn     net.Conn // once the line is there
	err      error    // why there is none

	mu  sync.Mutex // guards out
	out io.Writer
}

// A line is the connection to the daemon, or why there is none.
type line struct {
	conn net.Conn
	err  error
}

// An ending says why up has ended.
type ending int

const (
	inputEnded ending = iota
	inputBroken
	exitAsked
	daemonLost
)

// join connects in and out with what dial returns until in ends. It returns the exit status: 0, or 1 where the daemon
// could not be reached or went away, or where "exit" came without "shutdown".
func join(ctx context.Context, in io.Reader, out io.Writer, dial func(context.Context) (net.Conn, error)) int {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	j := &joiner{in: rpc.NewFrameReader(in, rpc.MaxMessage), out: out, line: make(chan line, 1), gone: make(chan struct{})}
	go func() {
		conn, err := dial(ctx)
		j.line <- line{conn, err}
	}()
	ended := make(chan ending, 1)
	go func() { ended <- j.up() }()

	var why ending
	select {
	case why = <-ended:
	case <-j.gone:
		why = daemonLost
		if j.exiting.Load() { // at which the daemon closes the line, too
			why = <-ended
		}
	}
	if why == daemonLost {
		j.say("error", "the cursord daemon has ended; restart the client to start it again")
		return exitFailed
	}
	return j.hangUp(why)
}

// hangUp waits for the daemon's last answers, up having ended, and returns the exit status.
func (j *joiner) hangUp(why ending) int {
	if j.conn != nil {
		if half, ok := j.conn.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
			select {
			case <-j.gone:
			case <-time.After(endLimit):
			}
		}
		j.conn.Close()
	}
	if j.err != nil || why == inputBroken || why == exitAsked && !j.shutdown {
		return exitFailed
	}
	return exitOK
}

// up carries the client's messages to the daemon.
func (j *joiner) up() ending {
	for {
		body, err := j.in.Read()
		var broken *rpc.FrameError
		switch {
		case err == nil:
		case errors.Is(err, rpc.ErrTooLong):
			j.reply(nil, nil, &rpc.Error{Code: rpc.CodeInvalidRequest, Message: fmt.Sprintf("a message over the limit of %d bytes", rpc.MaxMessage)})
			continue
		case errors.As(err, &broken):
			j.reply(nil, nil, &rpc.Error{Code: rpc.CodeParse, Message: broken.Message + "; closing the connection"})
			return inputBroken
		default:
			return inputEnded
		}
		if !j.greeted {
			if body = j.greet(body); body == nil {
				continue
			}
		}
		method := lastMethod(body)
		if method == "exit" {
			j.exiting.Store(true)
		}
		if !j.connected() {
			refuse(j, body, j.err)
		} else if _, err := j.conn.Write(rpc.AppendFrame(nil, j.in.Framing(), body)); err != nil {
			<-j.gone // what it still had to say comes first
			return daemonLost
		}
		switch method {
		case "shutdown":
			j.shutdown = true
		case "exit":
			return exitAsked
		}
	}
}

// greet takes the first message. It returns what is to be passed on: nil for an initialize that was refused, since
// the client may try another.
func (j *joiner) greet(body []byte) []byte {
	m, bad := rpc.ParseMessage(body)
	if bad != nil || m.Method != "initialize" || m.ID == nil {
		j.greeted = true
		return body
	}
	result, refused := rpc.Initialize(m.Params, version(), daemon.AgentStatus{State: "unknown"})
	j.reply(m.ID, result, refused)
	if refused != nil {
		return nil
	}
	j.greeted = true
	return rpc.AppendRequest(nil, json.RawMessage(initializeID), "initialize", m.Params)
}

// connected waits until the line is there, or reports that there will be none.
func (j *joiner) connected() bool {
	if j.conn == nil && j.err == nil {
		l := <-j.line
		j.conn, j.err = l.conn, l.err
		if j.err != nil {
			j.say("error", j.err.Error())
		} else {
			go j.down(j.conn)
		}
	}
	return j.err == nil
}

// down carries the daemon's messages to the client, but for its answer to initialize.
func (j *joiner) down(conn net.Conn) {
	defer close(j.gone)
	from := rpc.NewFrameReader(conn, rpc.HardCap)
	waiting := true
	for {
		body, err := from.Read()
		if err != nil {
			return
		}
		if waiting && bytes.Contains(body, []byte(initializeID)) {
			if m, bad := rpc.ParseMessage(body); bad == nil && m.IsResponse() && string(m.ID) == initializeID {
				waiting = false
				if m.Error != nil {
					j.say("warning", "the daemon refused the client, which may not work well: restart the daemon with \"cursord stop\": "+string(m.Error))
				}
				continue
			}
		}
		j.send(body)
	}
}

// lastMethod returns the method if it is one that ends a connection.
func lastMethod(body []byte) string {
	const small = 1 << 10
	if len(body) > small || !bytes.Contains(body, []byte(`"shutdown"`)) && !bytes.Contains(body, []byte(`"exit"`)) {
		return ""
	}
	m, bad := rpc.ParseMessage(body)
	if bad != nil {
		return ""
	}
	return m.Method
}

// send sends a message to the client. That it fails shows where the client's own end is read.
func (j *joiner) send(body []byte) {
	frame := rpc.AppendFrame(nil, j.in.Framing(), body)
	j.mu.Lock()
	defer j.mu.Unlock()
	_, _ = j.out.Write(frame)
}

func (j *joiner) say(level, message string) { j.send(logMessage(level, message)) }

// reply answers a request: with the error if there is one, else with the result.
func (j *joiner) reply(id json.RawMessage, result any, e *rpc.Error) {
	j.send(response(id, result, e))
}
