package helix

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkInstall installs for all languages of Helix, installs again, and uninstalls.
func BenchmarkInstall(b *testing.B) {
	d := &Defaults{}
	for i := range 350 {
		d.Languages = append(d.Languages, Language{Name: fmt.Sprint("language", i), Servers: []string{`"one"`, `"two"`}})
	}
	r := Request{Helix: Version{Year: 25, Month: 7}, Defaults: d, Program: "cursord", All: true}
	for b.Loop() {
		dir := b.TempDir()
		for range 2 {
			p, err := Install(dir, r)
			require.NoError(b, err)
			require.NoError(b, p.Apply())
		}
		p, err := Uninstall(dir)
		require.NoError(b, err)
		require.NoError(b, p.Apply())
	}
}
