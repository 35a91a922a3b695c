import * as api from "./api.js";
import { byId } from "./dom.js";

// explain asks why the gateway would answer a request as it does, and shows what it says.
export async function explain(event) {
  event.preventDefault();
  const output = byId("explained");
  try {
    const said = await ask(byId("explain-method").value, byId("explain-url").value, byId("explain-headers").value, byId("explain-token").value.trim());
    output.textContent = pretty(said);
  } catch (error) {
    output.textContent = "That can't be explained: " + error.message;
  }
  output.hidden = false;
}

function ask(method, url, lines, token) {
  const headers = {};
  for (const line of lines.split("\n").filter((l) => l.trim())) {
    const colon = line.indexOf(":");
    if (colon < 1) throw new Error(`"${line}" is not a header: write NAME: VALUE`);
    headers[line.slice(0, colon).trim()] = line.slice(colon + 1).trim();
  }
  if (!token && Object.keys(headers).length === 0) return api.text("api/explain?" + new URLSearchParams({ method, url }), { headers: { Accept: "text/plain" } });
  return api.text("api/explain", { // a token belongs in no address
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "text/plain" },
    body: JSON.stringify({ method, url, headers, token }),
  });
}

function pretty(text) {
  try { return JSON.stringify(JSON.parse(text), null, 2); } catch { return text; }
}
