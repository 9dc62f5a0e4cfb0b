// The run's live stream: one WebSocket that comes back after trouble, rests while the page is hidden, and ends
// with the run. Tells what it hears, keeps nothing.

const FIRST_WAIT = 400, LONGEST_WAIT = 8000; // ms between tries
const SILENCE = 40_000; // ms; the server says something every 15 s, so after this the line is dead

export const GONE = 4404, FORBIDDEN = 4403;

export class Stream {
  /**
   * `after()` gives the last known seq. `onItems(items)` gets each batch and returns "again" when text is
   * missing (the line is opened anew) or "end" when the run is over. `onLine(word)` hears up, down, lost, forbidden.
   */
  constructor(path, { after, onItems, onLine, page = globalThis }) {
    Object.assign(this, { path, after, onItems, onLine, page, tries: 0, socket: null, isOver: false });
    this.wake = () => this.check();
    this.renew = () => { this.hangUp(); this.check(); }; // after a break the old line may be dead and not know it
    this.miss = () => this.onLine("down");
    page.document?.addEventListener("visibilitychange", this.wake);
    page.addEventListener?.("online", this.renew);
    page.addEventListener?.("offline", this.miss);
    this.check();
  }

  get isHidden() { return this.page.document?.visibilityState === "hidden"; }

  check() {
    if (this.isOver) return;
    if (this.isHidden) this.hangUp();
    else if (!this.socket) this.open();
  }

  open() {
    clearTimeout(this.timer);
    const url = new URL(this.path, this.page.location.href);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("after", this.after());
    const socket = this.socket = new this.page.WebSocket(url);
    socket.onopen = () => this.listen();
    socket.onmessage = (event) => socket === this.socket && this.hear(event.data);
    socket.onclose = (event) => socket === this.socket && this.closed(event.code);
  }

  hear(text) {
    this.tries = 0;
    this.onLine("up"); // an open line that says nothing is no live view yet
    this.listen();
    const said = this.onItems(JSON.parse(text));
    if (said === "end") this.close();
    else if (said === "again") this.retry();
  }

  /** Starts the clock of silence anew. */
  listen() {
    clearTimeout(this.silence);
    this.silence = setTimeout(() => this.retry(), SILENCE);
  }

  closed(code) {
    this.hangUp();
    if (code === GONE || code === FORBIDDEN) {
      this.close();
      this.onLine(code === GONE ? "lost" : "forbidden");
    } else if (!this.isHidden) this.retry();
  }

  retry() {
    this.hangUp();
    const wait = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.tries++);
    if (this.tries > 1) this.onLine("down");
    this.timer = setTimeout(() => this.check(), wait * (0.75 + Math.random() / 2));
  }

  hangUp() {
    const { socket } = this;
    this.socket = null;
    clearTimeout(this.silence);
    clearTimeout(this.timer);
    if (socket) {
      socket.onmessage = socket.onclose = null;
      socket.close();
    }
  }

  close() {
    this.isOver = true;
    this.hangUp();
    this.page.document?.removeEventListener("visibilitychange", this.wake);
    this.page.removeEventListener?.("online", this.renew);
    this.page.removeEventListener?.("offline", this.miss);
  }
}
