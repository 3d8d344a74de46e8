// How learning went, by users: a chart for each thing that is known, with axes of its own.

import { element, say, set, shape } from "./dom.js";
import { count, decimal, interval, percent, toError } from "./words.js";

const [WIDTH, HEIGHT] = [360, 130];
/** Lines across a chart, beside the lowest, at most. */
const MOST_STEPS = 4;
/** Room for the numbers of the axes. */
const [LEFT, BELOW, ABOVE] = [46, 34, 8];

/** A drawing of the history, and its description. */
export function historyView({ reward }) {
  const unit = `“${reward}”, times a user`;
  const charts = [
    chart("decisions settled", "% of decisions", "settled-line", ({ settled }) => part(settled, 100), [0, 100]),
    chart("certified worth", unit, "certified-line", ({ certified }) => certified && middle(certified)),
    chart("what a user may still lose", unit, "loss-line", ({ loss }) => part(loss, 1), [0, 0]),
    chart("what users earn", `${reward}, a user`, "earned-line", ({ value, error }) =>
      value === undefined || value === null
        ? null
        : { at: value, low: value - error, high: value + error },
    ),
  ];
  const words = element("p", { class: "soft", id: "history-words" });
  const update = (points) => {
    for (const one of charts) one.update(points);
    say(words, inWords(points.at(-1)));
  };
  const grid = element("div", { class: "charts" }, ...charts.map(({ node }) => node));
  return { node: element("div", {}, grid, words), update };
}

function part(number, factor) {
  if (number === null || number === undefined) return null;
  return { at: factor * number, low: factor * number, high: factor * number };
}

function middle({ low, high }) {
  return { at: (low + high) / 2, low, high };
}

/** A chart of one line and its range; `of(point)` is { at, low, high }, or null where nothing is known. */
function chart(name, unit, kind, of, range = [Infinity, -Infinity]) {
  const band = shape("polygon", { class: `${kind} band` });
  const line = shape("polyline", { class: kind });
  const text = (attributes) => shape("text", attributes);
  const heights = Array.from({ length: MOST_STEPS + 1 }, () => ({
    node: text({ x: LEFT - 5, "text-anchor": "end" }),
    line: shape("line", { class: "axis", x1: LEFT, x2: LEFT + WIDTH }),
  }));
  const grid = heights.map(({ line: one }) => one);
  const widths = [0, 0.5, 1].map((place) => {
    const anchor = place === 0 ? "start" : place === 1 ? "end" : "middle";
    const at = { x: LEFT + WIDTH * place, y: ABOVE + HEIGHT + 15, "text-anchor": anchor };
    return { place, node: text(at) };
  });
  const axis = text({ x: LEFT + WIDTH / 2, y: ABOVE + HEIGHT + 30, "text-anchor": "middle" });
  axis.append("users");
  const frame = {
    class: "history",
    viewBox: `0 0 ${LEFT + WIDTH + 4} ${ABOVE + HEIGHT + BELOW}`,
    role: "img",
  };
  const numbers = [...heights, ...widths].map(({ node }) => node);
  const drawing = shape("svg", frame, ...grid, band, line, ...numbers, axis);
  const caption = element("figcaption", {}, `${name} (${unit})`);
  const node = element("figure", { class: "chart" }, caption, drawing);
  const update = (points) => {
    const known = points.filter((point) => of(point) !== null);
    node.hidden = known.length < 2;
    if (node.hidden) return;
    const seen = known.map(of);
    const low = Math.min(range[0], ...seen.map((one) => one.low));
    const high = Math.max(range[1], ...seen.map((one) => one.high));
    const { bottom, step, steps } = ticks(low, high);
    const y = (value) => ABOVE + HEIGHT * (1 - (value - bottom) / step / steps);
    const { x, users } = axisOf(known);
    const edge = (end) => known.map((point, i) => `${x(point.users)},${y(seen[i][end])}`);
    set(line, { points: edge("at").join(" ") });
    set(band, { points: [...edge("low"), ...edge("high").reverse()].join(" ") });
    heights.forEach(({ node: label, line: one }, place) => {
      const height = y(bottom + step * Math.min(place, steps));
      set(one, { y1: height, y2: height });
      set(label, { y: height + 4 });
      say(label, place <= steps ? short(bottom + step * place) : "");
    });
    widths.forEach(({ node: label, place }) => say(label, count(users(place))));
    const last = known.at(-1);
    const label = `${name}: ${short(seen.at(-1).at)} (${unit}) after ${count(last.users)} users`;
    set(drawing, { "aria-label": label });
  };
  return { node, update };
}

/** Return the lowest of a few round numbers that reach from `low` to `high`, their distance and number. */
function ticks(low, high) {
  const least = (high - low || Math.abs(high) || 1) / MOST_STEPS;
  for (let unit = 10 ** Math.floor(Math.log10(least)); ; unit *= 10) {
    for (const step of [unit, 2 * unit, 2.5 * unit, 5 * unit]) {
      const bottom = Math.floor(low / step + 1e-9) * step;
      const steps = Math.max(1, Math.ceil((high - bottom) / step - 1e-9));
      if (steps <= MOST_STEPS) return { bottom, step, steps };
    }
  }
}

/** Users on a logarithmic axis: where each number of them stands, and how many stand at a place. */
function axisOf(points) {
  const [first, last] = [points[0].users, points.at(-1).users];
  const length = Math.log(last / first) || 1;
  return {
    x: (users) => LEFT + (WIDTH * Math.log(users / first)) / length,
    users: (place) => first * (last / first) ** place,
  };
}

/** Write a number of an axis. */
function short(number) {
  return String(Number(number.toPrecision(3)));
}

function inWords(last) {
  if (last === undefined) return "No reports yet.";
  const parts = [];
  if (last.settled !== null) parts.push(`${percent(last.settled)} of the decisions are settled`);
  if (last.loss !== null) parts.push(`what is not known yet may cost ${decimal(last.loss)} a user`);
  if (last.certified !== null) {
    parts.push(`certified worth ${interval(last.certified)}`);
  }
  if ((last.value ?? null) !== null) {
    const [value, error] = toError(last.error, last.value, last.error);
    parts.push(`users earn ${value} ± ${error}`);
  }
  return `After ${count(last.users)} users: ${parts.join(", ")}.`;
}
