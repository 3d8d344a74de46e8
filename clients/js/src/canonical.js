// JSON that every language writes in the same bytes, and its digest.

import { InputError } from "./errors.js";

const ASCII = /^[\x20-\x7e]*$/;

/** Write `value` with sorted keys and no spaces; floats have no agreed form and are refused. */
export function canonicalJson(value) {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value === "object" && value !== null) {
    const fields = Object.keys(value)
      .sort()
      .map((key) => `${canonicalKey(key)}:${canonicalJson(value[key])}`);
    return `{${fields.join(",")}}`;
  }
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    throw new InputError("document", value, "whole numbers of at most 53 bits");
  }
  if (!["number", "string", "boolean"].includes(typeof value) && value !== null) {
    throw new InputError("document", value, "JSON");
  }
  return JSON.stringify(value);
}

/** Return the SHA-256 of the canonical JSON of `document`, in hex. */
export async function digestOf(document) {
  return sha256(canonicalJson(document));
}

/** Return the SHA-256 of `text`, in hex. */
export async function sha256(text) {
  const subtle = globalThis.crypto?.subtle;
  if (subtle === undefined) {
    throw new Error("no crypto.subtle: serve the page over https, or from localhost");
  }
  return hex(new Uint8Array(await subtle.digest("SHA-256", new TextEncoder().encode(text))));
}

/** Write bytes in lower-case hex. */
export function hex(bytes) {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function canonicalKey(key) {
  // Beyond ASCII, languages sort by different units.
  if (!ASCII.test(key)) throw new InputError("document key", key, "plain ASCII");
  return JSON.stringify(key);
}
