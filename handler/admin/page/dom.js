// Elements without HTML text: whatever a name contains, it stays a text.

export function el(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== undefined && child !== null));
  return element;
}

export function byId(id) { return document.getElementById(id); }

// say changes a text only if it is another one, so that a reader isn't told the same again.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function badge(element, text, kind) {
  say(element, text);
  element.className = "badge " + kind;
}

// keyed keeps one view for each key in a container, in the order of the keys: an element that stays keeps its focus.
export function keyed(container, views, keys, make) {
  for (const [key, view] of views) {
    if (!keys.includes(key)) {
      view.element.remove();
      views.delete(key);
    }
  }
  keys.forEach((key, i) => {
    if (!views.has(key)) views.set(key, make(key));
    const { element } = views.get(key);
    if (container.children[i] !== element) container.insertBefore(element, container.children[i] ?? null);
  });
}

// number is a cell of a table. The label stands before it where the screen is too narrow for columns.
export function number(label) { return el("td", { class: "number", "data-label": label }); }

const digits = (value) => (value === 0 ? "0" : value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));

export function perSecond(value) { return value === null ? "–" : digits(value) + "/s"; }
export function percent(share) { return share === null ? "–" : digits(share * 100) + " %"; }
export function plain(value) { return value === null || value === undefined ? "–" : String(value); }
export function time(seconds) {
  if (seconds === null) return "–";
  return seconds < 1 ? digits(seconds * 1000) + " ms" : digits(seconds) + " s";
}
export function clock(date) {
  const d = new Date(date);
  return isNaN(d) ? plain(date) : d.toLocaleString(undefined, { dateStyle: "medium", timeStyle: "medium" });
}
