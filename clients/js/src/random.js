// Uniform random numbers, exactly: the same ones as in Python from the same bytes.

/** How many policies a law has: their numbers are those that every language reads exactly. */
export const MOST_POLICIES = 2 ** 53;
const CHUNK = 65536;

/** Where random bits come from; a subclass has `randomBytes(count)`. */
export class RandomSource {
  /** Return `count` 32-bit words, as halves of 64-bit ones. */
  shortWords(count) {
    const view = this.#view(8 * Math.ceil(count / 2));
    const words = new Uint32Array(count);
    for (let i = 0; i < count; i += 1) words[i] = view.getUint32(4 * i, true);
    return words;
  }

  /** Return `count` 64-bit words. */
  words(count) {
    const view = this.#view(8 * count);
    return Array.from({ length: count }, (_, i) => view.getBigUint64(8 * i, true));
  }

  /** Return, for `count` 64-bit words, 1 where the word lies below `threshold` and 0 elsewhere. */
  coins(count, threshold) {
    const view = this.#view(8 * count);
    const [high, low] = [Number(threshold >> 32n), Number(threshold & 0xffffffffn)];
    const result = new Uint8Array(count);
    for (let i = 0; i < count; i += 1) {
      const top = view.getUint32(8 * i + 4, true);
      if (top < high || (top === high && view.getUint32(8 * i, true) < low)) result[i] = 1;
    }
    return result;
  }

  /** Return a uniform BigInt in [0, bound), by rejection. */
  below(bound) {
    const bits = bound > 1n ? (bound - 1n).toString(2).length : 0;
    const size = Math.ceil(bits / 8);
    for (;;) {
      let value = 0n;
      for (const byte of this.randomBytes(size).reverse()) value = (value << 8n) | BigInt(byte);
      value >>= BigInt(8 * size - bits);
      if (value < bound) return value;
    }
  }

  /** Return `count` uniform integers in [0, bound): numbers if 32 bits suffice, else BigInts. */
  belowMany(bound, count) {
    if (bound <= 2 ** 32) return this.#belowShort(Number(bound), count);
    if (bound > 1n << 63n) return Array.from({ length: count }, () => this.below(bound));
    const shift = BigInt(64 - (bound - 1n).toString(2).length);
    const propose = (wanted) => this.words(wanted).map((word) => word >> shift);
    return accepted((wanted) => propose(wanted).filter((draw) => draw < bound), count);
  }

  /**
   * A 32-bit word x becomes ⌊x·bound/2³²⌋; those that would make some results likelier than
   * others, where x·bound mod 2³² < 2³² mod bound, are drawn again (Lemire 2019).
   */
  #belowShort(bound, count) {
    const result = new Array(count).fill(0);
    if (bound === 1) return result;
    const uneven = 2 ** 32 % bound;
    let pending = indices(count);
    while (pending.length > 0) {
      const words = this.shortWords(pending.length);
      pending = pending.filter((place, i) => {
        result[place] = highProduct(words[i], bound);
        return Math.imul(words[i], bound) >>> 0 < uneven;
      });
    }
    return result;
  }

  #view(size) {
    const bytes = this.randomBytes(size);
    return new DataView(bytes.buffer, bytes.byteOffset, size);
  }
}

/** The platform's cryptographic generator: what a client uses. */
export class SystemSource extends RandomSource {
  randomBytes(count) {
    const bytes = new Uint8Array(count);
    for (let start = 0; start < count; start += CHUNK) {
      globalThis.crypto.getRandomValues(bytes.subarray(start, start + CHUNK));
    }
    return bytes;
  }
}

/** Return the number of a user's policy: uniform, and anew for every episode. */
export function drawNumber(source) {
  return Number(source.below(BigInt(MOST_POLICIES)));
}

/** Collect proposals until `count` of them have been accepted. */
export function accepted(propose, count) {
  let result = propose(count);
  while (result.length < count) result = result.concat(propose(2 * (count - result.length) + 8));
  return result.slice(0, count);
}

/** Return 0, 1, …, count − 1. */
export function indices(count) {
  const result = new Array(count);
  for (let i = 0; i < count; i += 1) result[i] = i;
  return result;
}

/** Return ⌊x·y/2³²⌋ for x < 2³² and y ≤ 2³²; no product here exceeds 53 bits. */
function highProduct(x, y) {
  const low = Math.floor(((x % 65536) * y) / 65536);
  return Math.floor((Math.floor(x / 65536) * y + low) / 65536);
}
