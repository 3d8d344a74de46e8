// A law of policy tables: table i is a function of a public seed and i, the same in every language.

import { InputError, record, wholeNumber } from "./errors.js";
import { MOST_POLICIES } from "./random.js";
import { byState, readPartition } from "./questions/partition.js";

const FIELDS = ["seed", "weights", "where"];
const WHOLE = 2 ** 32;
const SEED = /^[0-9a-f]{32}$/;
const WORDS_IN_BLOCK = 8;

/** Read a law, or refuse it: rows of `weights` are whole numbers that sum to 2³². */
export function readLaw(document, { states, actions, horizon }) {
  const { seed, weights, where } = record("law", document);
  if (!Object.keys(document).every((key) => FIELDS.includes(key))) {
    throw new InputError("law", document, `an object of ${FIELDS.join(", ")}`);
  }
  if (typeof seed !== "string" || !SEED.test(seed)) {
    throw new InputError("law.seed", seed, "32 hexadecimal digits in lower case");
  }
  const cells = where === undefined ? byState(states) : readPartition("law.where", where, states);
  const isRow = (row) =>
    Array.isArray(row) &&
    row.length === actions &&
    row.every((weight) => Number.isInteger(weight) && weight >= 0 && weight <= WHOLE) &&
    row.reduce((total, weight) => total + weight, 0) === WHOLE;
  const isStep = (step) => Array.isArray(step) && step.length === cells.count && step.every(isRow);
  const steps = Array.isArray(weights) ? weights.length : 0;
  if (steps < 1 || steps > horizon || !weights.every(isStep)) {
    const expected = `1 to ${horizon} × ${cells.count} × ${actions} numbers, rows that sum to 2³²`;
    throw new InputError("law.weights", weights, expected);
  }
  return { seed, weights, cells, horizon };
}

/** Return table `number` of a law: actions, `table[step][state]`. */
export async function tableOf({ seed, weights, cells, horizon }, number) {
  wholeNumber("number", number, 0, MOST_POLICIES - 1);
  const rows = weights.flat();
  const words = await wordsOf(seed, number, rows.length);
  const actions = rows.map((row, place) => {
    let cumulated = 0;
    return row.findIndex((weight) => {
      cumulated += weight;
      return words[place] < cumulated;
    });
  });
  return Array.from({ length: horizon }, (_, step) => {
    // The last steps have actions of their own, all steps before them share the first.
    const start = Math.max(step - (horizon - weights.length), 0) * cells.count;
    return cells.cell.map((cell) => actions[start + cell]);
  });
}

/** SHA-256 in counter mode: block j is the digest of seed, number (8 bytes) and j (4 bytes). */
async function wordsOf(seed, number, count) {
  const message = new DataView(new ArrayBuffer(28));
  seed.match(/../g).forEach((pair, place) => message.setUint8(place, Number.parseInt(pair, 16)));
  message.setBigUint64(16, BigInt(number));
  const blocks = [];
  for (let block = 0; block * WORDS_IN_BLOCK < count; block += 1) {
    message.setUint32(24, block);
    blocks.push(crypto.subtle.digest("SHA-256", message.buffer.slice(0)));
  }
  const digests = await Promise.all(blocks);
  const view = digests.map((digest) => new DataView(digest));
  return Array.from({ length: count }, (_, place) =>
    view[Math.floor(place / WORDS_IN_BLOCK)].getUint32(4 * (place % WORDS_IN_BLOCK)),
  );
}
