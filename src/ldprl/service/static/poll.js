// Asks again and again, and tells honestly how old the last answer is.

const EVERY = 2000;
const LONGEST_WAIT = 60000;
const PATIENCE = 10000;
/** An answer older than this is called stale, in seconds. */
export const STALE = 10;

/**
 * Fetch `url` every 2 s and hand the JSON to `onData`. After an error wait twice as long, up to a
 * minute. Every second `onAge` hears how many seconds ago the last answer came (null: never), and
 * what went wrong since (null: nothing).
 */
export function poll(url, onData, onAge) {
  let last = null;
  let trouble = null;
  let wait = EVERY;
  const tell = () => onAge(last === null ? null : (performance.now() - last) / 1000, trouble);

  async function ask() {
    try {
      const signal = AbortSignal.timeout(PATIENCE);
      const response = await fetch(url, { cache: "no-store", signal });
      if (!response.ok) throw new Error(`the server answered ${response.status}`);
      onData(await response.json());
      [last, trouble, wait] = [performance.now(), null, EVERY];
    } catch (error) {
      trouble = error instanceof TypeError ? "the server does not answer" : error.message;
      wait = Math.min(2 * wait, LONGEST_WAIT);
    }
    tell();
    setTimeout(ask, wait);
  }

  setInterval(tell, 1000);
  ask();
}
