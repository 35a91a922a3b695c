package main

import (
	"fmt"
	"slices"
	"time"
)

// measureCPUs compares a gateway that uses one CPU with one that uses two, where load
// and backend share both CPUs with either: more CPUs than there are can't be measured,
// but what two of them make of a request in each other's way shows in its CPU time. If
// that grows by a tenth, two CPUs do the work of 2 ÷ 1.1. Each round measures one, two,
// two and one, so that a machine that becomes faster or slower meanwhile favours neither.
func measureCPUs(binary, folder, backend string, rounds int, d time.Duration) error {
	fmt.Printf("%22s %22s %14s\n", "us/request on one CPU", "on two", "two are worth")
	var worth []float64
	for range rounds {
		var cpu [3]float64 // by the number of CPUs, the sum of two runs
		for _, cpus := range []int{1, 2, 2, 1} {
			r := row{"", 1, 64, 512, cpus}
			gateway, err := r.start(binary, folder, backend)
			if err != nil {
				return err
			}
			_, cost, err := r.run(gateway, d)
			gateway.Stop()
			if err != nil {
				return err
			}
			cpu[cpus] += cost
		}
		worth = append(worth, 2*cpu[1]/cpu[2])
		fmt.Printf("%22.1f %22.1f %14.2f\n", cpu[1]/2, cpu[2]/2, worth[len(worth)-1])
	}
	slices.Sort(worth)
	fmt.Printf("median: two CPUs do the work of %.2f\n", worth[len(worth)/2])
	return nil
}
