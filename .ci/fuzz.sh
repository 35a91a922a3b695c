#!/usr/bin/env bash
# Fuzzes each target of the repository for FUZZTIME (default 20s), one after the other.
set -euo pipefail
cd "$(dirname "$0")/.."
targets=$(grep -rlE '^func Fuzz[A-Z]' --include='*_test.go' . | xargs -n1 dirname | sort -u)
for folder in $targets; do
  for target in $(grep -hoE '^func Fuzz[A-Za-z0-9_]+' "$folder"/*_test.go | sed 's/func //'); do
    echo "-- $folder $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-20s}" "$folder"
  done
done
