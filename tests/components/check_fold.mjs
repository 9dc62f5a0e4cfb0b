// Reads [{seed, events, prefix, before, after}] from stdin: folding all events, or folding the rest into the
// view that Python made of the first `prefix` events, must give Python's view of all of them.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { emptyView, fold } from "../../components/workflow_graph/assets/fold.js";

const cases = JSON.parse(readFileSync(0, "utf8"));
for (const { seed, events, prefix, before, after } of cases) {
  const whole = emptyView();
  for (const event of events) fold(whole, event);
  assert.deepEqual(whole, after, `seed ${seed}: folded from the start`);
  for (const event of events) fold(before, event);
  assert.deepEqual(before, after, `seed ${seed}: folded from event ${prefix} on`);
}
console.log(`${cases.length} logs agree`);
