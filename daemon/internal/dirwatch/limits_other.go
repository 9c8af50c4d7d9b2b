//go:build !linux

package dirwatch

func ofInstances(err error) error { return err }

func ofWatches(err error) error { return err }
