import { between, count, Tally } from "./metrics.js";
import { span } from "./chart.js";

const smoothing = 10 * 1000; // milliseconds that a rate is taken over

// History keeps what the charts show. Readings are kept only as long as rates need them: they are as large as the config.
export class History {
  readings = [];
  points = new Map(); // by what they are of: "" is everything

  add(reading, upstreams) {
    this.readings.push(reading);
    while (this.readings.length > 2 && reading.at - this.readings[1].at >= smoothing) this.readings.shift();
    this.point("", { ...this.since((r) => r.all), inFlight: reading.inFlight ?? null });
    for (const upstream of upstreams) {
      this.point(upstream.name, { ...this.since((r) => r.upstreams.get(upstream.name)), state: upstream.breaker });
    }
    for (const name of this.points.keys()) {
      if (name && !upstreams.some((upstream) => upstream.name === name)) this.points.delete(name);
    }
  }

  get now() { return this.readings.at(-1)?.at ?? 0; }
  get latest() { return this.readings.at(-1); }

  // since is what happened to one tally over the last seconds.
  since(pick) {
    const first = this.readings[0], last = this.latest;
    if (first === last) return { rate: null, errors: null, p50: null, p99: null };
    return between(pick(first) ?? new Tally(), pick(last) ?? new Tally(), last.at - first.at);
  }

  // backend is the attempts a second at a backend, and their times.
  backend(key) {
    const first = this.readings[0], last = this.latest, before = first.backends.get(key), after = last.backends.get(key);
    if (first === last || !after) return { rate: null, p99: null };
    return { rate: Math.max(0, count(after) - count(before)) / ((last.at - first.at) / 1000), p99: between(before, after, 1).p99 };
  }

  point(name, values) {
    const list = this.points.get(name) ?? [];
    list.push({ at: this.now, ...values });
    while (list.length && this.now - list[0].at > span) list.shift();
    this.points.set(name, list);
  }

  of(name) { return this.points.get(name) ?? []; }
}
