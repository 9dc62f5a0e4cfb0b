// What follows from access lists alone, and why an edit would be refused. Twin of conductor_client/topology.py
// and, for the refusals, of the rules in conductor_client/edits.py (Python has the last word). Pure: no DOM.

/** Step id → its layer: one below the deepest step it sees. */
export function depths(workflow) {
  const depth = new Map();
  for (const step of workflow.steps) {
    depth.set(step.step_id, 1 + step.access.reduce((deepest, seen) => Math.max(deepest, depth.get(seen)), -1));
  }
  return depth;
}

/** Ids of every step that reaches this one over access edges, without itself. */
export function upstream(workflow, stepId) {
  const steps = new Map(workflow.steps.map((step) => [step.step_id, step]));
  const found = new Set(), waiting = [...steps.get(stepId).access];
  while (waiting.length) {
    const seen = waiting.pop();
    if (!found.has(seen)) {
      found.add(seen);
      waiting.push(...steps.get(seen).access);
    }
  }
  return found;
}

/** Ids of steps the answer does not rest on. */
export function unused(workflow) {
  const final = workflow.steps[workflow.steps.length - 1].step_id;
  const used = upstream(workflow, final).add(final);
  return new Set(workflow.steps.map((step) => step.step_id).filter((id) => !used.has(id)));
}

/** The slowest chain: {path: ids, seconds}. `seconds` maps step id → s; steps without one count 0. */
export function criticalPath(workflow, seconds) {
  const ends = new Map(), from = new Map();
  for (const step of workflow.steps) {
    let latest = null;
    for (const seen of step.access) if (latest === null || ends.get(seen) > ends.get(latest)) latest = seen;
    from.set(step.step_id, latest);
    ends.set(step.step_id, (latest === null ? 0 : ends.get(latest)) + (seconds.get(step.step_id) ?? 0));
  }
  let last = null;
  for (const step of workflow.steps) if (last === null || ends.get(step.step_id) > ends.get(last)) last = step.step_id;
  const path = [];
  for (let walk = last; walk !== null; walk = from.get(walk)) path.unshift(walk);
  return { path, seconds: ends.get(last) };
}

/** Why `by` may not see `seen`, as {key, values} of a label, or null when it may. */
export function refusal(workflow, seen, by) {
  const place = (id) => workflow.steps.findIndex((step) => step.step_id === id);
  const values = { seen: place(seen) + 1, by: place(by) + 1 };
  if (seen === by) return { key: "refused_self", values };
  if (values.seen > values.by) return { key: "refused_earlier", values };
  if (workflow.steps[values.by - 1].access.includes(seen)) return { key: "refused_already", values };
  return null;
}

/** Whether a step can move to `position` without passing a step it sees or that sees it. */
export function canMove(workflow, stepId, position) {
  const from = workflow.steps.findIndex((step) => step.step_id === stepId);
  if (position < 0 || position >= workflow.steps.length || position === from) return false;
  const passed = workflow.steps.slice(Math.min(from, position), Math.max(from, position) + 1);
  return position < from
    ? !passed.some((other) => workflow.steps[from].access.includes(other.step_id))
    : !passed.some((other) => other.access.includes(stepId));
}
