//go:build !linux

package atomicfile

import "cursord/daemon/internal/filestat"

type quickly struct{}

func newQuickly(string) quickly { return quickly{} }

func (*quickly) close() {}

func (*quickly) read(string, filestat.Stat) (data []byte, ok bool) { return nil, false }
