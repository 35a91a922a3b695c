import * as api from "./api.js";
import { chart, strip } from "./chart.js";
import { badge, byId, el, keyed, number, percent, perSecond, plain, say, time } from "./dom.js";
import { backendKey } from "./metrics.js";

const kinds = { closed: "good", "half-open": "warn", open: "bad" };
const cards = new Map();

// showUpstreams brings the cards up to date. can says which of the actions the gateway has; act does one and tells how it went.
export function showUpstreams(upstreams, history, can, act) {
  keyed(byId("upstreams"), cards, upstreams.map((u) => u.name), (name) => card(name, act));
  for (const upstream of upstreams) cards.get(upstream.name).update(upstream, history, can);
}

function card(name, act) {
  const breaker = el("span");
  const refused = el("span", { class: "muted" });
  const states = strip(`Breaker of ${name}`);
  const charts = [
    chart("Requests", [{ name: "requests", key: "rate" }], perSecond),
    chart("Errors", [{ name: "errors", key: "errors" }], percent),
    chart("Time", [{ name: "p50", key: "p50" }, { name: "p99", key: "p99" }], time),
  ];
  const buttons = [["open", "Open"], ["closed", "Close"], ["auto", "Automatic"]].map(([state, text]) => ({
    state,
    button: el("button", { type: "button", class: "small", "aria-label": `${text}: breaker of ${name}`, onclick: () => setBreaker(name, state, act) }, text),
  }));
  const controls = el("div", { class: "row", role: "group", "aria-label": `Breaker of ${name}` }, el("span", { class: "muted" }, "Breaker:"), ...buttons.map((b) => b.button));
  const rows = el("tbody");
  const action = el("th", { scope: "col" }, "Traffic");
  const backends = new Map();
  const element = el("article", { class: "card" },
    el("div", { class: "row" }, el("h3", {}, name), breaker, refused),
    states.element,
    el("div", { class: "tiles small" }, ...charts.map((c) => c.element)),
    controls,
    el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": `Backends of ${name}` },
      el("table", {}, el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "Backend"), el("th", { scope: "col" }, "Health"),
        el("th", { scope: "col", class: "number" }, "In flight"), el("th", { scope: "col", class: "number" }, "Requests"), el("th", { scope: "col", class: "number" }, "p99"), action)), rows)));

  function update(upstream, history, can) {
    const override = upstream.override && upstream.override !== "auto" ? upstream.override : "";
    badge(breaker, "breaker " + plain(upstream.breaker) + (override ? ", held by hand" : ""), kinds[upstream.breaker] ?? "unknown");
    const count = history.latest.refused.get(name);
    say(refused, count ? `refused ${count} in all` : "");
    states.update(history.of(name), history.now);
    for (const c of charts) c.update(history.of(name), history.now);
    controls.hidden = !can.breaker;
    for (const { state, button } of buttons) {
      if (upstream.override === undefined) button.removeAttribute("aria-pressed");
      else button.setAttribute("aria-pressed", String(upstream.override === state || (state === "auto" && !override)));
    }
    action.hidden = !can.drain;
    const list = upstream.backends ?? [];
    const byAddress = new Map(list.map((b) => [`${b.url} ${b.address ?? ""}`, b])); // one URL may stand for several addresses
    keyed(rows, backends, [...byAddress.keys()], (key) => row(name, byAddress.get(key), act));
    for (const [key, backend] of byAddress) backends.get(key).update(backend, history, can);
  }
  return { element, update };
}

function row(upstream, { url, address }, act) {
  const health = el("span"), inFlight = number("In flight"), rate = number("Requests"), p99 = number("p99");
  let drained = false;
  const button = el("button", { type: "button", class: "small", onclick: () => setDrain(upstream, url, !drained, act) });
  const cell = el("td", { "data-label": "Traffic" }, button);
  const element = el("tr", {}, el("td", { class: "code", "data-label": "Backend" }, address ? `${url} (${address})` : url), el("td", { "data-label": "Health" }, health), inFlight, rate, p99, cell);

  function update(backend, history, can) {
    const key = backendKey(upstream, url);
    drained = Boolean(backend.drain ?? backend.draining ?? backend.drained);
    badge(health, ...healthOf(backend, drained, history.latest.up.get(key)));
    const recent = history.backend(key);
    say(inFlight, plain(backend.in_flight));
    say(rate, perSecond(recent.rate));
    say(p99, time(recent.p99));
    cell.hidden = !can.drain;
    say(button, drained ? "Take back" : "Drain");
    button.setAttribute("aria-label", `${button.textContent}: ${url}`);
  }
  return { element, update };
}

// healthOf takes the API's word, or the metric's where the API has none.
function healthOf(backend, drained, up) {
  if (drained) return ["drained", "warn"];
  if (backend.ejected) return ["ejected", "bad"];
  const health = backend.health ?? (backend.healthy === undefined ? up : backend.healthy);
  if (health === undefined) return ["unknown", "unknown"];
  if (typeof health !== "string") return health ? ["up", "good"] : ["down", "bad"];
  return [health, { up: "good", healthy: "good", down: "bad", unhealthy: "bad", ejected: "bad" }[health] ?? "unknown"];
}

function setBreaker(name, state, act) {
  const what = { open: "refuses every request", closed: "never refuses a request", auto: "decides by itself again" }[state];
  if (state !== "auto" && !confirm(`The breaker of ${name} then ${what}, until somebody changes it. Go on?`)) return;
  act(() => api.post(api.upstreamPath(name, "breaker"), { state }), `The breaker of ${name} ${what}.`);
}

function setDrain(name, backend, drain, act) {
  if (drain && !confirm(`${backend} then gets no new requests, until somebody changes it. Go on?`)) return;
  act(() => api.post(api.upstreamPath(name, "drain"), { backend, drain }), `${backend} gets ${drain ? "no new requests" : "requests again"}.`);
}
