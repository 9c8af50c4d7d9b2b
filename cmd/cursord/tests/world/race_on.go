//go:build unix && race

package world

// RaceDetector says whether the processes under test carry the race detector, and with it many times the memory.
const RaceDetector = true
