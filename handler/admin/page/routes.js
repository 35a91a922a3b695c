import { byId, el, number, percent, perSecond, plain, say, time } from "./dom.js";

const most = 200; // rows that a browser draws at once without effort
let rows = [];
let all = [];

// setRoutes takes the routes of another config.
export function setRoutes(routes, history) {
  all = routes.map((route) => ({ route, text: Object.values(route).flat(2).map((v) => (typeof v === "object" && v ? JSON.stringify(v) : v)).join(" ").toLowerCase() }));
  search(history);
}

export function search(history) {
  const words = byId("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = all.filter(({ text }) => words.every((word) => text.includes(word)));
  say(byId("routes-count"), `${found.length} of ${all.length}` + (found.length > most ? `; the first ${most} are shown` : ""));
  rows = found.slice(0, most).map(({ route }) => row(route));
  byId("routes").replaceChildren(...rows.map((r) => r.element));
  showRoutes(history);
}

// showRoutes brings the numbers of the rows up to date.
export function showRoutes(history) {
  for (const { route, cells } of rows) {
    const recent = history.since((reading) => reading.routes.get(route.name));
    say(cells[0], perSecond(recent.rate));
    say(cells[1], percent(recent.errors));
    say(cells[2], time(recent.p99));
  }
}

function row(route) {
  const list = (value) => (value?.length ? [value].flat().join(", ") : "any");
  const cells = [number("Requests/s"), number("Errors"), number("p99")];
  const upstream = route.upstream || (route.split ?? []).map((s) => `${s.upstream}: ${s.weight}`).join(", ");
  const texts = { Name: plain(route.name), Path: plain(route.path), Methods: list(route.methods), Hosts: list(route.hosts),
    Upstream: plain(upstream), Auth: plain(route.auth), Scopes: route.scopes?.length ? route.scopes.join(", ") : "–" };
  const element = el("tr", {}, ...Object.entries(texts).map(([name, text]) => el("td", { "data-label": name, class: name === "Path" && "code" }, text)), ...cells);
  return { route, cells, element };
}
