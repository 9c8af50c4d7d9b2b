//go:build race

package world

// RaceDetector says that the processes under test carry the race detector, and with it many times the memory.
const RaceDetector = true
