// A service in a page's memory: it answers what the real one would.

/** Serves one deployment; answers in `failures` are given first, a function each. */
export class ServiceForTests {
  calls = [];
  reports = [];
  failures = [];

  constructor({ document, digest, reports }) {
    this.document = document;
    this.digest = digest;
    this.assigned = reports[0].assignment;
  }

  fetch = async (url, options = {}) => {
    const { pathname, searchParams } = new URL(url);
    const [id, number] = ["id", "number"].map((name) => searchParams.get(name));
    this.calls.push({ path: pathname, id, number, ...options });
    const failure = this.failures.shift();
    if (failure !== undefined) return failure(url, options);
    if (pathname === "/v1/deployment") {
      return Response.json({ digest: this.digest, deployment: this.document });
    }
    if (pathname === "/v1/policy") {
      const { assigned } = this;
      return Response.json(typeof assigned === "function" ? assigned(Number(number)) : assigned);
    }
    return Response.json(this.#count(options.body));
  };

  #count(body) {
    const { id } = JSON.parse(body);
    const known = this.reports.some((report) => JSON.parse(report).id === id);
    this.reports.push(body);
    return { id, status: known ? "duplicate" : "counted" };
  }
}
