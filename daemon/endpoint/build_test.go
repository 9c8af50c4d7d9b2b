package endpoint

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestBuildsHaveAnOrder: the list goes from the oldest build to the newest; builds in one line are equal.
func TestBuildsHaveAnOrder(t *testing.T) {
	early, late := time.Unix(1, 0), time.Unix(2, 0)
	order := [][]Build{
		{{"v0.0.0-20261101120000-abcdefabcdef", late}, {"v0.0.0-20261101120000-abcdefabcdef", early}},
		{{"v0.0.0-20261101120000-abcdefabcdef+dirty", early}},
		{{"v0.0.0-20261101120000-abcdefabcdef+dirty", late}},
		{{"v0.0.0-20261102110000-000000000000", early}},
		{{"v1.2.3-alpha", early}},
		{{"v1.2.3-alpha.1", early}},
		{{"v1.2.3-alpha.beta", early}},
		{{"v1.2.3-beta", early}},
		{{"v1.2.3-beta.2", late}},
		{{"v1.2.3-beta.11", early}},
		{{"v1.2.3", early}, {"v1.2.3", late}, {"v1.2.3+other", late}, {"1.2.3", late}},
		{{"v1.2.10", early}},
		{{"v1.10.0", early}},
		{{"v10.0.0", early}},
		{{"999.0.0", late}},
		{{"dev", early}, {"", early}, {"v1.2", early}, {"v1.2.x", early}, {"1.2", early}},
		{{"dev", late}},
	}
	for i, line := range order {
		for _, b := range line {
			for j, other := range order {
				for _, o := range other {
					require.Equal(t, i > j, b.NewerThan(o), "%v and %v", b, o)
				}
			}
		}
	}
}
