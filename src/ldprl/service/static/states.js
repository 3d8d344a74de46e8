// Which states a card shows: those that match what is typed, a page of them at a time.

import { element, say } from "./dom.js";
import { count } from "./words.js";

/**
 * A filter (names that have all of what is typed, parted by commas) and a pager for `labels`, hidden where all fit on one page of `size`. `onChange` is called
 * when others are to be shown; `shown()` says which.
 */
export function stateChooser(labels, size, onChange) {
  const pages = () => Math.max(1, Math.ceil(matching().length / size));
  let page = 0;
  const filter = element("input", {
    type: "search",
    placeholder: "all states",
    "aria-label": "Show states whose name has",
    input: () => turn(-Infinity),
  });
  const words = element("span", { class: "soft", role: "status" });
  const back = element("button", { type: "button", click: () => turn(-1) }, "Previous");
  const on = element("button", { type: "button", click: () => turn(1) }, "Next");
  const node = element("div", { class: "chooser" }, filter, back, on, words);
  node.hidden = labels.length <= size;

  function matching() {
    const parts = filter.value.toLowerCase().split(",").map((part) => part.trim());
    const indices = labels.map((_, state) => state);
    return indices.filter((state) => {
      const label = labels[state].toLowerCase();
      return parts.every((part) => label.includes(part));
    });
  }

  function shown() {
    return matching().slice(page * size, (page + 1) * size);
  }

  function turn(by) {
    page = Math.min(Math.max(0, page + by), pages() - 1);
    describe();
    onChange();
  }

  function describe() {
    const [all, few] = [matching().length, shown().length];
    const first = page * size + 1;
    say(words, all === 0 ? "no such state" : `${first}–${first + few - 1} of ${count(all)} states`);
    back.disabled = page === 0;
    on.disabled = page === pages() - 1;
  }

  describe();
  return { node, shown };
}
