#!/usr/bin/env bash
# Builds the image and runs it as an operator does: read-only, without capabilities, with a config mounted into it; then
# the compose file's gateway and services. Containers use the host's network, so ports from 28080 and 29001 on are taken.
# It needs a Docker engine. Where none runs, the program that DOCKER_UP names may start one; else this is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
DOCKER_UP=${DOCKER_UP:-../shared/tools/docker/up}
export DOCKER_BUILDKIT=0 # the stand-in engine has no other builder

go_image=$(sed -n 's/^ARG GO_IMAGE=//p' Dockerfile)
run_image=$(sed -n 's/^ARG RUN_IMAGE=//p' Dockerfile)
started=
if ! docker version >/dev/null 2>&1; then
  if [ ! -x "$DOCKER_UP" ]; then
    echo "SKIPPED: no Docker engine answers, and $DOCKER_UP isn't there to start one: the image was not tested"
    exit 0
  fi
  started=yes
  "$DOCKER_UP" "$go_image" "$run_image"
  export DOCKER_HOST=unix://${DOCKER_HERE:-/tmp/docker-here}/docker.sock
fi

work=$(mktemp -d)
chmod 755 "$work" # the image's user reads it
compose() { docker-compose --project-name gatehouse-ci --project-directory deploy/compose -f "$work/compose.yaml" "$@"; }
clean() {
  [ ! -f "$work/compose.yaml" ] || compose down --volumes >/dev/null 2>&1 || true
  docker rm -f gatehouse-ci gatehouse-ci-services >/dev/null 2>&1 || true
  rm -rf "$work"
  [ -z "$started" ] || "$(dirname "$DOCKER_UP")/down"
}
trap clean EXIT

fail() { echo "container.sh: $*"; docker logs gatehouse-ci 2>&1 | tail -20; exit 1; }
within() { # within SECONDS COMMAND...: until it succeeds
  for _ in $(seq $(($1 * 5))); do "${@:2}" >/dev/null 2>&1 && return 0; sleep 0.2; done
  return 1
}
status() { curl -s -o "$work/answer" -w '%{http_code}' --max-time 20 "$@"; }
expect() { # expect STATUS CURL-ARGUMENTS...
  local got; got=$(status "${@:2}") || true
  [ "$got" = "$1" ] || fail "${*:2}: status $got, want $1: $(cat "$work/answer" 2>/dev/null)"
}
hardened=(--network host --read-only --cap-drop=ALL --security-opt no-new-privileges)

echo "-- build"
docker build --network host ${GOPROXY:+--build-arg GOPROXY="$GOPROXY"} --build-arg VERSION=ci -t gatehouse . | tail -3
docker run --rm "${hardened[@]}" gatehouse version | grep '^gatehouse ci go1'
[ "$(docker image inspect --format '{{.Config.User}}' gatehouse)" = 65532:65532 ] || fail "the image's user is another"

echo "-- a config mounted at its usual place: healthy, and it authenticates"
export JWT_SECRET=only-for-this-test-0123456789abcdef
cat >"$work/config.yaml" <<'YAML'
server: {listen: "127.0.0.1:28080", admin: "127.0.0.1:28090"}
auth: {providers: {ci: {issuer: ci, algorithms: [HS256], secret: "${JWT_SECRET}"}}}
upstreams: {order: {url: "http://127.0.0.1:29001", route: {}}}
YAML
docker run -d --name gatehouse-ci-services "${hardened[@]}" --tmpfs /tmp gatehouse \
  demo services --ports-from 29001 >/dev/null
docker run -d --name gatehouse-ci "${hardened[@]}" -e JWT_SECRET -v "$work/config.yaml:/etc/gatehouse/config.yaml" gatehouse >/dev/null
healthy() { [ "$(docker inspect --format '{{.State.Health.Status}}' gatehouse-ci)" = healthy ]; }
within 30 healthy || fail "it never was healthy"
token=$(docker run --rm --network none gatehouse token --secret "$JWT_SECRET" --issuer ci --sub ada --scope order)
expect 401 http://127.0.0.1:28080/order/42
expect 200 -H "Authorization: Bearer $token" http://127.0.0.1:28080/order/42
grep -q '"X-User-Id: ada"' "$work/answer" || fail "the service doesn't see who called: $(cat "$work/answer")"

echo "-- docker stop drains what is in flight"
status -H "Authorization: Bearer $token" "http://127.0.0.1:28080/order/42?delay=3s" >"$work/held" &
held=$!
in_flight() { curl -s http://127.0.0.1:28090/metrics | grep -q '^gateway_inflight_requests 1$'; }
within 10 in_flight || fail "the request never was in flight"
docker stop --time 20 gatehouse-ci >/dev/null
wait "$held" || true
[ "$(cat "$work/held")" = 200 ] || fail "the request in flight got $(cat "$work/held")"
[ "$(docker inspect --format '{{.State.ExitCode}}' gatehouse-ci)" = 0 ] || fail "its exit code isn't 0"

echo "-- the mounted config replaced: a new start serves it"
sed -i 's/route: {}/route: {path: \/renamed}/' "$work/config.yaml" # another inode, as editors make it
docker rm gatehouse-ci >/dev/null
docker run -d --name gatehouse-ci "${hardened[@]}" -e JWT_SECRET -v "$work/config.yaml:/etc/gatehouse/config.yaml" gatehouse >/dev/null
within 30 healthy || fail "it never was healthy with the new config"
expect 404 -H "Authorization: Bearer $token" http://127.0.0.1:28080/order/42
expect 200 -H "Authorization: Bearer $token" http://127.0.0.1:28080/renamed/42
docker rm -f gatehouse-ci >/dev/null

echo "-- a config with a mistake: it says where, and ends with 1"
sed -i 's/listen:/lisen:/' "$work/config.yaml"
docker run --name gatehouse-ci "${hardened[@]}" -e JWT_SECRET -v "$work/config.yaml:/etc/gatehouse/config.yaml" gatehouse >"$work/out" 2>&1 && fail "it started"
[ "$(docker inspect --format '{{.State.ExitCode}}' gatehouse-ci)" = 1 ] || fail "its exit code isn't 1"
grep -q '^/etc/gatehouse/config.yaml:1:10: server.lisen: ' "$work/out" || fail "it says $(cat "$work/out")"
docker rm -f gatehouse-ci gatehouse-ci-services >/dev/null

echo "-- compose: the gateway and the demo's services, on the host's network and other ports"
docker-compose -f deploy/compose/compose.yaml config -q
docker-compose -f deploy/compose/scale.yaml config -q
sed -e 's/^    ports:.*/    network_mode: host/; s/^    build:.*//; s/"0.0.0.0"/"127.0.0.1", "--ports-from", "29001"/' \
  -e 's/":8080", "--admin", ":9090"/"127.0.0.1:28080", "--admin", "127.0.0.1:28090"/' \
  -e 's/http:\/\/demo:900/http:\/\/127.0.0.1:2900/; s/127.0.0.1:9003/127.0.0.1:29003/' deploy/compose/compose.yaml >"$work/compose.yaml"
compose up -d gateway demo >"$work/out" 2>&1 || fail "compose: $(cat "$work/out")"
within 30 curl -sf http://127.0.0.1:28090/readyz || fail "compose: the gateway isn't ready: $(compose logs --tail 20 2>&1)"
token=$(curl -s 'http://127.0.0.1:29003/token?user=ada&scope=order&format=raw')
expect 401 http://127.0.0.1:28080/order/42
expect 200 -H "Authorization: Bearer $token" http://127.0.0.1:28080/order/42
echo "the image and the compose file are fine"
