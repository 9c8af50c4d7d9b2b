//go:build !race

package main

const RaceDetector = false
