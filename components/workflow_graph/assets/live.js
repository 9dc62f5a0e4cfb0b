// What one step writes, shown outside the graph: inspector and answer follow it without a rerun of the page. It
// reads the store of the graph on the same page, so it opens no line of its own.

import { setText } from "./dom.js";

const followers = new Set();
let latest = null;

/** Mounts one follower: `data` is {run_id, step_id, empty}; without a step, of the run's last. Returns its end. */
export function follow({ data, parentElement }) {
  const follower = { ...data, node: parentElement.querySelector(".live") };
  followers.add(follower);
  if (latest) show(latest);
  else setText(follower.node, data.empty);
  return () => followers.delete(follower);
}

/** Brings every follower of this store's run up to date; called with each paint of the graph. */
export function show(store) {
  latest = store;
  for (const { run_id: runId, step_id: stepId, node, empty } of followers) {
    if (runId === store.view.run_id) setText(node, textOf(store, stepId ?? lastStep(store)) || empty);
  }
}

const lastStep = ({ view }) => view.workflow?.steps.at(-1).step_id;

/** The end of what a step writes, or wrote; its reasoning while there is nothing else. */
export function textOf({ live, view }, stepId) {
  const writes = live.get(stepId), step = view.steps[stepId];
  const kept = writes?.output.chars ? writes.output : writes?.reasoning.chars ? writes.reasoning : (step?.output ?? step?.partial);
  if (!kept) return writes?.notice ?? "";
  return kept.chars > kept.tail.length ? `…${kept.tail}` : kept.tail;
}
