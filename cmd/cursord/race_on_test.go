//go:build race

package main

// raceDetector says that the processes under test carry the race detector, and with it many times the memory.
const raceDetector = true
