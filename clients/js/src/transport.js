// Requests that are repeated until there is a response, never faster than the service allows.

import { sha256 } from "./canonical.js";
import { ServiceError } from "./errors.js";
import { SystemSource } from "./random.js";

const FIRST_DELAY = 1_000;
const LONGEST_DELAY = 60_000;
const LONGEST_PATIENCE = 3_600_000;
const ANSWER_WITHIN = 30_000;
/** How many bytes of a response are read: far more than any policy has. */
const LONGEST_BODY = 2 ** 23;

/** Calls one service. */
export class Transport {
  constructor(url, { fetch = globalThis.fetch, sleep = pause, attempts = 8 } = {}) {
    this.url = String(url).replace(/\/+$/, "");
    this.fetch = (...call) => fetch(...call);
    this.sleep = sleep;
    this.attempts = attempts;
  }

  /** Return the JSON of a GET. */
  async get(path) {
    return (await this.#call(path, { cache: "no-store" })).answer;
  }

  /** Return the JSON of a GET as `answer`, and the SHA-256 of its text, in hex, as `digest`. */
  async getWithDigest(path) {
    const { answer, text } = await this.#call(path, { cache: "no-store" });
    return { answer, digest: await sha256(text) };
  }

  /** Return the JSON that answers a POST of `body`; each attempt sends the same bytes. */
  async post(path, body) {
    const headers = { "content-type": "application/json" };
    return (await this.#call(path, { method: "POST", headers, body })).answer;
  }

  async #call(path, options) {
    for (let attempt = 0; ; attempt += 1) {
      const { answer, text, error, retryAfter } = await this.#once(path, options);
      if (error === undefined) return { answer, text };
      if (!error.later || attempt + 1 >= this.attempts || retryAfter > LONGEST_PATIENCE)
        throw error;
      const delay = Math.min(FIRST_DELAY * 2 ** attempt, LONGEST_DELAY);
      await this.sleep(retryAfter + delay * uniform());
    }
  }

  async #once(path, options) {
    let response;
    let text;
    let answer;
    try {
      const signal = AbortSignal.timeout(ANSWER_WITHIN);
      const common = { credentials: "omit", referrerPolicy: "no-referrer", redirect: "manual" };
      response = await this.fetch(this.url + path, { ...common, signal, ...options });
      if (isRedirect(response)) {
        const message = `${path}: a redirect, which is not followed`;
        return { error: new ServiceError(message, { status: response.status || null }) };
      }
      text = await boundedText(response);
      answer = JSON.parse(text);
    } catch (cause) {
      // No response, or one that is not the service's, such as a proxy's page.
      const status = response?.status ?? null;
      const later = status === null || response.ok || worthRepeating(status);
      const error = new ServiceError(`${path}: ${cause.message}`, { status, later });
      return { error, retryAfter: seconds(response) };
    }
    if (response.ok) return { answer, text };
    const { status } = response;
    const reason = answer?.cause ?? null;
    const message = `${path}: ${status} ${reason ?? ""} ${answer?.detail ?? ""}`.trimEnd();
    const error = new ServiceError(message, { status, reason, later: worthRepeating(status) });
    return { error, retryAfter: seconds(response) };
  }
}

/** Whether the service points elsewhere; browsers hide the status of such a response. */
function isRedirect({ type, status }) {
  return type === "opaqueredirect" || (status >= 300 && status < 400);
}

/** Return the body as text; one of more than LONGEST_BODY bytes is given up on while it arrives. */
async function boundedText(response) {
  const decoder = new TextDecoder();
  let text = "";
  let length = 0;
  for (const reader = response.body.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    length += value.length;
    if (length > LONGEST_BODY) {
      await reader.cancel();
      throw new Error(`a response of more than ${LONGEST_BODY} bytes`);
    }
    text += decoder.decode(value, { stream: true });
  }
}

function worthRepeating(status) {
  return status === 408 || status === 425 || status === 429 || status >= 500;
}

/** Return what Retry-After asks for, in milliseconds; it is a number of seconds, or a date. */
function seconds(response) {
  const text = response?.headers.get("retry-after") ?? "";
  const wait = /^\d+$/.test(text) ? 1_000 * Number(text) : Date.parse(text) - Date.now();
  return Number.isNaN(wait) ? 0 : Math.max(wait, 0);
}

/** Return a number in [0, 1), so that clients that failed together do not come back together. */
function uniform() {
  return new SystemSource().shortWords(1)[0] / 2 ** 32;
}

function pause(milliseconds) {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
