import assert from "node:assert/strict";
import { test } from "node:test";
import { cardOf, context, planningOf } from "../../../components/workflow_graph/assets/cards.js";
import { Store } from "../../../components/workflow_graph/assets/store.js";

const workflow = {
  workflow_id: "wf", prompt: "?", steps: [
    { step_id: "s1", position: 0, instruction: "one", worker: "w", access: [] },
    { step_id: "s2", position: 1, instruction: "two", worker: "w", access: ["s1"] },
  ],
};
const at = (seconds) => new Date(Date.UTC(2026, 10, 29, 12, 0, seconds)).toISOString();
let seq = 0;
const event = (kind, more) => ({ kind, run_id: "r", seq: ++seq, at: at(seq), ...more });
const frame = (offset, text, more) => ({ run_id: "r", step_id: "s1", attempt: 1, channel: "output", offset, text, ...more });

function started() {
  seq = 0;
  const store = new Store(() => Date.parse(at(10)));
  store.setPayload({ run_id: "r", state: null, labels: {}, marks: {}, workers: [], draft: false, workflow: null });
  store.accept([
    event("run_created", { workflow, conductor: "none" }), event("run_started"),
    event("step_queued", { step_id: "s1", attempt: 1, worker: "w" }), event("step_started", { step_id: "s1", attempt: 1, worker: "w", waited_s: 0 }),
  ]);
  store.takeChanges();
  return store;
}

test("events already seen are dropped, however often they come", () => {
  const store = started();
  const again = { ...event("step_failed", { step_id: "s1", attempt: 1, worker: "w", error: { kind: "timeout", message: "m" } }), seq: 2 };
  store.accept([again]);
  assert.equal(store.view.steps.s1.status, "running");
  assert.equal(store.takeChanges().steps.size, 0);
});

test("an end that could not be stored has no number and is news all the same", () => {
  const store = started();
  const end = { ...event("run_failed", { error: { kind: "store", message: "The disk is full." } }), seq: 0 };
  assert.equal(store.accept([end]).ended, true);
  assert.equal(store.view.error.message, "The disk is full.");
});

test("only what a frame touches is painted", () => {
  const store = started();
  store.accept([frame(0, "hel"), frame(3, "lo")]);
  const changes = store.takeChanges();
  assert.deepEqual([...changes.steps], ["s1"]);
  assert.equal(changes.structure || changes.all, false);
  assert.equal(store.live.get("s1").output.tail, "hello");
});

test("a gap asks for the line to be opened anew", () => {
  const store = started();
  assert.deepEqual(store.accept([frame(0, "he"), frame(7, "x")]), { gap: true, ended: false });
});

test("a new attempt starts its text anew, an old attempt's late frame is nothing", () => {
  const store = started();
  store.accept([frame(0, "first try")]);
  store.accept([frame(0, "sec", { attempt: 2 }), frame(9, " late")]);
  assert.equal(store.live.get("s1").output.tail, "sec");
});

test("frames of another run, and after the end of a step, are nothing", () => {
  const store = started();
  store.accept([frame(0, "x", { run_id: "other" })]);
  assert.equal(store.live.size, 0);
  store.accept([frame(0, "ye"), event("step_finished", { step_id: "s1", attempt: 1, worker: "w", output: "yes", notes: [] }), frame(2, "s")]);
  assert.equal(store.live.size, 0);
  assert.equal(store.view.steps.s1.output.head, "yes");
});

test("news from the page never undoes what the stream said", () => {
  const store = started();
  const early = { ...structuredClone(store.view), seq: 2 };
  early.steps.s1.status = "waiting";
  store.setPayload({ ...store.payload, state: early });
  assert.equal(store.view.steps.s1.status, "running");
  const late = structuredClone(store.view);
  late.seq = 99;
  late.steps.s1.status = "succeeded";
  store.accept([frame(0, "wri")]);
  store.setPayload({ ...store.payload, state: late });
  assert.equal(store.view.steps.s1.status, "succeeded");
  assert.equal(store.live.size, 0, "the text being written gives way to the output");
});

test("a silent step says how long it waits, and its last notice", () => {
  const store = started();
  store.accept([frame(0, "loading w", { channel: "notice" })]);
  store.payload.labels = { waits_first_word: "No word yet for {seconds}" };
  const card = cardOf(workflow.steps[0], context(store));
  assert.deepEqual([card.body.note, card.body.text], ["No word yet for 6.0 s", "loading w"]);
});

test("a clock that runs ahead of the server's is corrected by its heartbeat", () => {
  const store = started();
  store.accept([{ heartbeat: at(4) }]);
  assert.equal(store.now(), Date.parse(at(4)));
});

test("the conductor's thought and then its text stand on the planning card, and a rejected plan is counted", () => {
  const store = new Store(() => 0);
  const labels = { planning: "Planning", planning_note: "wait", "plans_rejected.one": "{n} rejected", "characters.other": "{n} characters" };
  store.setPayload({ run_id: "r", state: null, labels, marks: {}, workers: [], draft: false, workflow: null });
  seq = 0;
  store.accept([event("run_created", { conductor: "c" }), event("run_started"), event("plan_started", { conductor: "c", round: 1 })]);
  assert.deepEqual([planningOf(store).note, planningOf(store).text], ["wait", ""]);
  const plan = (offset, text, channel) => frame(offset, text, { step_id: "plan", channel });
  store.accept([plan(0, "hm", "reasoning")]);
  assert.deepEqual([planningOf(store).text, planningOf(store).kind], ["hm", "thinking"]);
  store.accept([plan(0, "model_id", "output"), plan(8, " = [0]", "output")]);
  const shown = planningOf(store);
  assert.deepEqual([shown.text, shown.kind, shown.note, shown.foot], ["model_id = [0]", "live", "", ["14 characters"]]);
  store.accept([event("plan_rejected", { attempt: 1, round: 1, raw_text: "model_id = [0]", diagnostics: [], usage: null, cost_usd: null })]);
  assert.equal(store.view.plan_text.head, "model_id = [0]");
  assert.equal(planningOf(store).foot[0], "1 rejected");
});
