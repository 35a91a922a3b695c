import { byId, clock, el } from "./dom.js";

// showConfig tells which config is in service, and what became of the last reload.
export function showConfig(config, reloadFailed) {
  const { last_reload: last, last_rejected: rejected } = config;
  const code = (text) => text && el("span", { class: "code" }, text);
  const rows = [["Hash", code(config.hash)], ["Source", config.source], ["Loaded", config.loaded && clock(config.loaded)]];
  if (last) {
    rows.push(["Last reload", `${last.result}, ${clock(last.at)}${last.trigger ? ", by " + last.trigger : ""}`], ["Changes", summary(last.changes)],
      ["Needs a restart", last.changes?.restart?.join(", ")]);
  } else if (reloadFailed) {
    rows.push(["Last reload", "failure: the config above stays in service"]);
  }
  if (rejected) rows.push(["Rejected", code(rejected.hash ?? "a file that can't be read")], ["Rejected at", rejected.at && clock(rejected.at)]);
  byId("config").replaceChildren(...rows.filter(([, value]) => value).flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
  byId("problems").replaceChildren(...(rejected?.problems ?? []).map((problem) => el("li", { class: "bad" }, String(problem))));
}

function summary(changes) {
  if (!changes) return "";
  return ["added", "changed", "removed", "kept"].map((what) => `${changes[what]?.length ?? 0} ${what}`).join(", ");
}

// outcome says what became of a reload that was asked for here.
export function outcome(answer) {
  const { result, changes } = JSON.parse(answer || "{}");
  if (result === "unchanged") return "The file is the config in service: nothing changed.";
  return "The config was reloaded" + (changes ? ": " + summary(changes) : "") + ".";
}
