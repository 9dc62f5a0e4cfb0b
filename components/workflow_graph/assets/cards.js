// What a card says, as plain strings: pure, so that the page, the exported picture and the tests agree.

import { dollars, duration, say, sayCount, ticking, total } from "./format.js";
import { workflowsOf } from "./lanes.js";
import { unused } from "./topology.js";

const SILENT_AFTER_S = 8; // a pause in the text longer than this is named

/** Facts that all cards of one drawing share. */
export function context(store) {
  const { drawn, payload, view } = store;
  const number = new Map((drawn?.steps ?? []).map((step, at) => [step.step_id, (drawn.rounds ? step.position : at) + 1]));
  return {
    labels: payload.labels, number, view, now: store.now(), hasEnded: store.hasEnded, marks: payload.marks ?? {},
    isDraft: payload.draft, unused: new Set(drawn ? workflowsOf(drawn).flatMap((each) => [...unused(each)]) : []), live: store.live,
    tools: new Set((payload.workers ?? []).filter((each) => each.is_tool).map((each) => each.name)),
  };
}

/** Everything one card shows. */
export function cardOf(step, shared) {
  const { labels, number } = shared;
  const state = shared.view.steps[step.step_id] ?? null;
  const mark = shared.marks[step.step_id];
  const status = statusOf(state, mark, shared);
  const phase = status === "running" ? phaseOf(state) : status;
  const word = say(labels, `status.${phase}`);
  const worker = status === "will_run" || status === "draft" ? step.worker : (state?.worker ?? step.worker);
  const body = bodyOf(step, state, status, shared);
  const sees = ofSteps("sees", step, shared);
  const tags = shared.unused.has(step.step_id) ? [say(labels, "unused")] : [];
  if (worker !== step.worker) tags.push(say(labels, "instead_of", { worker: step.worker }));
  const tag = tags.join(", ");
  const foot = footOf(step, state, status, shared);
  const time = timeOf(state, status, shared);
  const label = say(labels, "card", { n: number.get(step.step_id), worker, status: word, sees });
  return {
    id: step.step_id, number: number.get(step.step_id), worker, isTool: shared.tools.has(worker), status, phase, word, time, body, foot, tag,
    instruction: step.instruction.trim(), label: tag ? `${label}, ${tag}` : label,
  };
}

/** A sentence about what a step sees: `key`.none, .one or .other. */
function ofSteps(key, { access }, { labels, number }) {
  const form = access.length > 1 ? "other" : access.length ? "one" : "none";
  return say(labels, `${key}.${form}`, { steps: listOf(labels, access.map((id) => number.get(id))) });
}

function statusOf(state, mark, { isDraft, hasEnded }) {
  if (mark === "will_run") return "will_run";
  if (mark === "reused") return "reused";
  if (!state) return isDraft ? "draft" : "waiting";
  if (hasEnded && (state.status === "waiting" || state.status === "running")) return "not_run";
  return state.status;
}

/** How a running step stands: in its worker's queue, at work, or between two tries. */
function phaseOf({ attempts }) {
  const attempt = attempts[attempts.length - 1];
  if (attempt?.finished_at && attempt.wait_s !== null) return "retrying";
  return attempt && !attempt.started_at ? "queued" : "running";
}

/** {text, kind, note, mark}: kind is output, live, thinking, partial, error or none; a note and a mark are ours, a text is theirs. */
function bodyOf(step, state, status, shared) {
  const { labels } = shared;
  const note = (key) => ({ kind: "none", text: "", note: say(labels, key) });
  const accessNote = (key) => ({ kind: "none", text: "", note: ofSteps(key, step, shared) });
  switch (status) {
    case "draft": case "will_run": return accessNote("will_see");
    case "waiting": return accessNote("waits_for");
    case "not_run": return note(state.started_at ? "never_finished" : "never_started");
    case "running": return runningBody(step, state, shared);
    case "failed": return failedBody(state, labels);
    case "skipped": return skippedBody(state, shared);
    case "cancelled": return state.partial ? partial(state, labels, "") : note("stopped_empty");
    default: return state?.output?.chars ? outputBody(state, labels) : note("empty_output");
  }
}

