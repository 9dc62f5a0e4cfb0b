// Folds a run's events into the view that cards show: twin of conductor_client/run_state.py's fold followed by
// payload.py's view_of (a property test compares them). Pure: `fold` returns nothing and changes `view`.

import { addCosts, addTokens, plain, sent, totals } from "./totals.js";
import { between } from "./format.js";
import { cut } from "./text.js";

export const ENDED = new Set(["succeeded", "failed", "cancelled"]);

/** A run of which nothing is known yet. */
export function emptyView(runId = null) {
  return {
    run_id: runId, seq: 0, status: "queued", workflow: null, steps: {}, error: null, plan: null, conductor: "",
    created_at: null, started_at: null, finished_at: null, plan_started_at: null, planned_at: null,
    round: 1, resumed: 0, rounds: [], rejected: [], failed_plans: [], plan_text: null, planning_round: null, lost_plans: 0,
    partial: false, wall_s: null, totals: totals(null),
  };
}

function waiting(worker, round) {
  return {
    status: "waiting", worker, served_model: null, output: null, partial: null, tokens: null, cost_usd: null, priced: false, seconds: null,
    error: null, cause: null, said: "", reused: null, notes: [], prompt_cut: false, finish: null, attempts: [],
    queued_at: null, started_at: null, finished_at: null, round,
  };
}

/** Applies one event. Returns the ids of the steps it touched; events already seen (by `seq`) touch none. */
export function fold(view, event) {
  if (event.seq && event.seq <= view.seq) return [];
  const touched = (RULES[event.kind] ?? (() => []))(view, event);
  view.seq = Math.max(view.seq, event.seq || 0);
  view.totals = totals(view);
  return touched;
}

const RULES = {
  run_created(view, event) {
    Object.assign(view, { run_id: event.run_id, created_at: event.at, conductor: event.conductor });
    const workflow = event.workflow ?? event.plan?.workflow ?? null;
    view.plan = planOf(event.plan);
    if (!workflow) return [];
    view.workflow = workflow;
    view.steps = Object.fromEntries(workflow.steps.map((step) => [step.step_id, waiting(step.worker, 1)]));
    setRound(view, roundOf(1, event.plan, workflow, "new"));
    return Object.keys(view.steps);
  },
  run_started(view, event) {
    Object.assign(view, { started_at: event.at, status: view.workflow ? "running" : "planning" });
    return [];
  },
  plan_started(view, event) {
    if (view.planning_round !== null) view.lost_plans += 1;
    Object.assign(view, {
      status: "planning", plan_started_at: view.plan_started_at ?? event.at, plan_text: null, planning_round: event.round,
    });
    return [];
  },
  plan_rejected(view, event) {
    view.rejected = [...view.rejected, { round: event.round, ...spentOn(event) }];
    view.plan_text = cutOrNull(event.raw_text);
    return [];
  },
  plan_created(view, event) {
    const { workflow } = event.plan;
    view.rounds = view.rounds.filter((each) => each.round !== event.round);
    view.rounds.push(roundOf(event.round, event.plan, workflow, event.plan.decision));
    if (workflow || !view.plan) view.plan = planOf(event.plan);
    Object.assign(view, { planned_at: event.at, status: "running", round: lastRound(view) });
    Object.assign(view, { plan_text: null, planning_round: null });
    if (!workflow) return [];
    view.workflow = workflow;
    for (const step of workflow.steps) view.steps[step.step_id] = waiting(step.worker, event.round);
    return workflow.steps.map((step) => step.step_id);
  },
  plan_failed(view, event) {
    view.failed_plans = [...view.failed_plans, spentOn(event)];
    Object.assign(view, {
      error: errorOf(event.error), plan_text: cutOrNull(event.partial_text) ?? view.plan_text, planning_round: null,
    });
    if (event.round > 1) {
      view.rounds = view.rounds.filter((each) => each.round !== event.round);
      setRound(view, { ...roundOf(event.round, null, null, null), error: errorOf(event.error) });
    }
    return [];
  },
  round_started(view, event) {
    if (!view.rounds.some((each) => each.round === event.round)) setRound(view, roundOf(event.round, null, null, "new"));
    view.rounds = view.rounds.map((each) => (each.round === event.round ? { ...each, workflow: event.workflow } : each));
    view.rounds.sort((one, other) => one.round - other.round);
    Object.assign(view, { workflow: event.workflow, status: "running", round: lastRound(view) });
    for (const step of event.workflow.steps) view.steps[step.step_id] ??= waiting(step.worker, event.round);
    return event.workflow.steps.map((step) => step.step_id);
  },
  run_resumed(view) {
    view.resumed += 1;
    return [];
  },
  run_finished: (view, event) => ended(view, event, "succeeded", null),
  run_failed: (view, event) => ended(view, event, "failed", errorOf(event.error), event.partial),
  run_cancelled: (view, event) => ended(view, event, "cancelled", null, event.partial),
};

