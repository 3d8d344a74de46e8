/** Bad input, refused where it comes in: names the field, the value and what was expected. */
export class InputError extends Error {
  constructor(field, value, expected) {
    super(`${field} = ${written(value)}: expected ${expected}`);
    this.name = "InputError";
    this.field = field;
    this.value = value;
    this.expected = expected;
  }
}

/** An episode with which another tab has gone on: `begin()` returns it as it is now. */
export class OvertakenError extends InputError {}

/** A service that did not do what was asked of it: try again later, or not at all. */
export class ServiceError extends Error {
  constructor(message, { status = null, reason = null, later = false } = {}) {
    super(message);
    this.name = "ServiceError";
    this.status = status;
    this.reason = reason;
    this.later = later;
  }
}

/** Return `value` if it is a whole number from `least` to `most`, or refuse it. */
export function wholeNumber(field, value, least, most = Number.MAX_SAFE_INTEGER) {
  if (!Number.isSafeInteger(value) || value < least || value > most) {
    const range = most === Number.MAX_SAFE_INTEGER ? `≥ ${least}` : `from ${least} to ${most}`;
    throw new InputError(field, value, `a whole number ${range}`);
  }
  return value;
}

/** Return `value` if it is an object with named fields, or refuse it. */
export function record(field, value) {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new InputError(field, value, "an object");
  }
  return value;
}

function written(value) {
  const text = typeof value === "bigint" ? String(value) : (JSON.stringify(value) ?? String(value));
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
