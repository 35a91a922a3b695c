#!/usr/bin/env bash
# Lets a real Prometheus scrape a running gateway under load, with the repository's own rules, and evaluates every query of
# the dashboard in it. Ports from 28180 on and 28191 are taken.
set -euo pipefail
cd "$(dirname "$0")/.."

promtool check rules grafana/alerts/gatehouse.rules.yml
(cd grafana/alerts && promtool test rules gatehouse_test.yml)

work=$(mktemp -d)
running=()
clean() {
  for pid in "${running[@]}"; do kill "$pid" 2>/dev/null || true; done
  wait
  rm -rf "$work"
}
trap clean EXIT
gateway=http://127.0.0.1:28180 identity=http://127.0.0.1:28184 prometheus=http://127.0.0.1:28191

go build -o "$work/gatehouse" .
"$work/gatehouse" demo --ports-from 28180 >"$work/gatehouse.log" 2>&1 &
running+=($!)

# The shipped configuration, on this machine's addresses and in less time.
mkdir "$work/rules"
cp grafana/alerts/*.rules.yml "$work/rules/"
sed -e 's/gateway:9090/127.0.0.1:28181/; s/_interval: [0-9]*s/_interval: 1s/' deploy/prometheus/prometheus.yml >"$work/prometheus.yml"
promtool check config "$work/prometheus.yml"
prometheus --config.file="$work/prometheus.yml" --storage.tsdb.path="$work/data" --web.listen-address=127.0.0.1:28191 \
  --enable-feature=exemplar-storage --log.level=warn >"$work/prometheus.log" 2>&1 &
running+=($!)
for _ in $(seq 100); do curl -sf "$prometheus/-/ready" >/dev/null && curl -sf http://127.0.0.1:28181/readyz >/dev/null && break; sleep 0.2; done

token=$(curl -sf "$identity/token?user=ada&scope=order&format=raw")
load() { # requests that pass, and of each way to be refused
  while :; do
    curl -s -o /dev/null -H "Authorization: Bearer $token" "$gateway/order/[1-50]" || true
    curl -s -o /dev/null -H "Authorization: Bearer $token" "$gateway/order/x?status=503" "$gateway/user/x" "$gateway/nowhere" || true
    curl -s -o /dev/null "$gateway/order/1" "$gateway/public/[1-5]" || true
  done
}
load >/dev/null &
running+=($!)
go run ./grafana/check -prometheus "$prometheus" || { tail "$work"/*.log; exit 1; }

count() { curl -sf "$prometheus/api/v1/query" --data-urlencode "query=$1" | jq -r '[.data.result[].value[1] | tonumber] | add // 0 | floor'; }
for query in 'count(http_requests_total{code="200",upstream="order"} > 0)' 'sum(gateway_rejects_total{code="scope_missing"})' \
  'count(upstream:http_requests_errors:ratio_rate5m)' 'count(http_request_duration_seconds_bucket)' 'sum(up{job="gatehouse"})'; do
  for _ in $(seq 50); do n=$(count "$query"); [ "$n" -gt 0 ] && break; sleep 0.2; done
  echo "$query = $n"
  [ "$n" -gt 0 ]
done
