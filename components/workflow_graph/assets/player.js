// Plays a film of a run: play, pause, speed, seek, by mouse and by keyboard. Makes no call of any kind.

import { el, setAttribute, setText } from "./dom.js";
import { say, ticking } from "./format.js";
import { icon, setIcon } from "./icons.js";
import { Film } from "./replay.js";
import { shapeOf } from "./store.js";

const SPEEDS = [1, 2, 5];
const STEP = 5000; // ms of one seek by key
const HIDE_AFTER = 2500; // ms without a movement, when presenting

export class Player {
  constructor(instance) {
    Object.assign(this, { instance, film: null, time: 0, speed: 1, isPlaying: false, frame: 0 });
    this.playIcon = icon("pause", 20);
    this.playButton = el("button", { type: "button", class: "tool play", onclick: () => this.toggle() }, this.playIcon);
    this.seekBar = el("input", { type: "range", min: "0", step: "any", class: "seek", oninput: () => this.seek(Number(this.seekBar.value)) });
    this.clock = el("span", { class: "clock" });
    this.speeds = SPEEDS.map((speed) => el("button", { type: "button", class: "tool speed", text: `${speed}×`, onclick: () => this.setSpeed(speed) }));
    this.mark = el("span", { class: "replay-mark" });
    this.root = el("div", { class: "player", role: "group" }, this.playButton, this.seekBar, this.clock, ...this.speeds, this.mark);
    instance.root.append(this.root);
    this.stir = () => this.show();
    instance.root.addEventListener("pointermove", this.stir);
    instance.root.addEventListener("focusin", this.stir);
  }

  load(payload) {
    const { store } = this.instance;
    const { events, speed } = payload.replay;
    const isOther = store.view.run_id !== payload.run_id || events.length !== this.film?.events.length;
    store.payload = payload;
    if (!isOther) return Object.assign(store.changed, { all: true, structure: true });
    this.film = new Film(events);
    this.shown = null;
    this.speed = speed;
    this.seekBar.max = String(this.film.length);
    this.seek(0);
    this.play();
    return undefined;
  }

  play() {
    if (this.time >= this.film.length) this.seek(0);
    this.isPlaying = true;
    this.last = performance.now();
    this.loop();
  }

  pause() {
    this.isPlaying = false;
    cancelAnimationFrame(this.frame);
    this.instance.schedule();
  }

  /** The film is over: the page is told once for each time it was played to its end. */
  end() {
    this.pause();
    const { hooks, store } = this.instance;
    hooks.onTrigger("finished", { run_id: store.view.run_id, seq: store.view.seq });
  }

  toggle() { if (this.isPlaying) this.pause(); else this.play(); }

  setSpeed(speed) {
    this.speed = speed;
    this.instance.schedule();
  }

  loop() {
    this.frame = requestAnimationFrame(() => {
      if (!this.isPlaying) return;
      const now = performance.now();
      this.showAt(Math.min(this.film.length, this.time + (now - this.last) * this.speed));
      this.last = now;
      if (this.time < this.film.length) this.loop();
      else this.end();
    });
  }

  seek(time) {
    this.showAt(Math.max(0, Math.min(this.film.length, time)), true);
    this.last = performance.now();
  }

  /** Brings the store to a moment of the film. Going back starts over from nothing. */
  showAt(time, isJump = false) {
    const { store } = this.instance;
    const isBack = time < this.time || !this.shown;
    const before = isBack ? null : shapeOf(this.shown.view);
    this.time = time;
    this.shown = this.film.viewAt(time, isBack ? null : this.shown);
    const { view, touched } = this.shown;
    store.view = view;
    store.clock = () => this.film.clockAt(this.time);
    store.skew = 0;
    store.live.clear();
    for (const { step_id: id, attempt, text } of this.film.writingAt(time)) {
      store.writing(id, attempt).output.add(0, text);
      store.changed.steps.add(id);
    }
    for (const id of touched) store.changed.steps.add(id);
    for (const [id, step] of Object.entries(view.steps)) if (step.status === "running") store.changed.steps.add(id);
    if (isJump || isBack) Object.assign(store.changed, { all: true });
    if (shapeOf(view) !== before) store.changed.structure = true;
    this.instance.schedule();
  }

  paint() {
    const { labels, run_id: runId } = this.instance.store.payload;
    setIcon(this.playIcon, this.isPlaying ? "pause" : this.time >= this.film.length ? "restart" : "play");
    const word = say(labels, this.isPlaying ? "pause" : "play");
    setAttribute(this.playButton, "aria-label", word);
    setAttribute(this.playButton, "title", word);
    setAttribute(this.seekBar, "aria-label", say(labels, "seek"));
    this.seekBar.value = String(this.time);
    this.seekBar.style.setProperty("--done", `${(100 * this.time) / (this.film.length || 1)}%`);
    const clock = `${ticking(this.time / 1000)} / ${ticking(this.film.length / 1000)}`;
    setText(this.clock, clock);
    setAttribute(this.seekBar, "aria-valuetext", clock);
    this.speeds.forEach((button, at) => {
      setAttribute(button, "aria-pressed", String(SPEEDS[at] === this.speed));
      setAttribute(button, "aria-label", say(labels, "speed", { n: SPEEDS[at] }));
    });
    setText(this.mark, say(labels, "replay"));
    setAttribute(this.mark, "title", `${say(labels, "replay_hint")} ${runId ?? ""}`);
    setAttribute(this.root, "aria-label", say(labels, "replay"));
  }

  /** Space plays and pauses, comma and full stop seek, 1, 2 and 5 set the speed; arrows too when nothing else has the focus. */
  key(event) {
    const onCard = event.target.closest("[data-box]");
    const { key } = event;
    if (key === " " && !event.target.closest("button:not(.card)")) this.toggle();
    else if (key === "," || (key === "ArrowLeft" && !onCard)) this.seek(this.time - STEP);
    else if (key === "." || (key === "ArrowRight" && !onCard)) this.seek(this.time + STEP);
    else if (SPEEDS.includes(Number(key)) && key !== "") this.setSpeed(Number(key));
    else return false;
    this.show();
    return true;
  }

  /** Controls go away when nothing moves, while presenting. */
  show() {
    this.instance.root.classList.remove("quiet");
    clearTimeout(this.hiding);
    if (this.instance.root.classList.contains("present")) {
      this.hiding = setTimeout(() => this.instance.root.classList.add("quiet"), HIDE_AFTER);
    }
  }

  destroy() {
    this.isPlaying = false;
    cancelAnimationFrame(this.frame);
    clearTimeout(this.hiding);
    this.instance.store.clock = Date.now;
    this.root.remove();
    this.instance.root.removeEventListener("pointermove", this.stir);
    this.instance.root.removeEventListener("focusin", this.stir);
  }
}
