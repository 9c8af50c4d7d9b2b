//go:build cursordtest

package daemon

// SetFault has a daemon call fault in each step of a decision and before each commit, which fails with the error.
func (o *Options) SetFault(fault func(Step) error) { o.fault = fault }
