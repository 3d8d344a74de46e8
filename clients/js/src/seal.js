// Sealing a report to the service's key: HPKE (RFC 9180), base mode, on WebCrypto alone.
//
// DHKEM(X25519, HKDF-SHA256), HKDF-SHA256, AES-128-GCM. The deployment's digest, the version and the
// digest of the plan that the user had are the `info`: what was sealed for one of them does not open
// under another.

import { InputError } from "./errors.js";

const KEM = "KEM\x00\x20";
const HPKE = "HPKE\x00\x20\x00\x01\x00\x01";
const HASH_BYTES = 32;
const KEY_BYTES = 16;
const NONCE_BYTES = 12;
const NOTHING = new Uint8Array(0);
const SPACE = 0x20;

/** Return `report`, padded with spaces to `size` bytes, sealed to the public `key` (hex). */
export async function seal(report, size, key, digest, version, plan) {
  const text = new TextEncoder().encode(report);
  if (text.length > size) {
    throw new InputError("report", `${text.length} bytes`, `at most ${size}, as the plan says`);
  }
  const padded = new Uint8Array(size).fill(SPACE);
  padded.set(text);
  const info = new TextEncoder().encode(`ldprl report ${digest} ${version} ${plan}`);
  return sealBytes(padded, fromHex(key), info);
}

/** Return the encapsulated key and the ciphertext, as one. */
async function sealBytes(plain, publicKey, info) {
  const { subtle } = globalThis.crypto;
  const algorithm = { name: "X25519" };
  const own = await subtle.generateKey(algorithm, false, ["deriveBits"]);
  const theirs = await subtle.importKey("raw", publicKey, algorithm, false, []);
  const enc = new Uint8Array(await subtle.exportKey("raw", own.publicKey));
  const wanted = { name: "X25519", public: theirs };
  const shared = new Uint8Array(await subtle.deriveBits(wanted, own.privateKey, 8 * HASH_BYTES));
  const first = await extract(KEM, NOTHING, "eae_prk", shared);
  const secret = await expand(KEM, first, "shared_secret", join(enc, publicKey), HASH_BYTES);

  const context = join(
    [0],
    await extract(HPKE, NOTHING, "psk_id_hash", NOTHING),
    await extract(HPKE, NOTHING, "info_hash", info),
  );
  const second = await extract(HPKE, secret, "secret", NOTHING);
  const raw = await expand(HPKE, second, "key", context, KEY_BYTES);
  const iv = await expand(HPKE, second, "base_nonce", context, NONCE_BYTES);
  const key = await subtle.importKey("raw", raw, "AES-GCM", false, ["encrypt"]);
  const sealed = await subtle.encrypt({ name: "AES-GCM", iv }, key, plain);
  return join(enc, new Uint8Array(sealed));
}

/** Write bytes in base64. */
export function base64(bytes) {
  return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""));
}

/** Read hexadecimal digits. */
export function fromHex(text) {
  return Uint8Array.from(text.match(/../g) ?? [], (pair) => Number.parseInt(pair, 16));
}

function extract(suite, salt, label, keying) {
  return hmac(salt, join(ascii(`HPKE-v1${suite}${label}`), keying));
}

async function expand(suite, secret, label, info, length) {
  // No more than one block of HKDF's output is ever needed here.
  const labelled = join([0, length], ascii(`HPKE-v1${suite}${label}`), info);
  return (await hmac(secret, join(labelled, [1]))).slice(0, length);
}

async function hmac(secret, data) {
  const { subtle } = globalThis.crypto;
  // WebCrypto takes no empty key; HMAC pads keys with zeros anyway.
  const raw = secret.length === 0 ? new Uint8Array(HASH_BYTES) : secret;
  const algorithm = { name: "HMAC", hash: "SHA-256" };
  const key = await subtle.importKey("raw", raw, algorithm, false, ["sign"]);
  return new Uint8Array(await subtle.sign("HMAC", key, data));
}

function ascii(text) {
  return Uint8Array.from(text, (letter) => letter.charCodeAt(0));
}

function join(...parts) {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0));
  let place = 0;
  for (const part of parts) {
    whole.set(part, place);
    place += part.length;
  }
  return whole;
}
