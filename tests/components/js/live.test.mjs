// What the inspector shows of a step that is not done.

import assert from "node:assert/strict";
import { test } from "node:test";

import { follow, show, textOf } from "../../../components/workflow_graph/assets/live.js";
import { Store } from "../../../components/workflow_graph/assets/store.js";

function writing() {
  const store = new Store();
  Object.assign(store.view, { run_id: "run_1", steps: { s1: { status: "running", output: null, partial: null } } });
  return store;
}

test("thought gives way to output, and of a long text the end is shown", () => {
  const store = writing(), live = store.writing("s1", 1);
  assert.equal(textOf(store, "s1"), "");
  live.reasoning.add(0, "hm");
  assert.equal(textOf(store, "s1"), "hm");
  live.output.add(0, "a".repeat(500));
  assert.equal(textOf(store, "s1"), `…${"a".repeat(400)}`);
});

test("a follower hears its own run and step until it leaves", () => {
  const store = writing(), node = { textContent: "", firstChild: null };
  const parentElement = { querySelector: () => node };
  const leave = follow({ data: { run_id: "run_1", step_id: "s1", empty: "nothing yet" }, parentElement });
  store.writing("s1", 1).output.add(0, "word");
  show(store);
  assert.equal(node.textContent, "word");
  show(Object.assign(writing(), { view: { run_id: "run_2", steps: {} } }));
  assert.equal(node.textContent, "word");
  leave();
  store.writing("s1", 1).output.add(4, " two");
  show(store);
  assert.equal(node.textContent, "word");
});

test("a follower without a step hears the last one, also when another round begins", () => {
  const store = writing(), node = { textContent: "", firstChild: null };
  const leave = follow({ data: { run_id: "run_1", step_id: null, empty: "to come" }, parentElement: { querySelector: () => node } });
  show(store);
  assert.equal(node.textContent, "to come");
  store.view.workflow = { steps: [{ step_id: "s1" }, { step_id: "s2" }] };
  store.writing("s1", 1).output.add(0, "first");
  show(store);
  assert.equal(node.textContent, "to come");
  store.writing("s2", 1).output.add(0, "last");
  show(store);
  assert.equal(node.textContent, "last");
  store.view.workflow = { steps: [{ step_id: "s3" }] };
  show(store);
  assert.equal(node.textContent, "to come");
  leave();
});
