// Package nowait reads and writes by system calls that cannot wait, where that is possible: on Linux, reads of sockets and writes to
// pipes and sockets. Go's runtime takes note of every ordinary system call, because it may wait: in a program that slept
// this wakes one more thread, which makes a short message a third later. One that cannot wait needs none of that.
package nowait
