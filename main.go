// Command gatehouse is an HTTP gateway that authenticates JWTs.
package main

import (
	_ "embed"
	"os"

	"gatehouse/command"
)

// version is set by the linker: -ldflags "-X main.version=v1.2.3".
var version string

// sample is the shipped config.yaml, which the demo runs as it is.
//
//go:embed config.yaml
var sample []byte

func main() {
	p := command.ThisProcess()
	p.Version, p.Sample = version, sample
	os.Exit(command.Main(p))
}