for (const [kind, change] of Object.entries({
  step_queued(step, event) {
    const attempt = { ...blank(event.attempt, event.worker), queued_at: event.at };
    step.attempts = [...without(step, event.attempt), attempt];
    Object.assign(step, { status: "running", worker: event.worker, queued_at: step.queued_at ?? event.at, error: null });
  },
  step_started(step, event) {
    const tried = { ...attemptOf(step, event.attempt, event.worker), started_at: event.at, waited_s: event.waited_s, worker: event.worker };
    step.attempts = [...without(step, event.attempt), tried];
    Object.assign(step, { status: "running", started_at: step.started_at ?? event.at });
  },
  step_retried(step, event) {
    close(step, event, { error: errorOf(event.error), wait_s: event.wait_s });
    step.status = "running";
  },
  step_finished(step, event) {
    close(step, event, { first_token_at: event.first_token_at });
    spend(step);
    Object.assign(step, {
      status: "succeeded", worker: event.worker, output: cut(event.output), finish: event.finish,
      served_model: event.served_model, notes: event.notes, prompt_cut: Boolean(event.prompt_cut), finished_at: event.at,
      priced: Boolean(event.price),
    });
  },
  step_failed(step, event) {
    close(step, event, { error: errorOf(event.error) });
    spend(step);
    Object.assign(step, {
      status: "failed", worker: event.worker, error: errorOf(event.error), partial: cutOrNull(event.partial_text),
      served_model: event.served_model, finished_at: event.at,
    });
  },
  step_cancelled(step, event) {
    close(step, event, {});
    spend(step);
    Object.assign(step, { status: "cancelled", partial: cutOrNull(event.partial_text), finished_at: event.at });
  },
  step_skipped(step, event) {
    Object.assign(step, { status: "skipped", cause: event.cause, said: event.said });
  },
  step_reused(step, event) {
    const from = event.reused_from;
    Object.assign(step, {
      status: "reused", worker: event.worker, output: cut(event.output), served_model: event.served_model,
      reused: { run_id: from.run_id, step_id: from.step_id, seconds: from.duration_s, tokens: tokensOf(from.usage) },
      tokens: null, cost_usd: "0", finished_at: event.at,
    });
  },
})) {
  RULES[kind] = (view, event) => {
    const step = (view.steps[event.step_id] ??= waiting(null, view.rounds.length || 1));
    change(step, event);
    step.seconds = step.reused ? step.reused.seconds : between(step.started_at, step.finished_at);
    return [event.step_id];
  };
}

function ended(view, event, status, error, partial = view.partial) {
  Object.assign(view, { status, error, partial, finished_at: event.at });
  if (view.created_at) view.wall_s = between(view.started_at ?? view.created_at, event.at);
  return [];
}

const roundOf = (round, plan, workflow, decision) => ({ round, plan: spentOn(plan), workflow, decision, error: null });

const lastRound = (view) => view.rounds[view.rounds.length - 1]?.round ?? 1;

function setRound(view, round) {
  view.rounds = [...view.rounds, round];
  view.round = lastRound(view);
}

const errorOf = (error) => (error ? { kind: error.kind, message: error.message, hint: error.hint ?? "" } : null);
const cutOrNull = (text) => (text ? cut(text) : null);
const planOf = (plan) => (plan ? { conductor: plan.conductor, fallback: plan.fallback ?? null, decision: plan.decision } : null);

/** {in, out} of a usage as events carry it; null when there is none. */
const usageOf = (usage) => (usage ? { in: usage.input_tokens ?? null, out: usage.output_tokens ?? null } : null);
const costOf = (part) => (part.cost_usd === null || part.cost_usd === undefined ? null : plain(part.cost_usd));
const spentOn = (part) => (part ? { usage: usageOf(part.usage), cost_usd: costOf(part) } : null);

function tokensOf(usage) {
  const found = usageOf(usage);
  return !found || (found.in === null && found.out === null) ? null : found;
}

function blank(attempt, worker) {
  return {
    attempt, worker, queued_at: null, started_at: null, first_token_at: null, finished_at: null,
    waited_s: null, wait_s: null, error: null, usage: null, cost_usd: null,
  };
}

const without = (step, number) => step.attempts.filter((each) => each.attempt !== number);
const attemptOf = (step, number, worker) => step.attempts.find((each) => each.attempt === number) ?? blank(number, worker);

function close(step, event, changes) {
  const tried = attemptOf(step, event.attempt, event.worker ?? step.worker ?? "");
  const spent = { usage: usageOf(event.usage), cost_usd: costOf(event) };
  step.attempts = [...without(step, event.attempt), { ...tried, finished_at: event.at, ...changes, ...spent }];
}

function spend(step) {
  const calls = sent(step);
  const usage = addTokens(calls.map((each) => each.usage));
  const cost = addCosts(calls.map((each) => each.cost_usd));
  const unknown = usage.tokens.in === null && usage.tokens.out === null;
  step.tokens = unknown ? null : { ...usage.tokens, at_least: !usage.complete };
  step.cost_usd = cost.complete && calls.length ? cost.usd : null;
}
