// Honest sums of tokens, money and time over a run. Money is added as whole numbers, not as floats. Pure.

import { criticalPath } from "./topology.js";

const SCALE = 20; // decimal places kept

/** {tokens: {in, out}, complete}: adds what is known; complete is false when any part is not wholly known. */
export function addTokens(parts) {
  const tokens = { in: null, out: null };
  let complete = true;
  for (const part of parts) {
    if (!part || part.in === null || part.out === null) complete = false;
    for (const side of ["in", "out"]) if (part && part[side] !== null) tokens[side] = (tokens[side] ?? 0) + part[side];
  }
  return { tokens, complete };
}

/** {usd: decimal string, complete}. */
export function addCosts(costs) {
  let sum = 0n, complete = true;
  for (const cost of costs) {
    if (cost === null || cost === undefined) complete = false;
    else sum += scaled(String(cost));
  }
  return { usd: unscaled(sum), complete };
}

function scaled(decimal) {
  const [number, exponent = "0"] = decimal.toLowerCase().split("e");
  const [whole, fraction = ""] = number.replace("-", "").split(".");
  const places = SCALE + Number(exponent) - fraction.length;
  const digits = BigInt(whole + fraction || "0");
  const value = places >= 0 ? digits * 10n ** BigInt(places) : digits / 10n ** BigInt(-places);
  return number.startsWith("-") ? -value : value;
}

function unscaled(value) {
  const digits = String(value < 0n ? -value : value).padStart(SCALE + 1, "0");
  const fraction = digits.slice(-SCALE).replace(/0+$/, "");
  return (value < 0n ? "-" : "") + digits.slice(0, -SCALE) + (fraction ? `.${fraction}` : "");
}

/** A decimal string in its shortest plain form: "1E-7" → "0.0000001", "0.50" → "0.5". */
export const plain = (decimal) => unscaled(scaled(String(decimal)));

/** A step's attempts whose call left the queue. */
export const sent = (step) => step.attempts.filter((each) => each.started_at !== null || each.usage !== null);

const IDLE = new Set(["reused", "skipped", "waiting"]);

/** What the run took so far: workers' and planning's tokens and cost, the critical path, the sum of all steps. */
export function totals(view) {
  const steps = view ? Object.entries(view.steps) : [];
  const called = steps.filter(([, step]) => !IDLE.has(step.status) && step.finished_at !== null);
  const calls = called.flatMap(([, step]) => sent(step));
  const covered = new Set(view?.rounds.filter((each) => each.plan).map((each) => each.round));
  const plans = (view?.rounds ?? []).map((each) => each.plan).filter(Boolean);
  for (const each of view?.rejected ?? []) if (!covered.has(each.round)) plans.push(each);
  plans.push(...(view?.failed_plans ?? []));
  const usage = addTokens(calls.map((each) => each.usage)), cost = addCosts(calls.map((each) => each.cost_usd));
  const planUsage = addTokens(plans.map((each) => each.usage)), planCost = addCosts(plans.map((each) => each.cost_usd));
  // Nobody told what a planning that was left unfinished has used.
  const isCutShort = view?.finished_at && view.planning_round !== null;
  if (view?.lost_plans || isCutShort) planUsage.complete = planCost.complete = false;
  const seconds = new Map();
  for (const [id, step] of steps) if (step.seconds !== null && !step.reused) seconds.set(id, step.seconds);
  const timed = view?.workflow && seconds.size > 0;
  return {
    tokens: usage.tokens, plan_tokens: planUsage.tokens, cost_usd: cost.usd, plan_cost_usd: planCost.usd,
    complete: { usage: usage.complete && planUsage.complete, cost: cost.complete && planCost.complete },
    critical_path_s: timed ? milliseconds(criticalSeconds(view, seconds)) : null,
    chained_s: timed ? milliseconds([...seconds.values()].reduce((sum, each) => sum + each, 0)) : null,
  };
}

/** Of all rounds: one begins when the one before has ended. */
function criticalSeconds(view, seconds) {
  const workflows = view.rounds.length ? view.rounds.map((each) => each.workflow) : [view.workflow];
  return workflows.filter(Boolean).reduce((sum, workflow) => sum + criticalPath(workflow, seconds).seconds, 0);
}

const milliseconds = (seconds) => Math.round(seconds * 1000) / 1000;