const partial = (state, labels, note) => ({ kind: "partial", text: state.partial.tail, note, mark: say(labels, "partial") });

function outputBody(state, labels) {
  const key = state.prompt_cut ? "prompt_cut" : state.finish === "length" ? "cut" : null;
  return { kind: "output", text: state.output.head.trimStart(), note: "", mark: key ? say(labels, key) : "" };
}

function runningBody(step, state, { labels, live, now }) {
  const writes = live.get(step.step_id);
  const quiet = writes?.heard_at ? (now - writes.heard_at) / 1000 : 0;
  const silence = quiet > SILENT_AFTER_S ? say(labels, "silent", { seconds: ticking(quiet) }) : "";
  if (writes?.output.chars) return { kind: "live", text: writes.output.tail, note: silence };
  if (writes?.reasoning.chars) return { kind: "thinking", text: writes.reasoning.tail, note: silence || say(labels, "thinking") };
  const attempt = state.attempts[state.attempts.length - 1];
  const waited = (from) => ticking(Math.max(0, (now - from) / 1000));
  if (attempt?.finished_at && attempt.wait_s !== null) {
    const left = Math.max(0, attempt.wait_s - (now - Date.parse(attempt.finished_at)) / 1000);
    return { kind: "none", text: attempt.error?.message ?? "", note: say(labels, "tries_again", { seconds: ticking(left) }) };
  }
  const since = attempt?.started_at ?? attempt?.queued_at;
  const key = attempt?.started_at ? "waits_first_word" : "waits_in_queue";
  return { kind: "none", text: writes?.notice ?? "", note: say(labels, key, { seconds: waited(since ? Date.parse(since) : now) }) };
}

function failedBody(state, labels) {
  const error = state.error?.message || say(labels, "failed_unknown");
  return state.partial
    ? partial(state, labels, error)
    : { kind: "error", text: state.error?.hint ?? "", note: error };
}

function skippedBody(state, { labels, number, view }) {
  const cause = state.cause && number.get(state.cause);
  if (!cause) return { kind: "none", text: "", note: state.said || say(labels, "skipped_unknown") };
  const how = view.steps[state.cause]?.status ?? "failed";
  return { kind: "none", text: "", note: say(labels, "skipped_because", { n: cause, status: say(labels, `was.${how}`) }) };
}

const IDLE = new Set(["draft", "will_run", "waiting", "skipped", "not_run"]);

/** How long a step took, or runs already, and in how many tries; "" when there is nothing to say. */
function timeOf(state, status, { labels, now }) {
  if (!state || IDLE.has(status)) return "";
  const tries = state.attempts.length > 1 ? [sayCount(labels, "tries", state.attempts.length)] : [];
  if (status === "running") {
    const from = state.started_at ?? state.queued_at;
    return [from ? ticking(Math.max(0, (now - Date.parse(from)) / 1000)) : null, ...tries].filter(Boolean).join(" · ");
  }
  const took = duration(state.reused ? state.reused.seconds : state.seconds);
  if (took && status === "reused") return say(labels, "took_then", { seconds: took });
  return [took, ...tries].filter(Boolean).join(" · ");
}

/** The figures under a card, in order; an unknown one says so. */
function footOf(step, state, status, { labels, live }) {
  if (!state || IDLE.has(status)) return [];
  if (status === "running") {
    const chars = live.get(step.step_id)?.output.chars ?? 0;
    return chars ? [sayCount(labels, "characters", chars)] : [];
  }
  if (status === "reused") {
    const tokens = total(state.reused ? state.reused.tokens : state.tokens);
    return tokens === null ? ["$0"] : [sayCount(labels, "tokens_then", tokens), "$0"];
  }
  const tokens = tokenWords(state.tokens, labels), cost = dollars(state.cost_usd);
  if (tokens === null && cost === null && !isUnpriced(state)) return [say(labels, "both_unknown")];
  return [tokens ?? say(labels, "tokens_unknown"), cost ?? say(labels, isUnpriced(state) ? "unpriced" : "cost_unknown")];
}

/** Whether a missing cost is for want of a price: then it is no gap in what is known. Twin of conductor_client/figures.py. */
const isUnpriced = (state) => state.status === "succeeded" && !state.priced;

