import { createCipheriv, createHash } from "node:crypto";

import { RandomSource } from "../src/random.js";

const BLOCK = new Uint8Array(1 << 20);

/** Reproducible bits, for tests; draws smaller than a block. Gives no privacy. */
export class InsecureSource extends RandomSource {
  constructor(seed) {
    super();
    const key = createHash("sha256").update(String(seed)).digest();
    this.cipher = createCipheriv("aes-256-ctr", key, new Uint8Array(16));
    this.used = BLOCK.length;
  }

  randomBytes(count) {
    if (this.used + count > BLOCK.length) {
      this.block = new Uint8Array(this.cipher.update(BLOCK));
      this.used = 0;
    }
    this.used += count;
    return this.block.slice(this.used - count, this.used);
  }
}
