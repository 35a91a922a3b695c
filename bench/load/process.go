package load

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// clockTick is the unit of the CPU times in /proc, 1/100 s on Linux
// (sysconf(_SC_CLK_TCK), which is 100 on every architecture that Go has).
const clockTick = 10 * time.Millisecond

// CPUTime is the user and system time that a process and its ended children
// have used (proc(5), /proc/PID/stat). Linux only.
func CPUTime(pid int) (time.Duration, error) {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(stat), ") ") // the name may hold spaces
	fields := strings.Fields(rest)
	if !ok || len(fields) < 15 {
		return 0, fmt.Errorf("reading /proc/%d/stat: unknown form", pid)
	}
	var ticks int64
	for _, field := range fields[11:15] { // utime stime cutime cstime
		n, err := strconv.ParseInt(field, 10, 64)
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * clockTick, nil
}

// PeakMemory is the most resident memory a process has had, in bytes. Linux only.
func PeakMemory(pid int) (int64, error) { return memory(pid, "VmHWM:") }

// memory is a line of /proc/PID/status in bytes (proc(5)).
func memory(pid int, name string) (int64, error) {
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kib, err := strconv.ParseInt(strings.Fields(value)[0], 10, 64)
			return kib << 10, err
		}
	}
	return 0, fmt.Errorf("/proc/%d/status has no %s", pid, name)
}
