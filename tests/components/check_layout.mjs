// Reads [{workflow, direction, ends, layout, curves}] from stdin and says where layout.js differs from Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { curve, place } from "../../components/workflow_graph/assets/layout.js";

const cases = JSON.parse(readFileSync(0, "utf8"));
for (const { workflow, direction, ends, layout, curves } of cases) {
  const mine = place(workflow, { direction, ends });
  const told = { ...mine };
  assert.deepEqual(told, layout, `${direction} ${JSON.stringify(workflow.steps.map((step) => step.access))}`);
  assert.deepEqual(mine.edges.map((edge) => curve(edge, direction)), curves);
}
console.log(`${cases.length} layouts agree`);
