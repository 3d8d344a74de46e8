// Activations of +, −, ×, ÷ and comparisons alone: the same bits as in Python. NaN stays NaN.

/** Return tanh x: Padé's fraction at x/8, then thrice tanh 2y = 2t/(1 + t²). */
export function tanh(x) {
  const y = Math.max(Math.min(x, 20), -20) / 8;
  const s = y * y;
  const top = ((s + 378) * s + 17325) * s + 135135;
  const bottom = ((28 * s + 3150) * s + 62370) * s + 135135;
  let t = (y * top) / bottom;
  for (let times = 0; times < 3; times += 1) t = (t + t) / (1 + t * t);
  return t;
}

function softsign(x) {
  const y = Math.max(Math.min(x, 1e300), -1e300);
  return y / (1 + Math.abs(y));
}

const relu = (x) => Math.max(x, 0);

export const ACTIVATIONS = { tanh, relu, softsign };
