// Rounds as lanes, one below another under a head with their name. Twin of conductor_client/lanes.py, figure for
// figure (a test compares them). Pure: no DOM.

import { place } from "./layout.js";

export const HEAD = 40, LANE_GAP = 24;

/** The workflows that a drawing shows: those of all rounds, or the one there is. */
export const workflowsOf = (drawn) => (drawn.rounds ? drawn.rounds.map((each) => each.workflow).filter(Boolean) : [drawn]);

/** A drawing laid out: like layout.js's `place`; with rounds, `lanes` hold each one's {y, height, prompt, answer}. */
export function placeDrawn(drawn, options = {}) {
  if (!drawn.rounds) return { ...place(drawn, options), lanes: [] };
  const { lanes, routes, ...rest } = placeRounds(drawn.rounds.map((each) => each.workflow), options);
  return { ...rest, edges: routes, starts: [], end: null, prompt: null, answer: null, lanes };
}

/** {direction, width, height, cards, routes, lanes} of the rounds' workflows; null = a round without one. */
export function placeRounds(workflows, { direction = "right", ...sizes } = {}) {
  const drawn = workflows.map((each) => each && place(each, { direction, ...sizes }));
  const width = Math.max(...drawn.filter(Boolean).map((each) => each.width));
  const cards = [], routes = [], lanes = [];
  let y = 0;
  for (const each of drawn) {
    const height = HEAD + (each?.height ?? 0);
    if (!each) lanes.push({ y, height, prompt: null, answer: null });
    else {
      const moved = move(each, direction === "stack" ? width - each.width : 0, y + HEAD);
      cards.push(...moved.cards);
      routes.push(...moved.starts, ...moved.edges, ...(moved.end ? [moved.end] : []));
      lanes.push({ y, height, prompt: moved.prompt, answer: moved.answer });
    }
    y += height + LANE_GAP;
  }
  return { direction, width, height: y - LANE_GAP, cards, routes, lanes };
}

function move(layout, x, y) {
  const box = (one) => one && { ...one, x: one.x + x, y: one.y + y };
  const route = (one) => one && { ...one, points: one.points.map(([left, top]) => [left + x, top + y]) };
  return {
    ...layout, cards: layout.cards.map(box), edges: layout.edges.map(route), starts: layout.starts.map(route),
    prompt: box(layout.prompt), answer: box(layout.answer), end: route(layout.end),
  };
}
