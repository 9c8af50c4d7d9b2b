package remote

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestPathMap(t *testing.T) {
	m, err := ParsePathMap([]string{"/home/me=/srv/me", "/home/me/a b=/x/", "/etc/é=/y"})
	require.NoError(t, err)
	tests := []struct{ here, there string }{
		{`{"method":"m","params":{"workspace":"/home/me/p","path":"/home/me","uri":"file:///home/me/a%20b/c%23"}}`,
			`{"method":"m","params":{"workspace":"/srv/me/p","path":"/srv/me","uri":"file:///x/c%23"}}`},
		{`{"params":{"workspaceFolders":[{"uri":"file:///home/me/p","name":"/home/me"}],"rootUri":"file:///home/me"}}`,
			`{"params":{"workspaceFolders":[{"uri":"file:///srv/me/p","name":"/home/me"}],"rootUri":"file:///srv/me"}}`},
		{`{"result":{"diffs":[{"path":"/home/me/a b/f","oldPath":"/home/me/x"},{"path":"f"}],"paths":["/home/me/1",["/home/me/2"],{"no":"/home/me/3"}]}}`,
			`{"result":{"diffs":[{"path":"/x/f","oldPath":"/srv/me/x"},{"path":"f"}],"paths":["/srv/me/1",["/srv/me/2"],{"no":"/home/me/3"}]}}`},
		{`{ "path" : "\/home\/me\/\u0022" , "text":"/home/me" }`, `{ "path" : "/srv/me/\"" , "text":"/home/me" }`},
		{`{"path":"/etc/é/\u00e9"}`, `{"path":"/y/é"}`},
	}
	same := []string{
		`{"params":{"prompt":"/home/me/p","lines":["+/home/me"],"title":"/home/me","path":"/home/men","uri":"/home/me2","workspace":"home/me"}}`,
		`{"path":{"text":"/home/me"},"x":["/home/me"]}`, `{"a":"path","b":"/home/me"}`, `{"uri":"file://%zz"}`, `"path"`, `{"path":"/home/me`, `]}`,
	}
	for _, test := range tests {
		require.Equal(t, test.there, string(m.message([]byte(test.here))))
	}
	for _, body := range same {
		require.Equal(t, body, string(m.message([]byte(body))))
	}
	// The reverse map restores the message.
	back := m.back().sorted()
	for _, test := range tests[:3] {
		require.JSONEq(t, test.here, string(back.message([]byte(test.there))))
	}
	all, err := ParsePathMap([]string{"/=/mnt"})
	require.NoError(t, err)
	require.Equal(t, `{"path":"/mnt/a"}`, string(all.message([]byte(`{"path":"/a"}`))))
	require.Equal(t, `{"path":"/a"}`, string(all.back().message([]byte(`{"path":"/mnt/a"}`))))

	for _, bad := range [][]string{{"/a"}, {"a=/b"}, {"/a=b"}, {"/a=/x", "/b=/x/"}, {"/a=/x", "/a=/y"}} {
		_, err := ParsePathMap(bad)
		require.Error(t, err, "%q", bad)
	}
}
