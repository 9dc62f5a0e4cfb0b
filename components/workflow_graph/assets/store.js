// What the page knows of a run: the folded view, the text that is being written now, the draft. Knows no DOM
// and no socket; says what changed since it was last asked, so that only that is painted.

import { ENDED, emptyView, fold } from "./fold.js";
import { Growing } from "./text.js";

export class Store {
  constructor(clock = Date.now) {
    this.clock = clock;
    this.view = emptyView();
    this.payload = { labels: {}, marks: {}, workers: [] };
    this.live = new Map(); // step id or "plan" → what it writes now
    this.skew = 0; // ms by which this clock is ahead of the server's
    this.changed = fresh();
  }

  /** The server's time, in ms. */
  now() { return this.clock() - this.skew; }

  /** The workflow to draw: the draft, or the run's. */
  get workflow() { return this.payload.workflow ?? this.view.workflow; }

  /** The rounds to draw as lanes, the one being planned included; null when there is one, or a draft. */
  get rounds() {
    const { rounds, planning_round: planned } = this.view;
    const isNext = planned !== null && planned > 1 && !rounds.some((each) => each.round === planned);
    const all = isNext ? [...rounds, { round: planned, workflow: null, decision: null, error: null }] : rounds;
    return this.payload.workflow || all.length < 2 || !this.view.workflow ? null : all;
  }

  /** What is drawn: the workflow, or with rounds the steps of all of them. */
  get drawn() {
    const { rounds, workflow } = this;
    return rounds ? { ...workflow, rounds, steps: rounds.flatMap((each) => each.workflow?.steps ?? []) } : workflow;
  }

  get hasEnded() { return ENDED.has(this.view.status); }

  /** Takes what Python says. Older news than the stream's never undo it. */
  setPayload(payload) {
    const state = payload.state;
    if (payload.run_id !== this.view.run_id) {
      this.view = state ? structuredClone(state) : emptyView(payload.run_id);
      this.live.clear();
    } else if (state && (state.seq > this.view.seq || (state.seq === this.view.seq && state.seq === 0))) {
      this.view = structuredClone(state);
      for (const id of [...this.live.keys()]) if (id !== "plan" && !this.isRunning(id)) this.live.delete(id);
    }
    this.payload = payload;
    this.changed = { ...fresh(), all: true, structure: true, run: true };
  }

  isRunning(stepId) {
    const step = this.view.steps[stepId];
    return !step || step.status === "running" || step.status === "waiting";
  }

  /** Takes a batch from the stream. Returns {gap, ended}: whether text is missing, whether the run is over. */
  accept(items) {
    let gap = false;
    for (const item of items) {
      if ("heartbeat" in item) this.skew = this.clock() - Date.parse(item.heartbeat);
      else if ("offset" in item) gap = !this.acceptFrame(item) || gap;
      else this.acceptEvent(item);
    }
    return { gap, ended: this.hasEnded };
  }

  acceptEvent(event) {
    if (event.seq && event.seq <= this.view.seq) return; // without one it could not be stored, and is news
    const before = shapeOf(this.view);
    for (const id of fold(this.view, event)) {
      this.changed.steps.add(id);
      if (!this.isRunning(id)) this.live.delete(id);
    }
    if (event.kind.startsWith("step_")) this.changed.said.push(event);
    else this.live.delete("plan");
    if (event.kind.startsWith("run_")) Object.assign(this.changed, { all: true });
    if (shapeOf(this.view) !== before) this.changed.structure = true;
    this.changed.run = true;
    if (event.at && Date.parse(event.at) > this.now()) this.skew = this.clock() - Date.parse(event.at);
  }

  acceptFrame(frame) {
    if (frame.run_id !== this.view.run_id) return true;
    const id = frame.step_id;
    if (id === "plan" ? this.view.workflow && this.view.status !== "planning" : !this.isRunning(id)) return true;
    const live = this.writing(id, frame.attempt);
    if (frame.attempt < live.attempt) return true;
    live.heard_at = this.now();
    this.changed.steps.add(id);
    if (frame.channel === "notice") {
      live.notice = frame.text;
      return true;
    }
    return live[frame.channel].add(frame.offset, frame.text);
  }

  /** The text a step writes in that attempt; a later attempt starts empty. */
  writing(id, attempt) {
    let live = this.live.get(id);
    if (!live || attempt > live.attempt) {
      live = { attempt, output: new Growing(), reasoning: new Growing(), notice: "", heard_at: null };
      this.live.set(id, live);
    }
    return live;
  }

  /** What changed since the last call: {steps, structure, run, all, said}. */
  takeChanges() {
    const { changed } = this;
    this.changed = fresh();
    return changed;
  }
}

/** What decides the drawing's structure, as a text to compare. */
export const shapeOf = (view) => JSON.stringify([
  view.workflow?.workflow_id, view.planning_round, view.rounds.map((each) => [each.round, each.decision, each.workflow?.workflow_id]),
]);

const fresh = () => ({ steps: new Set(), structure: false, run: false, all: false, said: [] });
