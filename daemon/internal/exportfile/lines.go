package exportfile

import (
	"bufio"
	"bytes"
	"fmt"
	"io"

	"cursord/daemon/api"
	"cursord/daemon/internal/wire"
)

const maxLine = 256 << 20

// cutOff returns the error for a file that lacks a part of the export. It says how to import the rest.
func cutOff(has api.ExportEnd, format string, args ...any) error {
	e := api.Invalid("path", format, args...)
	e.Hint = fmt.Sprintf("export the session again; or, for what is there, let the last line be %s", wire.Encode(api.ExportLine{End: &has}))
	return e
}

// readLine returns the next line that is not blank, and whether it ends with LF.
func readLine(r *bufio.Reader) (line []byte, whole bool, err error) {
	for {
		line, whole = nil, false
		for {
			part, err := r.ReadSlice('\n')
			if len(line)+len(part) > maxLine {
				return nil, false, fmt.Errorf("longer than %d bytes", maxLine)
			}
			line = append(line, part...)
			if whole = err == nil; whole || err == io.EOF && len(line) > 0 {
				break
			}
			if err != bufio.ErrBufferFull {
				return nil, false, err
			}
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			return line, whole, nil
		}
	}
}
