package documents

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestChanged plans one look for all documents that are added before it.
func TestChanged(t *testing.T) {
	var c Changed
	looks := make(chan bool, 4)
	look := func() { looks <- true }
	require.Empty(t, c.Take())
	c.Add("a", false, time.Millisecond, look)
	c.Add("b", false, time.Hour, look)
	<-looks
	require.Equal(t, map[string]bool{"a": true, "b": true}, c.Take())
	require.Empty(t, c.Take(), "once")
	c.Add("c", false, time.Hour, look)
	c.Add("d", true, time.Hour, look)
	<-looks
	require.Equal(t, map[string]bool{"c": true, "d": true}, c.Take())
	c.Add("e", false, time.Millisecond, look)
	<-looks
	require.Equal(t, map[string]bool{"e": true}, c.Take())
	require.Empty(t, looks)
}
