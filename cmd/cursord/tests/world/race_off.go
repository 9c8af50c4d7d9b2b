//go:build unix && !race

package world

// RaceDetector says whether the processes under test are built with the race detector, and so use many times the memory.
const RaceDetector = false
