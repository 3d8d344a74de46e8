// How learning went, by users: what is settled, what is certified, what is still lost.

import { element, say, set, shape } from "./dom.js";
import { count, decimal, interval, percent } from "./words.js";

const [WIDTH, HEIGHT] = [600, 160];

/** A drawing of the history, and its description for screen readers. */
export function historyView({ horizon }) {
  const band = shape("polygon", { class: "certified-band" });
  const settled = shape("polyline", { class: "settled-line" });
  const loss = shape("polyline", { class: "loss-line" });
  const labels = [0, 1].map((end) =>
    shape("text", { x: end * WIDTH, y: HEIGHT + 16, "text-anchor": end ? "end" : "start" }),
  );
  const top = shape("text", { x: 0, y: 10 }, `100%, or ${horizon} a user`);
  const frame = { class: "history", viewBox: `0 -6 ${WIDTH} ${HEIGHT + 26}`, role: "img" };
  const axis = shape("line", { class: "axis", x1: 0, x2: WIDTH, y1: HEIGHT, y2: HEIGHT });
  const node = shape("svg", frame, axis, band, settled, loss, top, ...labels);
  const words = element("p", { class: "soft", id: "history-words" });
  const update = (points) => {
    const place = axisOf(points);
    const line = (of) =>
      points
        .filter((point) => of(point) !== null)
        .map((point) => `${place(point.users)},${HEIGHT * (1 - of(point))}`);
    set(settled, { points: line(({ settled: share }) => share).join(" ") });
    set(loss, { points: line(({ loss: lost }) => lost && Math.min(1, lost / horizon)).join(" ") });
    const edge = (end) => line(({ certified }) => certified && certified[end] / horizon);
    set(band, { points: [...edge("low"), ...edge("high").reverse()].join(" ") });
    const ends = points.length ? [points[0], points.at(-1)] : [];
    ends.forEach(({ users }, i) => say(labels[i], `${count(users)} users`));
    const description = inWords(points.at(-1));
    set(node, { "aria-label": description });
    say(words, description);
  };
  return { node: element("div", {}, node, words), update };
}

function axisOf(points) {
  const [first, last] = [points[0]?.users ?? 1, points.at(-1)?.users ?? 1];
  const length = Math.log(last / first) || 1;
  return (users) => (WIDTH * Math.log(users / first)) / length;
}

function inWords(last) {
  if (last === undefined) return "No reports yet.";
  const parts = [];
  if (last.settled !== null) parts.push(`${percent(last.settled)} of the decisions are settled`);
  if (last.loss !== null) parts.push(`what is not known yet may cost ${decimal(last.loss)} a user`);
  if (last.certified !== null) {
    parts.push(`certified worth ${interval(last.certified)}`);
  }
  return `After ${count(last.users)} users: ${parts.join(", ")}.`;
}
