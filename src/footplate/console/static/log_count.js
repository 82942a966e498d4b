// How many lines match, and which of them is shown: "3 of 20". They are counted beside the page, after the first is
// shown, and anew when something else is looked for or the log has grown.

const PAGE = 1000;
const MOST = 10000;

export class MatchCount {
  #ask;
  #changed;
  #key = "";
  #cursors = []; // of the matches, in their order
  #whole = false;
  #next = 0;
  #running = false;

  // `ask` reads a page of lines; `changed` is called when there is more to say.
  constructor(ask, changed) {
    this.#ask = ask;
    this.#changed = changed;
  }

  // Begin to count what `query` finds, or go on where that was counted before.
  async count(query) {
    const key = JSON.stringify(query);
    if (key !== this.#key) [this.#key, this.#cursors, this.#next] = [key, [], 0];
    this.#whole = false;
    if (this.#running) return; // it sees the other key
    this.#running = true;
    try {
      await this.#read();
    } catch {
      this.#key = ""; // a count that fails is not shown; the search has said why
    } finally {
      this.#running = false;
    }
    this.#changed();
  }

  // What is shown next isn't what was searched for.
  forget() {
    this.#key = "";
  }

  async #read() {
    while (!this.#whole && this.#cursors.length < MOST) {
      const key = this.#key;
      if (!key) return;
      const page = await this.#ask({ ...JSON.parse(key), cursor: this.#next, limit: PAGE });
      if (key !== this.#key) continue;
      for (const line of page.lines) this.#cursors.push(line.cursor);
      this.#next = page.cursor;
      this.#whole = !page.more;
    }
  }

  // "Match 3 of 20." for the line with this cursor; empty: it is none, or isn't counted yet.
  say(cursor) {
    if (this.#running || !this.#key) return "";
    const place = this.#cursors.indexOf(cursor) + 1;
    const all = this.#whole ? String(this.#cursors.length) : `more than ${MOST}`;
    return place ? `Match ${place} of ${all}.` : this.#whole ? "" : `One of ${all} matches.`;
  }
}
