package command

import (
	"math"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"go.uber.org/zap"
)

// ballast is memory that is reserved and never touched, so that it takes no room. The garbage collector runs when the
// heap has doubled: a request leaves some ten kilobytes of garbage and the live heap is small, so that without ballast it
// would run dozens of times a second. A larger GOGC would cost a gateway with thousands of connections several times
// their memory; this is the same for all.
const ballast = 20 << 20

// roomForBallast is the memory limit from which on there is ballast: it counts as used.
const roomForBallast = 256 << 20

// ofContainer is the part of the container's memory that Go may use: the rest is
// for what it doesn't count, such as the binary and the kernel's buffers.
const ofContainer = 0.9

// cgroupLimits are where Linux says how much memory the container has (cgroup v2, v1).
func cgroupLimits() []string {
	return []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}
}

// fitMemory makes Go's garbage collector fit the container. GOGC and GOMEMLIMIT of
// the environment count more. The result is to be kept as long as the gateway runs.
func (p Process) fitMemory(log *zap.Logger) []byte {
	limit, found := containerMemory(cgroupLimits())
	if _, set := p.LookupEnv("GOMEMLIMIT"); found && !set {
		limit = int64(float64(limit) * ofContainer)
		debug.SetMemoryLimit(limit)
		log.Info("memory is limited", zap.Int64("bytes", limit), zap.String("by", "the container's limit"))
	}
	if _, set := p.LookupEnv("GOGC"); set || debug.SetMemoryLimit(-1) < roomForBallast {
		return nil
	}
	return make([]byte, ballast)
}

// containerMemory is the limit in bytes that the first of files has; false when
// there is none.
func containerMemory(files []string) (int64, bool) {
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // no cgroup of this version
		}
		n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
		// "max" isn't a number; version 1 says so with the largest number of whole pages.
		return n, err == nil && n > 0 && n < math.MaxInt64-1<<20
	}
	return 0, false
}
