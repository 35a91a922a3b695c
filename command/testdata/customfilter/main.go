// Command customfilter is gatehouse with one filter more.
package main

import (
	"os"

	"gatehouse/command"
	"gatehouse/middleware/filter"
)

func main() {
	p := command.ThisProcess()
	p.Filters = []filter.Factory{{Name: "idempotency_key", New: newIdempotencyKey}}
	os.Exit(command.Main(p))
}
