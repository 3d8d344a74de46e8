// Fetches a URL repeatedly and reports how old the last response is.

const EVERY = 2000;
const LONGEST_WAIT = 60000;
const PATIENCE = 10000;
/** A response older than this is called stale, in seconds. */
export const STALE = 10;

/**
 * Fetch `url` every 2 s and pass the JSON to `onData`. After an error wait twice as long, up to a
 * minute. Every second call `onAge` with the age of the last response in seconds (null: none yet) and
 * the error since then (null: none).
 */
export function poll(url, onData, onAge) {
  let last = null;
  let trouble = null;
  let wait = EVERY;
  const reportAge = () => onAge(last === null ? null : (performance.now() - last) / 1000, trouble);

  async function ask() {
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const response = await fetch(url, { cache: "no-store", signal });
      if (!response.ok) throw new Error(`the server responded ${response.status}`);
      onData(await response.json());
      [last, trouble, wait] = [performance.now(), null, EVERY];
    } catch (error) {
      trouble = error instanceof TypeError ? "the server does not respond" : error.message;
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
    reportAge();
    setTimeout(ask, wait);
  }

  setInterval(reportAge, 1000);
  ask();
}
