import { el, say, svg } from "./dom.js";

export const span = 5 * 60 * 1000; // milliseconds that a chart shows

const width = 300, height = 60;

// chart makes a small line chart with its present value. Each line has a name and a key of the points; show formats a value.
export function chart(title, lines, show) {
  const area = svg("path", { class: "area" });
  const paths = lines.map((_, i) => svg("path", { class: i ? "second" : "first" }));
  const picture = svg("svg", { class: "chart", role: "img", viewBox: `0 0 ${width} ${height}`, preserveAspectRatio: "none" }, area, ...paths);
  const value = el("span", { class: "value" });
  const scale = el("span", { class: "scale" });
  const keys = lines.length < 2 ? [] : lines.map((line, i) => el("span", {}, el("span", { class: i ? "key second" : "key" }), line.name));
  const element = el("div", {}, el("div", { class: "tile-head" }, el("span", { class: "name" }, title), value), picture, el("div", { class: "legend" }, scale, ...keys));

  function update(points, now) {
    const top = Math.max(0, ...points.flatMap((point) => lines.map((line) => point[line.key] ?? 0)));
    lines.forEach((line, i) => {
      const runs = runsOf(points, line.key, now, top);
      paths[i].setAttribute("d", runs.map((run) => "M" + run.map((p) => p.join(" ")).join("L")).join(""));
      if (lines.length === 1) {
        area.setAttribute("d", runs.map((run) => `M${run[0][0]} ${height}L${run.map((p) => p.join(" ")).join("L")}L${run.at(-1)[0]} ${height}Z`).join(""));
      }
    });
    const last = points.at(-1) ?? {};
    const shown = lines.map((line) => show(last[line.key] ?? null));
    say(value, shown.join(" / "));
    say(scale, top > 0 ? "at most " + show(top) : "");
    picture.setAttribute("aria-label", `${title} over 5 minutes: now ${lines.map((line, i) => `${line.name} ${shown[i]}`).join(", ")}; at most ${show(top)}`);
  }
  return { element, update };
}

// runsOf are the stretches of a line between gaps, as places in the picture.
function runsOf(points, key, now, top) {
  const runs = [[]];
  for (const point of points) {
    const value = point[key];
    if (value === null || value === undefined) {
      if (runs.at(-1).length) runs.push([]);
      continue;
    }
    runs.at(-1).push([place(point.at, now), (height - 2 - (top > 0 ? value / top : 0) * (height - 6)).toFixed(1)]);
  }
  return runs.filter((run) => run.length);
}

function place(at, now) { return (width * (1 - (now - at) / span)).toFixed(1); }

// strip shows which state there was when.
export function strip(title) {
  const element = svg("svg", { class: "strip", role: "img", viewBox: `0 0 ${width} 10`, preserveAspectRatio: "none" });
  function update(points, now) {
    const changes = points.filter((point, i) => i === 0 || point.state !== points[i - 1].state);
    element.replaceChildren(...changes.map((point, i) => {
      const from = Math.max(0, place(point.at, now)), to = i + 1 < changes.length ? place(changes[i + 1].at, now) : width;
      return svg("rect", { class: point.state, x: from, y: 0, width: Math.max(0, to - from), height: 10 });
    }));
    element.setAttribute("aria-label", `${title} over 5 minutes: ${changes.map((c) => `${c.state} since ${new Date(c.at).toLocaleTimeString()}`).join(", ")}`);
  }
  return { element, update };
}
