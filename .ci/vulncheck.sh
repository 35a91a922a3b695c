#!/usr/bin/env bash
# govulncheck, with a database made here from the sources of the Go vulnerability database, which come as a Go module: so
# it needs nothing but the module proxy, and answers the same until the version here is raised.
# A finding in a module that this code calls ends it with 1. One in the standard library is only reported: a build
# with a newer Go mends it, and the Dockerfile builds with the newest.
set -euo pipefail
cd "$(dirname "$0")/.."
govulncheck=v1.9.0
vulndb=v0.0.0-20261105234957-e22db6528018

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
source=$(cd "$work" && go mod download -json "golang.org/x/vulndb@$vulndb" | jq -r .Dir)
go run "golang.org/x/vulndb/cmd/indexdb@$vulndb" -vulns "$source/data/osv" -out "$work/db"
go run "golang.org/x/vuln/cmd/govulncheck@$govulncheck" -db "file://$work/db" -format json ./... >"$work/findings.json"
jq -e -s 'any(.config) and any(.SBOM)' "$work/findings.json" >/dev/null # it did look

# One line for each vulnerability whose code is called: its id, where it is, and the version that mends it.
jq -r 'select(.finding.trace[0].function) | .finding | "\(.trace[0].module) \(.trace[0].version) \(.osv) mended in \(.fixed_version // "no version yet")"' \
  "$work/findings.json" | sort -u >"$work/called"
echo "vulnerabilities that the code calls, of $(ls "$source/data/osv" | wc -l) known ones: $(wc -l <"$work/called")"
cat "$work/called"
! grep -v '^stdlib ' "$work/called" >/dev/null
