package main

import (
	"fmt"
	"slices"
	"time"
)

// measureCPUs compares a gateway that uses one CPU with one that uses two, in pairs of
// runs, where load and backend share both CPUs with either: more CPUs than there are
// can't be measured, but what two of them make of a request in each other's way shows
// in its CPU time. If that grows by a tenth, two CPUs do the work of 2 ÷ 1.1.
func measureCPUs(binary, folder, backend string, pairs int, d time.Duration) error {
	fmt.Printf("%22s %22s %14s\n", "us/request on one CPU", "on two", "two are worth")
	var worth []float64
	for range pairs {
		var cpu [2]float64
		for i := range cpu {
			r := row{"", 1, 64, 512, i + 1}
			gateway, err := r.start(binary, folder, backend)
			if err != nil {
				return err
			}
			_, cpu[i], err = r.run(gateway, d)
			gateway.Stop()
			if err != nil {
				return err
			}
		}
		worth = append(worth, 2*cpu[0]/cpu[1])
		fmt.Printf("%22.1f %22.1f %14.2f\n", cpu[0], cpu[1], worth[len(worth)-1])
	}
	slices.Sort(worth)
	fmt.Printf("median: two CPUs do the work of %.2f\n", worth[len(worth)/2])
	return nil
}
