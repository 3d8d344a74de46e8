import { RandomSource } from "../src/random.js";

/** Hands out given bytes, for tests. Gives no privacy. */
export class ReplayedSourceForTests extends RandomSource {
  constructor(hex) {
    super();
    this.bytes = Uint8Array.from(hex.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
    this.used = 0;
  }

  get exhausted() {
    return this.used === this.bytes.length;
  }

  randomBytes(count) {
    if (this.used + count > this.bytes.length) throw new Error("no bytes left to replay");
    this.used += count;
    return this.bytes.slice(this.used - count, this.used);
  }
}
