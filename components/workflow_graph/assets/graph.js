// The drawing: keeps cards and edges in step with the store and paints only what changed. Owns the elements
// between toolbar and page; selection, focus and highlights live here, editing in its own modules.

import { arrange } from "./arrange.js";
import { Card } from "./card.js";
import { cardOf, context, laneName, planningOf } from "./cards.js";
import { el, setAttribute, setChildren, setText, svg } from "./dom.js";
import { Edges } from "./edges.js";
import { say } from "./format.js";
import { PILL } from "./layout.js";
import { icon } from "./icons.js";
import { workflowsOf } from "./lanes.js";
import { Planning } from "./planning.js";
import { criticalPath } from "./topology.js";
import { Viewport } from "./viewport.js";

export class Graph {
  constructor(store, onSelect) {
    Object.assign(this, { store, onSelect, cards: new Map(), lanes: [], selected: null, hovered: null, focused: null, layout: null, edge: null });
    this.edges = new Edges();
    this.prompt = pill("prompt");
    this.answer = pill("answer");
    this.over = svg("svg", { class: "edges over", "aria-hidden": "true" }); // lines that lie over the cards
    this.layer = el("div", { class: "layer" }, this.edges.root, this.prompt.root, this.answer.root, this.over);
    this.planning = new Planning();
    this.stage = el("div", { class: "stage", role: "group" }, this.layer, this.planning.root);
    this.viewport = new Viewport(this.stage, this.layer, () => this.onView?.());
    this.stage.addEventListener("pointerover", (event) => this.hover(event.target.closest?.("[data-box]")?.dataset.box ?? null));
    this.stage.addEventListener("pointerleave", () => this.hover(null));
    this.stage.addEventListener("focusin", (event) => event.target.dataset.step && this.focusOn(event.target.dataset.step));
    this.stage.addEventListener("click", (event) => this.click(event));
  }

  /** Brings the drawing up to date. `size` is the room for it, in px. */
  render(changes, size) {
    const workflow = this.store.drawn;
    setAttribute(this.stage, "aria-label", say(this.store.payload.labels, "graph"));
    this.planning.paint(this.store, planningOf(this.store));
    setAttribute(this.layer, "hidden", !workflow);
    if (!workflow) return this.resize(size.room < 420 ? size.room : 320);
    if (changes.structure || size.isNew || !this.layout) this.place(workflow, size);
    this.paint(workflow, changes.all || changes.structure ? null : changes.steps);
    return undefined;
  }

  place(workflow, size) {
    const placed = arrange(workflow, size);
    this.layout = placed.layout;
    const active = this.stage.getRootNode().activeElement;
    const held = this.layer.contains(active) ? active : null;
    for (const id of [...this.cards.keys()]) if (!workflow.steps.some((step) => step.step_id === id)) this.cards.delete(id);
    const heir = this.cards.has(this.focused) ? this.focused : this.nearestTo(this.focused) ?? workflow.steps[0].step_id;
    const boxes = new Map(placed.layout.cards.map((box) => [box.step_id, box]));
    for (const step of workflow.steps) {
      const card = this.cards.get(step.step_id) ?? new Card(step.step_id);
      card.put(boxes.get(step.step_id));
      this.cards.set(step.step_id, card);
    }
    this.boxes = boxes;
    const cards = workflow.steps.map((step) => this.cards.get(step.step_id).root);
    this.placeLanes(placed.layout);
    const ends = placed.layout.prompt ? [this.prompt.root, this.answer.root] : [];
    const [first, last] = [ends.slice(0, 1), ends.slice(1)];
    setChildren(this.layer, [...this.lanes.map((lane) => lane.root), this.edges.root, ...first, ...cards, ...last, this.over]);
    this.edges.draw(placed.layout);
    setAttribute(this.layer, "data-direction", placed.layout.direction);
    if (placed.layout.prompt) {
      put(this.prompt.root, placed.layout.prompt);
      put(this.answer.root, placed.layout.answer);
    }
    this.stage.classList.toggle("compact", placed.isCompact);
    this.stage.classList.toggle("icons", (placed.layout.prompt ?? placed.layout.lanes.find((lane) => lane.prompt).prompt).width < PILL.width);
    this.viewport.isFixed = placed.isFixed;
    this.resize(placed.height);
    this.stage.classList.toggle("fixed", placed.isFixed);
    if (placed.isFixed) this.viewport.view = { x: 0, y: 0, k: 1, touched: false };
    this.viewport.rest(placed.view, placed.layout.height);
    if (this.selected && !this.cards.has(this.selected)) this.selected = null;
    if (heir !== this.focused) this.focusOn(heir);
    if (held && !held.isConnected) this.moveTo(heir);
    else if (held && held !== this.stage.getRootNode().activeElement) held.focus({ preventScroll: true });
  }

