#!/usr/bin/env bash
# Fuzzes each target of the repository, one after the other, for FUZZTIME: a duration (default 20s) or a number of inputs
# such as 10000x.
set -euo pipefail
cd "$(dirname "$0")/.."
log=$(mktemp)
trap 'rm -f "$log"' EXIT

fuzz() { # fuzz FOLDER TARGET
  echo "-- $1 $2"
  go test -run '^$' -fuzz "^$2\$" -fuzztime "${FUZZTIME:-20s}" "$1" 2>&1 | tee "$log" && return
  # On a busy machine, go test may take its own deadline for a failure. A real one names its input.
  grep -q '^ *context deadline exceeded$' "$log" && ! grep -q 'Failing input' "$log"
}

for folder in $(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u); do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$folder"/*_test.go | sed 's/func //'); do
    fuzz "$folder" "$target"
  done
done
