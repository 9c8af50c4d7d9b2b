package gauge

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cursord/daemon/api"
)

func TestGauge(t *testing.T) {
	var g Gauge
	require.Equal(t, api.Span{}, g.Status())
	for _, ms := range []int{3, 9, 2} {
		g.Measured(time.Duration(ms) * time.Millisecond)
	}
	require.Equal(t, api.Span{Last: 2, Worst: 9}, g.Status())
	g.minute.Add(-1) // as if a minute had passed
	g.Measured(4 * time.Millisecond)
	require.Equal(t, api.Span{Last: 4, Worst: 9}, g.Status())
	g.minute.Add(-1)
	require.Equal(t, api.Span{Last: 4, Worst: 4}, g.Status())
	g.minute.Add(-5)
	require.Equal(t, api.Span{Last: 4}, g.Status())
}