function tokenWords(tokens, labels) {
  const known = total(tokens);
  if (known === null) return null;
  return (tokens.at_least ? "≥\u00a0" : "") + sayCount(labels, "tokens", known);
}

/** "1", "1 and 2", "1, 2 and 3". */
export function listOf(labels, numbers) {
  if (numbers.length < 2) return String(numbers[0] ?? "");
  return say(labels, "list_and", { most: numbers.slice(0, -1).join(", "), last: numbers[numbers.length - 1] });
}

/** What stands at the head of a round's lane. */
export function laneName({ round, workflow, decision, error }, { payload: { labels }, hasEnded }) {
  const name = say(labels, "round", { n: round });
  const key = workflow ? null : decision === "keep" ? "round_kept" : decision === "rejected" ? "round_rejected"
    : error ? "round_failed" : hasEnded ? "round_unfinished" : "round_planning";
  return { name, note: key ? say(labels, key, { said: error?.message ?? "" }) : "" };
}

/** The figures of the whole run, in order. */
export function runFacts(store) {
  const { labels } = store.payload;
  const { view } = store;
  const steps = Object.values(view.steps);
  const done = steps.filter((step) => step.status === "succeeded" || step.status === "reused").length;
  const facts = steps.length ? [sayCount(labels, "steps_done", steps.length, { done })] : [];
  const wall = view.wall_s ?? (view.started_at && !store.hasEnded ? Math.max(0, (store.now() - Date.parse(view.started_at)) / 1000) : null);
  const { totals } = view;
  if (wall !== null) {
    const { chained_s: chained, critical_path_s: longest } = totals;
    const isTold = store.hasEnded && chained !== null && chained > longest * 1.02;
    const times = isTold ? ` (${say(labels, "step_times", { longest: duration(longest), chained: duration(chained) })})` : "";
    facts.push((store.hasEnded ? duration : ticking)(Math.max(0, wall)) + times);
  }
  return store.hasEnded ? [...facts, ...spendings(view, labels)] : facts;
}

/** Tokens and money of a finished run, planning included; "≥" when a part is unknown. */
function spendings({ totals, steps }, labels) {
  const { tokens, plan_tokens: planTokens, cost_usd: cost, plan_cost_usd: planCost, complete } = totals;
  const without = Object.values(steps).filter((step) => step.attempts.length && step.cost_usd === null);
  const known = sum(total(tokens), total(planTokens)) ?? (complete.usage ? 0 : null);
  const usd = Number(cost) + Number(planCost);
  const isPriceless = without.every(isUnpriced) && (without.length > 0 || complete.usage);
  const atLeast = (isComplete, text) => (isComplete ? text : `≥\u00a0${text}`);
  return [
    known === null ? say(labels, "tokens_unknown") : atLeast(complete.usage, sayCount(labels, "tokens", known)),
    complete.cost || usd > 0 ? atLeast(complete.cost, dollars(usd)) : say(labels, isPriceless ? "unpriced" : "cost_unknown"),
  ];
}

/** What a person must know about this run beside its figures: a fallback plan, a resumed run, a later round. */
export function runNotices({ view, payload: { labels } }) {
  const notices = [];
  if (view.plan?.fallback) notices.push(say(labels, "fallback", view.plan.fallback));
  if (view.resumed) notices.push(say(labels, "resumed"));
  return notices;
}

const sum = (one, other) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0));

/** What the planning card says: {title, who, text, kind, note, foot}. */
export function planningOf(store) {
  const { labels } = store.payload;
  const { view } = store;
  const writes = store.live.get("plan");
  const text = writes?.output.tail || writes?.reasoning.tail || "";
  const note = writes?.notice || say(labels, view.status === "queued" ? "queued_note" : "planning_note");
  const foot = [];
  if (view.rejected.length) foot.push(sayCount(labels, "plans_rejected", view.rejected.length));
  const chars = writes?.output.chars || writes?.reasoning.chars || 0;
  if (chars) foot.push(sayCount(labels, "characters", chars));
  return {
    title: say(labels, view.status === "queued" ? "queued" : "planning"), who: view.conductor, text, note: text ? "" : note, foot,
    kind: writes?.output.chars ? "live" : "thinking",
  };
}
