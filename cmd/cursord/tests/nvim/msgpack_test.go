//go:build unix

package nvim

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
)

// A little of MessagePack: what Neovim's calls need.

func packString(b []byte, s string) []byte {
	b = append(b, 0xdb)
	b = binary.BigEndian.AppendUint32(b, uint32(len(s)))
	return append(b, s...)
}

// packCall is a request that has strings and lists of strings as parameters.
func packCall(id uint32, method string, params ...any) []byte {
	b := []byte{0x94, 0x00, 0xce}
	b = binary.BigEndian.AppendUint32(b, id)
	b = packString(b, method)
	b = append(b, 0x90|byte(len(params)))
	for _, p := range params {
		switch p := p.(type) {
		case string:
			b = packString(b, p)
		case []string:
			b = append(b, 0x90|byte(len(p)))
			for _, s := range p {
				b = packString(b, s)
			}
		default:
			panic(fmt.Sprintf("%T", p))
		}
	}
	return b
}

// unpack reads a value: nil, bool, int64, float64, string, []any or map[any]any; of extensions the bytes.
func unpack(r *bufio.Reader) (any, error) {
	c, err := r.ReadByte()
	if err != nil {
		return nil, err
	}
	number := func(size int) uint64 {
		var buf [8]byte
		if _, e := io.ReadFull(r, buf[8-size:]); e != nil && err == nil {
			err = e
		}
		return binary.BigEndian.Uint64(buf[:])
	}
	text := func(n uint64) (any, error) {
		buf := make([]byte, n)
		if err == nil {
			_, err = io.ReadFull(r, buf)
		}
		return string(buf), err
	}
	list := func(n uint64) (any, error) {
		all := make([]any, n)
		for i := range all {
			if err == nil {
				all[i], err = unpack(r)
			}
		}
		return all, err
	}
	table := func(n uint64) (any, error) {
		all := map[any]any{}
		for range n {
			k, e := unpack(r)
			if e != nil {
				return nil, e
			}
			v, e := unpack(r)
			if e != nil {
				return nil, e
			}
			all[fmt.Sprint(k)] = v
		}
		return all, err
	}
	switch {
	case c <= 0x7f:
		return int64(c), nil
	case c >= 0xe0:
		return int64(int8(c)), nil
	case c <= 0x8f:
		return table(uint64(c & 0x0f))
	case c <= 0x9f:
		return list(uint64(c & 0x0f))
	case c <= 0xbf:
		return text(uint64(c & 0x1f))
	}
	switch c {
	case 0xc0:
		return nil, nil
	case 0xc2, 0xc3:
		return c == 0xc3, nil
	case 0xc4, 0xd9:
		return text(number(1))
	case 0xc5, 0xda:
		return text(number(2))
	case 0xc6, 0xdb:
		return text(number(4))
	case 0xc7, 0xc8, 0xc9:
		return text(number(1<<(c-0xc7)) + 1)
	case 0xca:
		return float64(math.Float32frombits(uint32(number(4)))), err
	case 0xcb:
		return math.Float64frombits(number(8)), err
	case 0xcc, 0xcd, 0xce, 0xcf:
		return int64(number(1 << (c - 0xcc))), err
	case 0xd0:
		return int64(int8(number(1))), err
	case 0xd1:
		return int64(int16(number(2))), err
	case 0xd2:
		return int64(int32(number(4))), err
	case 0xd3:
		return int64(number(8)), err
	case 0xd4, 0xd5, 0xd6, 0xd7, 0xd8:
		return text(1<<(c-0xd4) + 1)
	case 0xdc:
		return list(number(2))
	case 0xdd:
		return list(number(4))
	case 0xde:
		return table(number(2))
	case 0xdf:
		return table(number(4))
	}
	return nil, fmt.Errorf("unknown type %#x", c)
}
