// One graph on one page: store, drawing, live stream or replay, and the clock that ties painting to frames.

import { runFacts } from "./cards.js";
import { el, setAttribute, setText } from "./dom.js";
import { Editing } from "./editing.js";
import { save } from "./export.js";
import { say } from "./format.js";
import { Graph } from "./graph.js";
import { help } from "./help.js";
import { Keyboard } from "./keyboard.js";
import { Linking } from "./linking.js";
import { show } from "./live.js";
import { Panel } from "./panel.js";
import { Player } from "./player.js";
import { Stream } from "./socket.js";
import { Store } from "./store.js";
import { adoptStyle, watchTheme } from "./style.js";
import { Toolbar } from "./toolbar.js";

// ms between two paints: below the server's 50 ms batches, or every second batch would wait for the next. More
// when painting is slow, so that it takes a tenth of the time at most.
const PAINT_EVERY = 36;
const PAINT_AT_MOST = 250;
const SELECTION_PATIENCE = 2500; // ms
const AROUND = 260; // px of the window's height that the page needs beside the drawing
const ANSWER_ROOM = 132; // px below a presented drawing, so that the answer is seen to come
const TICK = 500; // ms between two looks at the clock of a running step

export class Instance {
  constructor(host, hooks) {
    Object.assign(this, { host, hooks, store: new Store(), stream: null, player: null, lastPaint: 0, paintTook: 0, width: 0 });
    this.graph = new Graph(this.store, (id) => this.select(id));
    this.toolbar = new Toolbar([
      ["undo", "undo", "undo", () => hooks.onTrigger("undo", { op_id: this.editing.newId() }), "edit"],
      ["add", "plus", "add", (event) => this.editing.addForm(null, event.currentTarget), "edit"],
      ["out", "minus", "zoom_out", () => this.graph.viewport.zoomBy(1 / 1.25), "zoom"],
      ["fit", "fit", "fit", () => this.graph.viewport.fit(), "zoom"],
      ["in", "plus", "zoom_in", () => this.graph.viewport.zoomBy(1.25), "zoom"],
      ["save", "save", "save", (event) => this.saveMenu(event.currentTarget), "more"],
      ["help", "help", "help", (event) => help(this.panel, this.store.payload, event.currentTarget), "more"],
    ]);
    this.toast = el("div", { class: "toast", "aria-hidden": "true" }); // `news` is what a screen reader hears
    this.news = el("div", { class: "aside", "aria-live": "polite" });
    this.root = el("div", { class: "wfg", tabindex: "-1" }, this.toolbar.root, this.graph.stage, this.toast, this.news);
    this.panel = new Panel(this.root);
    this.editing = new Editing(this);
    this.linking = new Linking(this);
    this.keyboard = new Keyboard(this);
    this.graph.onView = () => this.paintBar();
    this.graph.onBackground = () => this.editing.chooseEdge(null);
    this.isTouched = matchMedia("(pointer: coarse)").matches; // fingers scroll the page, not a part of it
    this.root.style.opacity = "0"; // until it has its style, nobody should see it
    this.ready = adoptStyle(host).then(() => {
      this.root.classList.add("styled");
      this.root.style.opacity = "";
    });
    host.append(this.root);
    this.theme = watchTheme(this.root);
    this.frame = null; // measured once for each size: measuring at every paint would cost a layout each time
    this.sizes = new ResizeObserver(() => this.resized());
    for (const each of [this.root, this.toolbar.root]) this.sizes.observe(each);
    this.ticking = setInterval(() => this.tick(), TICK);
  }

  /** Takes new data from the page. The same card elements stay. */
  update(payload) {
    const { store, graph } = this;
    const isOther = payload.run_id !== store.view.run_id || !this.hasData;
    this.hasData = true;
    if (payload.mode === "replay") this.play(payload);
    else {
      this.player?.destroy();
      this.player = null;
      store.setPayload(payload);
      this.connect(isOther);
    }
    if (isOther) graph.viewport.recall(payload.run_id ?? "draft");
    this.takeSelection(payload.selected ?? null, isOther);
    setAttribute(this.root, "data-mode", payload.mode);
    const isPresent = Boolean(payload.replay?.present);
    if (isPresent && !this.root.classList.contains("present")) this.root.focus({ preventScroll: true });
    if (this.root.classList.toggle("present", isPresent) !== this.wasPresent) this.frame = null;
    this.wasPresent = isPresent;
    this.player?.show();
    this.theme.look();
    this.editing.answered(payload);
    this.paint();
  }

  select(id) {
    this.told = { id, at: performance.now() };
    this.hooks.onState("selected", id);
  }

  /** The page's word on the selection counts, but for the moment in which it has not heard of the last click. */
  takeSelection(id, isOther) {
    const isLate = this.told && this.told.id !== id && performance.now() - this.told.at < SELECTION_PATIENCE;
    if (isLate && !isOther) return;
    this.told = null;
    this.graph.selected = id;
  }

  play(payload) {
    if (!this.player) this.player = new Player(this);
    this.stream?.close();
    this.stream = null;
    this.player.load(payload);
  }

  connect(isOther) {
    const { api } = this.store.payload;
    if (isOther || !api) {
      this.stream?.close();
      this.stream = null;
      this.line = "up";
    }
    if (!api || this.stream || this.store.hasEnded) return;
    this.stream = new Stream(api.ws, {
      after: () => this.store.view.seq,
      onItems: (items) => this.accept(items),
      onLine: (word) => this.heardLine(word),
    });
  }

