// Elements without a framework: no markup from strings, so no label can become markup.

const SVG = "http://www.w3.org/2000/svg";

/** Make an element; `attributes` with a function as value are event listeners. */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/** Make an SVG element. */
export function shape(tag, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), attributes, children);
}

/** A drawing that is 100 wide and 10 high, stretched to fit its place. */
export function strip(kind, ...children) {
  const frame = { class: `bar ${kind}`, viewBox: "0 0 100 10", preserveAspectRatio: "none" };
  return shape("svg", { ...frame, "aria-hidden": "true" }, ...children);
}

/** A bar that shows a share of a whole. */
export function shareBar() {
  const fill = shape("rect", { class: "fill", height: 10, width: 0 });
  const node = strip("share", shape("rect", { class: "track", height: 10, width: 100 }), fill);
  return { node, update: (share) => set(fill, { width: 100 * clamp(share) }) };
}

/** Set attributes of an element. */
export function set(node, attributes) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, String(value));
}

/** Change a text only where it differs, so that a screen reader does not repeat it. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Keep a number within [0, 1]. */
export function clamp(number) {
  return Math.min(1, Math.max(0, number));
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, String(value));
  }
  node.append(...children);
  return node;
}
