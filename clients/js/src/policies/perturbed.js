// A law of policies θ = μ + σ∘ξ, with ξ a public function of a seed and of a policy's number.

import { InputError, wholeNumber } from "../errors.js";
import { LARGEST_PARAMETER, fromBase64, table } from "./written.js";

const SEED = /^[0-9a-f]{32}$/;
const IN_BLOCK = 64;
const WIDE = 26;
const SLACK = 1 + 1e-6;
const ONES = [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4];

/** As many policies as a client can draw numbers. */
export const POLICIES = 2 ** 53;

/** Read a law, or refuse it: NaN, another length, spreads below 0 or beyond the problem's unit. */
export class Perturbed {
  constructor(document, problem) {
    const { seed, mean, spread } = table("law", document, ["seed", "mean", "spread"]);
    if (typeof seed !== "string" || !SEED.test(seed)) {
      throw new InputError("law.seed", seed, "32 hexadecimal digits in lower case");
    }
    this.seed = seed;
    this.problem = problem;
    this.mean = fromBase64("law.mean", mean, problem.size);
    this.spread = fromBase64("law.spread", spread, problem.size);
    if (this.spread.some((value) => value < 0)) {
      throw new InputError("law.spread", "below 0", "numbers ≥ 0");
    }
    if (this.spread.some((value, j) => Math.abs(this.mean[j]) + 2 * value > LARGEST_PARAMETER)) {
      throw new InputError("law.mean", "more", "at most 2^100, with twice the spread");
    }
    const square = this.spread.reduce((sum, value) => sum + value * value, 0) / problem.size;
    const most = problem.spread * SLACK;
    if (square > most * most) {
      const expected = `a root of the mean square of at most ${problem.spread}`;
      throw new InputError("law.spread", Math.sqrt(square), expected);
    }
  }

  /** Return ξ of policy `number`: ones among four bits, less two, the high half of a byte first. */
  async perturbation(number) {
    const { size } = this.problem;
    const blocks = await this.#blocks(number, 1, Math.ceil(size / IN_BLOCK));
    return Int8Array.from({ length: size }, (_, j) => {
      const byte = blocks[Math.floor(j / IN_BLOCK)][(j % IN_BLOCK) >> 1];
      return ONES[j % 2 === 0 ? byte >> 4 : byte & 15] - 2;
    });
  }

  /** Return 32 random bits for the threshold of policy `number`, and whether it is a wide one. */
  async publicWords(number) {
    const [block] = await this.#blocks(number, 0, 1);
    return { r: new DataView(block.buffer).getUint32(0), wide: block[4] < WIDE };
  }

  /** Return θ of policy `number`: float32 numbers. */
  async policy(number) {
    const shifts = await this.perturbation(number);
    return this.mean.map((mean, j) => Math.fround(shifts[j] * this.spread[j] + mean));
  }

  /** SHA-256 in counter mode: block b is the digest of seed, number (8 bytes) and b (4 bytes). */
  async #blocks(number, first, count) {
    wholeNumber("policy", number, 0, POLICIES - 1);
    const message = new DataView(new ArrayBuffer(28));
    this.seed.match(/../g).forEach((pair, i) => message.setUint8(i, Number.parseInt(pair, 16)));
    message.setBigUint64(16, BigInt(number));
    const digests = Array.from({ length: count }, (_, b) => {
      message.setUint32(24, first + b);
      return crypto.subtle.digest("SHA-256", message.buffer.slice(0));
    });
    return (await Promise.all(digests)).map((digest) => new Uint8Array(digest));
  }
}
