import * as api from "./api.js";
import { chart } from "./chart.js";
import { outcome, showConfig } from "./config.js";
import { badge, byId, percent, perSecond, plain, say, time } from "./dom.js";
import { explain } from "./explain.js";
import { History } from "./history.js";
import { read } from "./metrics.js";
import { search, setRoutes, showRoutes } from "./routes.js";
import { showUpstreams } from "./upstreams.js";

const every = 2000; // milliseconds between two readings
let history = new History();
let routesOf = null; // the hash of the config whose routes are shown
let can = null; // which endpoints the gateway has, once it was asked
let timer;
let turn = 0; // of the latest poll: one that was overtaken shows nothing any more

const tiles = [
  chart("Requests", [{ name: "requests", key: "rate" }], perSecond),
  chart("Errors (5xx)", [{ name: "errors", key: "errors" }], percent),
  chart("Time", [{ name: "p50", key: "p50" }, { name: "p99", key: "p99" }], time),
  chart("In flight", [{ name: "requests", key: "inFlight" }], plain),
];
for (const tile of tiles) {
  tile.element.className = "card";
  byId("tiles").append(tile.element);
}

// poll reads the state, and again after a while: longer after a reading that took long, since it costs the gateway something.
async function poll() {
  clearTimeout(timer);
  const mine = ++turn;
  const began = performance.now();
  try {
    const update = await reading();
    if (mine !== turn) return;
    update();
    notice("");
  } catch (error) {
    if (mine !== turn) return;
    if (error instanceof api.Refused && error.status === 401) return askForToken();
    notice(`No answer from the gateway since ${new Date().toLocaleTimeString()}: ${error.message}`, true);
  }
  timer = setTimeout(poll, Math.max(every, 10 * (performance.now() - began)));
}

// reading gets everything that is shown, and returns what shows it.
async function reading() {
  const config = await api.json("api/config"); // first: without the token, nothing else is asked for
  const [upstreams, exposition, ready] = await Promise.all([api.json("api/upstreams"), api.text("metrics"), api.json("readyz", [503])]);
  const list = upstreams ?? [];
  const routes = routesOf === config.hash ? null : await api.json("api/routes");
  const able = can ?? (await abilities(list));
  return () => {
    can = able;
    history.add(read(exposition, Date.now()), list);
    if (routesOf !== config.hash) setRoutes(routes ?? [], history);
    routesOf = config.hash;
    show(config, list, ready);
  };
}

async function abilities(upstreams) {
  const name = upstreams[0]?.name;
  const [breaker, drain, reload, explains] = await Promise.all([
    name !== undefined && api.exists(api.upstreamPath(name, "breaker")), name !== undefined && api.exists(api.upstreamPath(name, "drain")),
    api.exists("api/reload"), api.exists("api/explain"),
  ]);
  return { breaker, drain, reload, explains };
}

function show(config, upstreams, ready) {
  byId("token-form").hidden = true;
  byId("state").hidden = false;
  byId("forget").hidden = !api.token();
  byId("reload").hidden = !can.reload;
  byId("explain-section").hidden = !can.explains;
  const reasons = ready.reasons?.length ? ": " + ready.reasons.join(", ") : "";
  badge(byId("ready"), ready.status + reasons, ready.status !== "ready" ? "bad" : reasons ? "warn" : "good");
  say(byId("version"), history.latest.version ?? "");
  for (const tile of tiles) tile.update(history.of(""), history.now);
  showUpstreams(upstreams, history, can, act);
  showRoutes(history);
  showConfig(config, history.latest.reloadFailed);
}

let sticky = 0; // until when a message stays, whatever the readings say

function notice(text, now = false) {
  if (!text && Date.now() < sticky) return;
  if (!now && text) sticky = Date.now() + 8000;
  say(byId("notice"), text);
  byId("notice").hidden = !text;
}

// act does something, and tells how it went: done is a text, or makes one of the answer.
async function act(action, done) {
  try {
    const answer = await action();
    notice(typeof done === "string" ? done : done(answer));
  } catch (error) {
    notice("It was refused: " + error.message);
  }
  poll();
}

function askForToken() {
  byId("token-wrong").hidden = !api.token();
  api.setToken("");
  history = new History();
  can = routesOf = null;
  byId("state").hidden = byId("forget").hidden = true;
  byId("token-form").hidden = false;
  badge(byId("ready"), "", "");
  say(byId("version"), "");
  byId("token").focus();
}

byId("token-form").addEventListener("submit", (event) => {
  event.preventDefault();
  api.setToken(byId("token").value.trim());
  byId("token").value = "";
  poll();
});
byId("forget").addEventListener("click", () => {
  clearTimeout(timer);
  turn++;
  api.setToken("");
  askForToken();
});
byId("search").addEventListener("input", () => search(history));
byId("reload").addEventListener("click", () => act(() => api.post("api/reload"), outcome));
byId("explain-form").addEventListener("submit", explain);
poll();
