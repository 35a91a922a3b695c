// What the page asks of the listener that it came from. The token is sent as a header only, so it is in no address and no log.

const kept = "gatehouse-admin-token";

export function token() { return sessionStorage.getItem(kept) ?? ""; }

export function setToken(value) {
  if (value) sessionStorage.setItem(kept, value);
  else sessionStorage.removeItem(kept);
}

// Refused is an answer that isn't what was asked for.
export class Refused extends Error {
  constructor(status, detail) {
    super(detail || "status " + status);
    this.status = status;
  }
}

async function ask(path, options = {}) {
  const headers = { ...options.headers };
  if (path.startsWith("api/") && token()) headers.Authorization = "Bearer " + token();
  return fetch(path, { ...options, headers, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(10000) });
}

// text is a body, of whatever status is allowed.
export async function text(path, options, allowed = []) {
  const answer = await ask(path, options);
  const body = await answer.text();
  if (answer.ok || allowed.includes(answer.status)) return body;
  let detail = body.slice(0, 300);
  try {
    const said = JSON.parse(body);
    detail = said.detail ?? said.problems?.join("; ") ?? "";
  } catch { /* not an answer of the gateway's */ }
  throw new Refused(answer.status, detail);
}

export async function json(path, allowed) { return JSON.parse(await text(path, undefined, allowed)); }

export async function post(path, body) {
  return text(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) });
}

// exists tells whether the gateway has an endpoint, without using it: one for POST answers GET with 405.
export async function exists(path) {
  const answer = await ask(path);
  await answer.body?.cancel();
  return answer.status !== 404 && answer.status !== 401;
}

export function upstreamPath(name, action) { return `api/upstreams/${encodeURIComponent(name)}/${action}`; }
