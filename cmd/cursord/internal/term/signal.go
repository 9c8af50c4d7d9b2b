package term

import (
	"fmt"
	"os"
)

// A SignalError says that a signal has ended something.
type SignalError struct{ Signal os.Signal }

func (e SignalError) Error() string { return fmt.Sprintf("ended by the signal %q", e.Signal) }
