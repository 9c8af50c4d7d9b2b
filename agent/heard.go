package agent

import (
	"os"
	"sync/atomic"
	"time"
)

// A Heard says how far the output of a running agent has been processed. Code that judges what the agent did asks it first,
// because the agent may already have said it. Any goroutine may ask.
type Heard struct {
	of    atomic.Pointer[Heard]   // the Heard of a process that serves several runs; it answers in place of this one
	pipe  atomic.Pointer[os.File] // the agent's stdout while it is read
	all   atomic.Bool             // what was read has been taken in
	taken atomic.Int64            // a moment: what was written by then has been

	// Of the goroutine that reads.
	whole bool  // the present batch is the last of what was read
	at    int64 // a moment: what was written by then was emitted before it
	late  bool  // the present batch may have waited since then, because who takes them in was at the one before
	first int64 // a moment: the first of the present batch was read; 0: nothing of it
}

// Taken says that the batch of the current call of emit has been processed. Call it from emit.
func (h *Heard) Taken() {
	if of := h.of.Load(); of != nil {
		h = of
	}
	h.taken.Store(h.at)
	h.all.Store(h.whole)
}

// UpTo returns the time up to which all output has been processed: now, if nothing is unread. The time has a reading of the
// monotonic clock.
func (h *Heard) UpTo() time.Time {
	if of := h.of.Load(); of != nil {
		h = of
	}
	now := time.Now()
	if pipe := h.pipe.Load(); pipe == nil || h.all.Load() && unread(pipe) == 0 && h.all.Load() {
		return now
	}
	return firstMoment.Add(time.Duration(h.taken.Load()))
}

// Came returns when the first part of the current batch was read. A late batch may have waited since UpTo, because the
// batches before it were still being processed; any other batch had just been written. Call it from emit.
func (h *Heard) Came() (first time.Time, late bool) {
	if of := h.of.Load(); of != nil {
		h = of
	}
	if h.first == 0 {
		return time.Now(), h.late
	}
	return firstMoment.Add(time.Duration(h.first)), h.late
}

func (h *Heard) begin(pipe *os.File) {
	if h == nil {
		return
	}
	h.at = moment()
	h.taken.Store(h.at)
	h.all.Store(true)
	h.pipe.Store(pipe)
}

func (h *Heard) end() {
	if h != nil {
		h.pipe.Store(nil)
	}
}

// read notes that a read has begun to return.
func (h *Heard) read() {
	if h != nil {
		h.all.Store(false)
	}
}

// came notes that something has been read.
func (h *Heard) came() {
	if h != nil && h.first == 0 {
		h.first = moment()
	}
}

// decoded notes that a batch of n events is about to be emitted; whole says that it is everything that was read.
func (h *Heard) decoded(n int, whole bool) {
	if h == nil {
		return
	}
	if h.whole = whole; n == 0 {
		h.Taken()
	}
}

// emitted notes that the batch was emitted. Nobody waits for what is only found out now.
func (h *Heard) emitted(pipe *os.File) {
	if h == nil {
		return
	}
	now := moment()
	h.first, h.late = 0, !h.all.Load() || unread(pipe) > 0
	if !h.late {
		h.at = now
		h.taken.Store(now)
	}
}