  /** A strip for each round, with its name and its own pills. */
  placeLanes({ lanes, width }) {
    this.lanes = (lanes ?? []).map(({ y, height, prompt, answer }) => {
      const name = el("span", { class: "name" }), note = el("span", { class: "note", dir: "auto" });
      const lane = { name, note, root: el("div", { class: "lane" }, el("div", { class: "head" }, name, note)), ends: [] };
      put(lane.root, { x: 0, y, width, height });
      for (const [kind, box] of [["prompt", prompt], ["answer", answer]]) {
        if (!box) continue;
        const end = pill(kind);
        put(end.root, { ...box, y: box.y - y });
        lane.root.append(end.root);
        lane.ends.push([kind, end]);
      }
      return lane;
    });
  }

  paintLanes(rounds) {
    const { store } = this;
    this.lanes.forEach((lane, at) => {
      const said = laneName(rounds[at], store), isLast = !rounds.slice(at + 1).some((each) => each.workflow);
      setText(lane.name, said.name);
      setText(lane.note, said.note);
      lane.note.title = said.note;
      for (const [kind, end] of lane.ends) {
        setText(end.word, say(store.payload.labels, kind));
        if (kind === "answer") setAttribute(end.root, "data-status", isLast ? store.view.status : "past");
      }
    });
  }

  /** The card that stays and lies nearest to where that one lay. */
  nearestTo(id) {
    const from = this.boxes?.get(id);
    const far = (other) => Math.hypot(this.boxes.get(other).x - from.x, this.boxes.get(other).y - from.y);
    return from ? [...this.cards.keys()].reduce((best, each) => (best !== null && far(best) <= far(each) ? best : each), null) : null;
  }

  resize(height) {
    const px = `${Math.round(height)}px`;
    if (this.stage.style.height !== px) this.stage.style.height = px;
  }

  /** Paints the named cards, or all; and what depends on the whole. */
  paint(workflow, ids) {
    const shared = context(this.store);
    for (const step of workflow.steps) {
      if (ids && !ids.has(step.step_id)) continue;
      const card = this.cards.get(step.step_id);
      card.paint(cardOf(step, shared));
      setAttribute(card.menu, "aria-label", say(shared.labels, "menu_of", { n: shared.number.get(step.step_id) }));
    }
    const { view, payload } = this.store;
    setText(this.prompt.word, say(shared.labels, "prompt"));
    this.prompt.root.title = `${say(shared.labels, "prompt_hint")}\n\n${workflow.prompt.slice(0, 600)}`;
    setText(this.answer.word, say(shared.labels, "answer"));
    setAttribute(this.answer.root, "data-status", payload.draft ? "draft" : view.status);
    if (workflow.rounds) this.paintLanes(workflow.rounds);
    for (const [id, card] of this.cards) card.root.classList.toggle("past", this.isPast(id));
    this.mark(workflow);
  }

  /** Whether the step belongs to an earlier round: it can be looked at, not changed here. */
  isPast(id) {
    return !this.store.workflow.steps.some((step) => step.step_id === id);
  }

