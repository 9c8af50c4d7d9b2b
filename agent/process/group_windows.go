package process

import (
	"os"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A group is a job object. It ends with its last handle, and so with the daemon. A process that the agent starts before the
// agent is put into the job is not in it.
type group struct {
	job    windows.Handle
	leader *os.Process
}

func sysProcAttr() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{CreationFlags: windows.CREATE_NEW_PROCESS_GROUP, HideWindow: true}
}

func newGroup(leader *os.Process) group {
	g := group{leader: leader}
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return g
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{
		BasicLimitInformation: windows.JOBOBJECT_BASIC_LIMIT_INFORMATION{LimitFlags: windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE},
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation,
		uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err == nil {
		var process windows.Handle
		process, err = windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(leader.Pid))
		if err == nil {
			err = windows.AssignProcessToJobObject(job, process)
			windows.CloseHandle(process)
		}
	}
	if err != nil {
		windows.CloseHandle(job)
		return g
	}
	g.job = job
	return g
}

// interrupt sends a console's break event, which the agent may not receive.
func (g group) interrupt() {
	windows.GenerateConsoleCtrlEvent(windows.CTRL_BREAK_EVENT, uint32(g.leader.Pid))
}

func (g group) terminate() { g.kill() }

func (g group) kill() {
	if g.job == 0 {
		g.leader.Kill()
		return
	}
	windows.TerminateJobObject(g.job, 1)
}

// await returns when no process of the job runs, at the latest after the limit.
func (g group) await(limit time.Duration) {
	if g.job == 0 {
		return
	}
	for pause := time.Millisecond; limit > 0 && g.active() > 0; pause *= 2 {
		pause = min(pause, 20*time.Millisecond, limit)
		time.Sleep(pause)
		limit -= pause
	}
}

// active returns how many processes of the job run.
func (g group) active() uint32 {
	var info struct {
		userTime, kernelTime, periodUserTime, periodKernelTime int64
		pageFaults, processes, active, terminated              uint32
	}
	if windows.QueryInformationJobObject(g.job, windows.JobObjectBasicAccountingInformation, uintptr(unsafe.Pointer(&info)),
		uint32(unsafe.Sizeof(info)), nil) != nil {
		return 0
	}
	return info.active
}

func (g group) close() {
	if g.job != 0 {
		windows.CloseHandle(g.job)
	}
}

// awaitExit returns false: only a wait for the leader shows its end.
func awaitExit(int) bool { return false }

// ExitOf returns how a process ended, after a wait for it.
func ExitOf(state *os.ProcessState) Exit { return Exit{Code: state.ExitCode()} }
