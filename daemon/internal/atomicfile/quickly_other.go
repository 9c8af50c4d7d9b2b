//go:build !linux

package atomicfile

import "cursord/daemon/internal/filestat"

type quickly struct{}

func newQuickly(string) quickly { return quickly{} }

func (*quickly) close() {}

func (*quickly) folder(string, int64, func(Entry)) bool { return false }

func (*quickly) read(string, filestat.Stat) (data []byte, ok bool) { return nil, false }