  accept(items) {
    const { gap, ended } = this.store.accept(items);
    this.schedule();
    if (ended) {
      this.hooks.onTrigger("finished", { run_id: this.store.view.run_id, seq: this.store.view.seq });
      return "end";
    }
    return gap ? "again" : undefined;
  }

  heardLine(word) {
    if (word === this.line) return;
    const before = this.line;
    this.line = word;
    const runId = this.store.view.run_id;
    if (word === "lost") this.hooks.onTrigger("lost", { run_id: runId });
    else if (word === "down" || before === "down") this.hooks.onTrigger("connection", { run_id: runId, is_up: word === "up" });
    this.schedule();
  }

  /** Paints soon: at the next frame, but not more often than PAINT_EVERY. The first cards wait for nothing. */
  schedule() {
    const isFirst = Boolean(this.store.workflow) && !this.graph.cards.size;
    if (this.due && !isFirst) return;
    const pause = isFirst ? 0 : Math.min(PAINT_AT_MOST, Math.max(PAINT_EVERY, 10 * this.paintTook));
    const wait = Math.max(0, this.lastPaint + pause - performance.now());
    this.due = true;
    const atFrame = () => requestAnimationFrame(() => this.due && this.paint());
    if (wait > 4) setTimeout(atFrame, wait); else atFrame();
  }

  paint() {
    const start = performance.now();
    this.due = false;
    const changes = this.store.takeChanges();
    this.graph.render(changes, this.size());
    this.paintBar();
    this.editing.paint();
    this.player?.paint();
    show(this.store);
    this.tell(changes.said);
    this.lastPaint = start;
    this.paintTook = performance.now() - start;
  }

  paintBar() {
    const trouble = { down: "line_down", lost: "line_lost", forbidden: "line_forbidden" }[this.line] ?? null;
    const { viewport } = this.graph;
    this.toolbar.paint(this.store, { zoom: viewport.view.k, isFixed: viewport.isFixed, trouble: this.player ? null : trouble });
  }

  /** The room for the drawing; `isNew` when it is another than at the last paint. */
  size() {
    const isPresent = this.root.classList.contains("present");
    const { direction = "auto" } = this.store.payload;
    this.frame ??= this.measure();
    const free = this.frame.height - (isPresent ? this.frame.top + this.frame.bar + ANSWER_ROOM : AROUND);
    const room = Math.max(380, Math.round(free));
    const key = `${this.frame.width} ${isPresent ? room : 0} ${direction}`;
    const isNew = key !== this.sizeKey;
    this.sizeKey = key;
    return { width: this.frame.width, room, direction, isPresent, isNew, isTouched: this.isTouched };
  }

  measure() {
    const top = Math.max(0, this.root.getBoundingClientRect().top + (globalThis.scrollY || 0));
    const width = Math.round(this.graph.stage.clientWidth || this.root.clientWidth || 800);
    this.root.classList.toggle("slim", width < 640);
    return { width, top, bar: this.toolbar.root.offsetHeight, height: globalThis.innerHeight || 900 };
  }

  resized() {
    this.frame = null;
    if (this.hasData) this.schedule();
  }

  /** The clocks of running steps go on between events. */
  tick() {
    const { view } = this.store;
    if (this.player || !this.hasData || this.store.hasEnded || !view.run_id || document.visibilityState === "hidden") return;
    for (const [id, step] of Object.entries(view.steps)) if (step.status === "running") this.store.changed.steps.add(id);
    this.schedule();
  }

  /** Says changes of status, never tokens, to a screen reader. */
  tell(events) {
    const { labels } = this.store.payload;
    const { drawn, view } = this.store;
    const words = [];
    for (const event of events.slice(-4)) {
      const at = drawn?.steps.find((step) => step.step_id === event.step_id)?.position ?? -1;
      const status = view.steps[event.step_id]?.status;
      if (at >= 0 && status) words.push(say(labels, "news_step", { n: at + 1, status: say(labels, `status.${status}`) }));
    }
    if (this.toldStatus !== undefined && this.toldStatus !== view.status) {
      words.push(say(labels, "news_run", { status: say(labels, `run.${view.status}`), facts: runFacts(this.store).join(", ") }));
    }
    this.toldStatus = view.status;
    const heard = [...new Set(words)].join(" ");
    if (heard) setText(this.news, heard);
  }

  /** Shows a short message for some seconds, or until `hush`; says it to a screen reader too. */
  say(text, kind = "info", stays = false) {
    setText(this.toast, text);
    setText(this.news, text);
    this.toast.dataset.kind = kind;
    this.toast.classList.add("shown");
    clearTimeout(this.toasting);
    if (!stays) this.toasting = setTimeout(() => this.hush(), 4500);
  }

  hush() {
    clearTimeout(this.toasting);
    this.toast.classList.remove("shown");
  }

  saveMenu(anchor) {
    const { labels } = this.store.payload;
    const kinds = ["svg", "png"].flatMap((format) => ["light", "dark"].map((theme) => [format, theme]));
    this.panel.menu(anchor, say(labels, "save"), kinds.map(([format, theme]) => ({
      text: say(labels, `save_${format}_${theme}`), icon: "save", run: () => save(this, format, theme),
    })));
  }

  destroy() {
    this.stream?.close();
    this.player?.destroy();
    clearInterval(this.ticking);
    this.sizes.disconnect();
    this.theme.stop();
    this.root.remove();
  }
}
