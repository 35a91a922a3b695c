// Counters of the Prometheus text format, and the rates and quantiles between two readings of them.

const wanted = new Set(["http_requests_total", "http_request_duration_seconds_bucket", "gateway_backend_duration_seconds_bucket",
  "gateway_backend_up", "gateway_inflight_requests", "gateway_build_info", "gateway_config_last_reload_successful", "circuit_breaker_open"]);

// samples yields the name, labels and value of each line whose name is wanted.
export function* samples(exposition) {
  for (const line of exposition.split("\n")) {
    const end = line.search(/[{ ]/);
    const name = line.slice(0, end);
    if (!wanted.has(name)) continue;
    const labels = {};
    let rest = end;
    if (line[end] === "{") {
      const label = /\s*([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)",?/y;
      label.lastIndex = rest = end + 1;
      for (let found; (found = label.exec(line)); rest = label.lastIndex) {
        labels[found[1]] = found[2].replace(/\\(.)/g, (_, c) => (c === "n" ? "\n" : c));
      }
      rest = line.indexOf("}", rest) + 1;
    }
    yield { name, labels, value: number(line.slice(rest).trim().split(" ")[0]) };
  }
}

function number(text) { return text === "+Inf" ? Infinity : text === "-Inf" ? -Infinity : Number(text); }

// Tally is the counters of one thing: the whole gateway, an upstream, a route or a backend.
export class Tally {
  requests = 0;
  errors = 0; // 5xx
  buckets = new Map(); // requests no longer than so many seconds

  bucket(bound, count) { this.buckets.set(bound, (this.buckets.get(bound) ?? 0) + count); }
}

// read makes one reading of an exposition, at a time in milliseconds.
export function read(exposition, at) {
  const reading = { at, all: new Tally(), upstreams: new Map(), routes: new Map(), backends: new Map(), up: new Map(), refused: new Map() };
  for (const { name, labels, value } of samples(exposition)) {
    const { upstream, uri, backend } = labels;
    const both = [reading.all, entry(reading.upstreams, upstream), entry(reading.routes, uri)];
    switch (name) {
      case "http_requests_total":
        for (const tally of both) {
          tally.requests += value;
          if (labels.code?.startsWith("5")) tally.errors += value;
        }
        break;
      case "http_request_duration_seconds_bucket":
        for (const tally of both) tally.bucket(number(labels.le), value);
        break;
      case "gateway_backend_duration_seconds_bucket":
        entry(reading.backends, backendKey(upstream, backend)).bucket(number(labels.le), value);
        break;
      case "gateway_backend_up": reading.up.set(backendKey(upstream, backend), value === 1); break;
      case "circuit_breaker_open": reading.refused.set(upstream, value); break;
      case "gateway_inflight_requests": reading.inFlight = value; break;
      case "gateway_build_info": reading.version = labels.version; break;
      case "gateway_config_last_reload_successful": reading.reloadFailed = value === 0; break;
    }
  }
  return reading;
}

export function backendKey(upstream, backend) { return upstream + " " + backend; }

function entry(map, key) {
  if (key === undefined) return new Tally();
  let found = map.get(key);
  if (!found) map.set(key, (found = new Tally()));
  return found;
}

// between is what happened from one tally to a later one: requests a second, the share of errors, and quantiles in seconds.
// null is not known: there was no request. A process that began anew counts from 0.
export function between(before = new Tally(), after = new Tally(), milliseconds) {
  if (after.requests < before.requests) before = new Tally();
  const requests = after.requests - before.requests;
  return {
    rate: milliseconds > 0 ? requests / (milliseconds / 1000) : null,
    errors: requests > 0 ? Math.max(0, after.errors - before.errors) / requests : null,
    p50: quantile(0.5, before, after),
    p99: quantile(0.99, before, after),
  };
}

// quantile interpolates within a bucket, as histogram_quantile of Prometheus does.
export function quantile(q, before, after) {
  const bounds = [...after.buckets.keys()].sort((a, b) => a - b);
  const counts = bounds.map((bound) => after.buckets.get(bound) - (before.buckets.get(bound) ?? 0));
  const total = counts.at(-1);
  if (!(total > 0)) return null;
  const rank = q * total;
  const i = counts.findIndex((count) => count >= rank);
  const lower = i > 0 ? bounds[i - 1] : 0;
  if (bounds[i] === Infinity) return lower;
  const below = i > 0 ? counts[i - 1] : 0;
  return counts[i] === below ? bounds[i] : lower + ((bounds[i] - lower) * (rank - below)) / (counts[i] - below);
}

// count is how many requests a histogram has.
export function count(tally) { return tally?.buckets.get(Infinity) ?? 0; }
