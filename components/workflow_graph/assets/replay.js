// A stored run as a film: which events have happened at a time, and how much of each text was written by then.
// The single tokens are not stored, so text appears evenly between a step's first token and its end: a
// reconstruction, and the screen says "replay". Pure: no DOM, no clock.

import { emptyView, fold } from "./fold.js";

const LONGEST_PAUSE = 4000; // ms; longer waits between two events are shortened to this

export class Film {
  constructor(events) {
    this.events = events;
    this.times = [];
    let at = 0;
    events.forEach((event, place) => {
      const gap = place ? Date.parse(event.at) - Date.parse(events[place - 1].at) : 0;
      at += Math.max(0, gap);
      this.times.push(at);
    });
    this.texts = this.writings();
    this.times = squeeze(this.times, this.texts);
    this.texts = this.writings();
    this.length = this.times[this.times.length - 1] ?? 0;
  }

  /** {step_id, attempt, from, to, text} of everything that was written, times in ms of the film. */
  writings() {
    const texts = [], starts = new Map();
    this.events.forEach((event, place) => {
      const at = this.times[place], key = `${event.step_id} ${event.attempt}`;
      if (event.kind === "step_started") starts.set(key, at);
      else if (event.kind === "plan_started") starts.set("plan", at);
      else if (event.kind === "plan_created" && starts.has("plan") && event.plan.raw_text) {
        texts.push({ step_id: "plan", attempt: 1, from: starts.get("plan"), to: at, text: event.plan.raw_text });
      } else if (event.kind.startsWith("step_") && starts.has(key)) {
        const text = event.kind === "step_finished" ? event.output : event.partial_text;
        const late = event.first_token_at ? Date.parse(event.at) - Date.parse(event.first_token_at) : Infinity;
        const from = Math.max(starts.get(key), at - Math.max(0, late));
        if (typeof text === "string" && text) texts.push({ step_id: event.step_id, attempt: event.attempt, from, to: at, text });
      }
    });
    return texts;
  }

  /** The view after all events up to `time`. `before` is an earlier result of this, to go on from. */
  viewAt(time, before = null) {
    const { view, done } = before ?? { view: emptyView(this.events[0]?.run_id ?? null), done: 0 };
    const touched = new Set();
    let place = done;
    for (; place < this.events.length && this.times[place] <= time; place++) {
      const event = this.events[place];
      for (const id of fold(view, event.seq ? event : { ...event, seq: place + 1 })) touched.add(id);
    }
    return { view, done: place, touched };
  }

  /** What is being written at `time`: {step_id, attempt, text so far}. */
  writingAt(time) {
    return this.texts.filter(({ from, to }) => from <= time && time < to).map(({ step_id, attempt, from, to, text }) => {
      const share = to > from ? (time - from) / (to - from) : 1;
      const units = Math.floor(text.length * share);
      const isPair = /[\ud800-\udbff]/.test(text[units - 1] ?? "");
      return { step_id, attempt, text: text.slice(0, isPair ? units - 1 : units) };
    });
  }

  /** The wall clock (ms) that the run had at a moment of the film. */
  clockAt(time) {
    let place = 0;
    while (place + 1 < this.times.length && this.times[place + 1] <= time) place++;
    return Date.parse(this.events[place]?.at ?? 0) + (time - this.times[place]);
  }
}

/** Shortens the stretches in which nothing happens and nothing is written. */
function squeeze(times, texts) {
  let saved = 0;
  return times.map((at, place) => {
    const before = times[place - 1] ?? 0;
    const isQuiet = !texts.some(({ from, to }) => from < at && to > before);
    if (isQuiet && at - before > LONGEST_PAUSE) saved += at - before - LONGEST_PAUSE;
    return at - saved;
  });
}

