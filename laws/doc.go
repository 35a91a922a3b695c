// Package laws holds the rules of this repository that a machine can check, as tests: which package may import which, how
// long a file may be, what a package must say about itself, and what must not be in any file.
//
// Guarantees: every rule is first tried on text that breaks it, so a law that can't fail is a failure too.
//
// Non-guarantees: it reads the sources without types. A rule that needs them is in .golangci.yml.
//
// Concurrency: it has nothing but tests.
package laws
