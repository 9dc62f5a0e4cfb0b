import assert from "node:assert/strict";
import { test } from "node:test";
import { Film } from "../../../components/workflow_graph/assets/replay.js";

const step = { step_id: "s1", position: 0, instruction: "i", worker: "w", access: [] };
const same = { run_id: "r", step_id: "s1", attempt: 1, worker: "w" };
const iso = (ms) => new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
const OUTPUT = "😀0123456789".repeat(10);
const events = [
  { kind: "run_created", run_id: "r", seq: 1, at: iso(0), conductor: "c", workflow: { workflow_id: "w", prompt: "?", steps: [step] } },
  { kind: "run_started", run_id: "r", seq: 2, at: iso(100) },
  { kind: "step_queued", seq: 3, at: iso(200), ...same },
  { kind: "step_started", seq: 4, at: iso(1000), waited_s: 0.8, ...same },
  { kind: "step_finished", seq: 5, at: iso(5000), first_token_at: iso(3000), output: OUTPUT, notes: [], ...same },
  { kind: "run_finished", run_id: "r", seq: 6, at: iso(65_000), final_output: OUTPUT },
];

test("at each moment the run is as it was then", () => {
  const film = new Film(events);
  const status = (time) => film.viewAt(time).view.steps.s1?.status;
  assert.deepEqual([0, 250, 4999, 5000].map(status), ["waiting", "running", "running", "succeeded"]);
  assert.equal(film.viewAt(film.length).view.status, "succeeded");
});

test("going on from an earlier moment gives what starting over gives", () => {
  const film = new Film(events);
  let walked = null;
  for (let time = 0; time <= film.length; time += 173) {
    walked = film.viewAt(time, walked);
    assert.deepEqual(walked.view, film.viewAt(time).view);
  }
});

test("text grows evenly from the first token to the end, and no character is split", () => {
  const film = new Film(events);
  const text = (time) => film.writingAt(time)[0]?.text;
  assert.equal(text(2900), undefined);
  assert.equal(text(3000), "");
  let before = "";
  for (let time = 3000; time < 5000; time += 37) {
    const now = text(time);
    assert.ok(OUTPUT.startsWith(now) && now.startsWith(before) && !/[\ud800-\udbff]$/.test(now));
    before = now;
  }
  assert.ok(Math.abs(text(4000).length - OUTPUT.length / 2) <= 2);
  assert.equal(text(5000), undefined);
});

test("a long wait in which nothing happens is shortened, the writing is not", () => {
  const film = new Film(events);
  assert.equal(film.length, 9000, "60 s of silence became 4");
  const slow = events.map((event) => (event.seq < 5 ? event : { ...event, at: iso(Date.parse(event.at) - Date.parse(iso(0)) + 60_000) }));
  assert.equal(new Film(slow).length, 69_000, "a minute of writing stays a minute");
});

test("the clock of the run goes with the film", () => {
  const film = new Film(events);
  assert.equal(film.clockAt(1500), Date.parse(iso(1500)));
});

test("a log without numbers and one without an end play too", () => {
  const bare = events.slice(0, 4).map((event) => ({ ...event, seq: 0 }));
  const film = new Film(bare);
  assert.equal(film.viewAt(film.length).view.steps.s1.status, "running");
  assert.equal(new Film([]).length, 0);
});