  /** Classes of cards and edges: what runs, what is seen, what is withheld. */
  mark(workflow = this.store.drawn) {
    if (!workflow || !this.layout) return;
    const centre = this.isLinking ? null : this.hovered ?? this.selected;
    const reader = centre && workflow.steps.find((step) => step.step_id === centre);
    const sees = new Set(reader?.access);
    const place = new Map(workflow.steps.map((step, at) => [step.step_id, at]));
    const lane = new Map(workflowsOf(workflow).flatMap((each, at) => each.steps.map((step) => [step.step_id, at])));
    for (const [id, card] of this.cards) {
      const isWithheld = reader && !sees.has(id) && place.get(id) < place.get(centre) && lane.get(id) === lane.get(centre);
      const { classList } = card.root;
      classList.toggle("selected", id === this.selected);
      classList.toggle("seen", sees.has(id));
      classList.toggle("withheld", Boolean(isWithheld));
      classList.toggle("last", place.get(id) === workflow.steps.length - 1);
      setAttribute(card.button, "aria-pressed", String(id === this.selected));
      setAttribute(card.button, "tabindex", id === this.focused ? "0" : "-1");
      setAttribute(card.root, "data-withheld", isWithheld ? say(this.store.payload.labels, "withheld") : null);
    }
    const slow = this.slowPath(workflow);
    const status = (id) => this.cards.get(id)?.root.dataset.status;
    this.edges.mark((seen, by) => [
      seen === null || by === null ? "end" : "access",
      status(by) === "running" ? "runs" : "",
      reader && by === centre ? "lit" : "",
      reader && by !== centre ? "dim" : "",
      slow.has(`${seen} ${by}`) ? "slow" : "",
      this.edge && this.edge.seen === seen && this.edge.by === by ? "chosen" : "",
    ].filter(Boolean));
  }

  /** The edges of the longest chain, once the run has ended. */
  slowPath(workflow) {
    const { view, payload, hasEnded } = this.store;
    const seconds = new Map(Object.entries(view.steps).flatMap(([id, step]) => (step.seconds === null || step.reused ? [] : [[id, step.seconds]])));
    if (!hasEnded || payload.draft || seconds.size < 2) return new Set();
    const paths = workflowsOf(workflow).map((each) => criticalPath(each, seconds).path);
    return new Set(paths.flatMap((path) => path.slice(1).map((id, at) => `${path[at]} ${id}`)));
  }

  hover(id) {
    if (id === this.hovered) return;
    this.hovered = id;
    clearTimeout(this.hovering);
    this.hovering = setTimeout(() => this.mark(), id ? 90 : 160);
  }

  /** While an edge is drawn nothing fades, wherever the pointer is. */
  setLinking(isLinking) {
    this.isLinking = isLinking;
    this.mark();
  }

  focusOn(id) {
    this.focused = id;
    this.mark();
  }

  /** Moves the keyboard's focus to a card and into sight. */
  moveTo(id) {
    this.focusOn(id);
    const card = this.cards.get(id);
    if (!this.viewport.isFixed) this.viewport.reveal(this.boxes.get(id));
    card.button.focus({ preventScroll: !this.viewport.isFixed });
  }

  select(id) {
    this.selected = id === this.selected ? null : id;
    this.mark();
    this.onSelect(this.selected);
  }

  click(event) {
    const card = event.target.closest(".card");
    if (card) return this.select(card.dataset.step);
    if (event.target === this.stage || event.target === this.layer) return this.onBackground?.();
    return undefined;
  }
}

function pill(kind) {
  const word = el("span", { class: "word" });
  return { word, root: el("div", { class: `pill ${kind}` }, icon(kind, 15), word) };
}

function put(node, box) {
  Object.assign(node.style, { transform: `translate(${box.x}px, ${box.y}px)`, width: `${box.width}px`, height: `${box.height}px` });
}
