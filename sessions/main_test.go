package sessions_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) {
	if f, ok := children()[os.Getenv("SESSIONS_TEST_CHILD")]; ok {
		f()
		return
	}
	goleak.VerifyTestMain(m)
}
