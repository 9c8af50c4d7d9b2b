package term

import (
	"fmt"
	"os"
)

// A SignalError is returned by what a signal has ended.
type SignalError struct{ Signal os.Signal }

func (e SignalError) Error() string { return fmt.Sprintf("ended by the signal %q", e.Signal) }
