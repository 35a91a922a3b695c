// Command gatehouse is an HTTP gateway that authenticates JWTs.
package main

import (
	_ "embed"
	"os"
	"os/signal"
	"syscall"

	"gatehouse/command"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

// sample is the shipped config.yaml, which the demo runs as it is.
//
//go:embed config.yaml
var sample []byte

func main() {
	signals := make(chan os.Signal, 2) // two count: one to drain, one to end at once
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	os.Exit(command.Main(command.Process{
		Args:      os.Args[1:],
		Stdout:    os.Stdout,
		Stderr:    os.Stderr,
		LookupEnv: os.LookupEnv,
		Signals:   signals,
		Version:   version,
		Sample:    sample,
	}))
}
