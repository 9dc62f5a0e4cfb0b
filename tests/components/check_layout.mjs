// Reads [{workflow, direction, ends, layout, curves}] from stdin and says where layout.js differs from Python.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { placeRounds } from "../../components/workflow_graph/assets/lanes.js";
import { curve, place } from "../../components/workflow_graph/assets/layout.js";

const cases = JSON.parse(readFileSync(0, "utf8"));
const { layouts, rounds } = cases;
for (const { workflows, direction, lanes } of rounds) assert.deepEqual(placeRounds(workflows, { direction }), lanes);
for (const { workflow, direction, ends, layout, curves } of layouts) {
  const mine = place(workflow, { direction, ends });
  const told = { ...mine };
  assert.deepEqual(told, layout, `${direction} ${JSON.stringify(workflow.steps.map((step) => step.access))}`);
  assert.deepEqual(mine.edges.map((edge) => curve(edge, direction)), curves);
}
console.log(`${layouts.length} layouts and ${rounds.length} drawings of rounds agree`);
