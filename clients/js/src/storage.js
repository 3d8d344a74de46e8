// Where a ledger is kept: on disk before anything that depends on it happens.
//
// A storage has two methods. `read()` resolves to the entries. `change(work)` calls the synchronous
// `work(entries)`, which returns { entries, result }, and resolves to `result` when the new entries
// are safe; nobody else changes them meanwhile, and if `work` throws nothing is changed. Where several
// pages share a storage it has a third, `alone(work)`, which awaits `work()` in one of them at a time.

import { InputError } from "./errors.js";

const DATABASE = "ldprl";
const STORE = "ledger";
const KEY = "book";
/** Where earlier versions of this client kept their ledger, which browsers write seconds later. */
const LOCAL_STORAGE_KEY = "ldprl-ledger";

/**
 * The browser's database for this site. A change is written to disk ("strict" durability) before
 * it resolves. A ledger that an earlier version left in localStorage is taken over first.
 */
export class BrowserStorage {
  #database = null;

  async read() {
    return this.change((entries) => ({ entries, result: entries }));
  }

  async change(work) {
    const database = await this.#opened();
    const old = globalThis.localStorage?.getItem(LOCAL_STORAGE_KEY) ?? null;
    const result = await strictly(database, (kept) => {
      const before = checked(kept ?? { format: 1, entries: [] });
      const { entries, result } = work(old === null ? before : merged(before, parsed(old)));
      return { value: { format: 1, entries }, changed: old !== null || entries !== before, result };
    });
    if (old !== null) globalThis.localStorage.removeItem(LOCAL_STORAGE_KEY);
    return result;
  }

  /** Tabs of one site take turns; the browser ends the turn of one that is closed or killed. */
  async alone(work) {
    return globalThis.navigator.locks.request(DATABASE, work);
  }

  #opened() {
    this.#database ??= opened().catch((error) => {
      this.#database = null;
      throw error;
    });
    return this.#database;
  }
}

/** Keeps entries for as long as the page is open. For invented users: a real one reports again. */
export class ForgetfulStorage {
  #entries = [];

  async read() {
    return this.#entries;
  }

  async change(work) {
    const { entries, result } = work(this.#entries);
    this.#entries = entries;
    return result;
  }
}

function opened() {
  return new Promise((resolve, reject) => {
    if (globalThis.indexedDB === undefined) {
      throw new InputError("storage", null, "a storage: this page has no IndexedDB");
    }
    const request = globalThis.indexedDB.open(DATABASE, 1);
    request.onupgradeneeded = () => request.result.createObjectStore(STORE);
    request.onsuccess = () => {
      // Another tab may want to delete the database: let it, and open again when needed.
      request.result.onversionchange = () => request.result.close();
      resolve(request.result);
    };
    request.onerror = () => reject(request.error);
    request.onblocked = () => reject(new Error("the ledger's database is blocked by another tab"));
  });
}

/** Run `work` on the kept value in one transaction, and resolve when that is on disk. */
function strictly(database, work) {
  return new Promise((resolve, reject) => {
    const transaction = database.transaction(STORE, "readwrite", { durability: "strict" });
    if (transaction.durability !== "strict") {
      transaction.abort();
      throw new InputError("storage", transaction.durability, "a browser with strict durability");
    }
    let result;
    let failure = null;
    transaction.oncomplete = () => resolve(result);
    transaction.onabort = () => reject(failure ?? transaction.error);
    const store = transaction.objectStore(STORE);
    const reading = store.get(KEY);
    reading.onsuccess = () => {
      try {
        const done = work(reading.result);
        result = done.result;
        if (done.changed) store.put(done.value, KEY);
      } catch (error) {
        failure = error;
        transaction.abort();
      }
    };
  });
}

function parsed(text) {
  try {
    return checked(JSON.parse(text));
  } catch {
    throw new InputError("storage", text, `a ledger under localStorage's key ${LOCAL_STORAGE_KEY}`);
  }
}

/** Return the entries of a book; a damaged one is refused, as an empty one would forget. */
function checked(book) {
  if (book?.format !== 1 || !Array.isArray(book.entries)) {
    throw new InputError("storage", book, "a ledger of format 1");
  }
  return book.entries;
}

function merged(entries, others) {
  const known = new Set(entries.map(({ id }) => id));
  return [...entries, ...others.filter(({ id }) => !known.has(id))];
}
