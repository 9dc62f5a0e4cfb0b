// Everything by keyboard. Inside the drawing the arrows move between cards; one-letter keys act on the focused
// card. The list that a person sees is in help.js.

const ARROWS = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowDown: [0, 1], ArrowUp: [0, -1] };
const REMOVES = new Set(["Delete", "Backspace"]);
const isUndo = ({ ctrlKey, metaKey, shiftKey, key }) => (ctrlKey || metaKey) && !shiftKey && key.toLowerCase() === "z";

export class Keyboard {
  constructor(instance) {
    this.instance = instance;
    instance.root.addEventListener("keydown", (event) => this.key(event));
  }

  key(event) {
    const { target } = event;
    if (event.defaultPrevented || target.closest(isUndo(event) ? ".panel" : ".panel, .tools, input, select, textarea")) return;
    const isDone = this.act(event, target.closest("[data-box]")?.dataset.box ?? null);
    if (!isDone) return;
    event.preventDefault();
    event.stopPropagation(); // the page has keys of its own
  }

  /** Returns whether the key meant something here. */
  act(event, id) {
    const { graph, editing, linking, player } = this.instance;
    const { key } = event;
    const hasCommand = event.ctrlKey || event.metaKey;
    if (isUndo(event)) return editing.isOn && this.undo();
    if (hasCommand || event.altKey) return false;
    if (key === "Escape") return this.escape();
    if (player?.key(event)) return true;
    if (!id) return Boolean(editing.isOn && graph.edge && REMOVES.has(key)) && done(editing.removeEdge());
    if (linking.from && linking.byKey) return this.linkKey(key);
    if (ARROWS[key]) return this.move(id, ARROWS[key]);
    if (key === "Home" || key === "End") return this.jump(key);
    if (key === "+" || key === "=") return done(graph.viewport.zoomBy(1.25));
    if (key === "-") return done(graph.viewport.zoomBy(1 / 1.25));
    if (key === "0") return done(graph.viewport.fit());
    if ((key === "Enter" || key === " ") && event.target.closest(".card")) return done(graph.select(id));
    return editing.isOn && !graph.isPast(id) && this.edit(key, id, event);
  }

  edit(key, id, { shiftKey }) {
    const { graph, editing, linking } = this.instance;
    const card = graph.cards.get(id).button;
    switch (key.toLowerCase()) {
      case "l": return done(linking.start(id, true));
      case "e": return done(this.nextEdge(id));
      case "m": case "contextmenu": return done(editing.cardMenu(id, card));
      case "f10": return shiftKey && done(editing.cardMenu(id, card));
      case "i": return done(editing.editInstruction(id, card));
      case "w": return done(editing.workerMenu(id, card));
      case "a": return done(editing.addForm(id, card));
      case "[": return done(editing.move(id, -1));
      case "]": return done(editing.move(id, 1));
      case "delete": case "backspace": return done(graph.edge ? editing.removeEdge() : editing.remove(id));
      default: return false;
    }
  }

  linkKey(key) {
    const { graph, linking } = this.instance;
    if (key === "Enter" || key === " ") return done(linking.finish(graph.focused));
    if (key === "Tab") linking.stop();
    if (!ARROWS[key]) return false;
    this.move(graph.focused, ARROWS[key]);
    linking.aim(graph.focused);
    return true;
  }

  escape() {
    const { graph, editing, linking } = this.instance;
    if (linking.from) return done(linking.stop());
    if (graph.edge) return done(editing.chooseEdge(null));
    if (graph.selected) return done(graph.select(graph.selected));
    return false;
  }

  undo() {
    const { store, hooks, editing } = this.instance;
    if (store.payload.can_undo) hooks.onTrigger("undo", { op_id: editing.newId() });
    return store.payload.can_undo;
  }

  jump(key) {
    const { steps } = this.instance.store.drawn;
    return done(this.instance.graph.moveTo(steps[key === "Home" ? 0 : steps.length - 1].step_id));
  }

  /** Moves to the nearest card in that direction; beyond the last one to the next by number. */
  move(id, direction) {
    const { graph, store } = this.instance;
    const next = nearest(graph.boxes, id, direction);
    const at = store.drawn.steps.findIndex((step) => step.step_id === id);
    const beside = store.drawn.steps[at + (direction[0] + direction[1])]?.step_id;
    if (next ?? beside) graph.moveTo(next ?? beside);
    return true;
  }

  /** Chooses the focused card's access edges in turn. */
  nextEdge(id) {
    const { graph, editing } = this.instance;
    const { access } = editing.step(id);
    if (!access.length) return this.instance.say(editing.word("edge_none", { n: editing.number(id) }));
    const at = graph.edge?.by === id ? access.indexOf(graph.edge.seen) : -1;
    return editing.chooseEdge({ seen: access[(at + 1) % access.length], by: id });
  }
}

const done = () => true;

/** The id of the card that lies nearest in a direction, or null. Pure. */
export function nearest(boxes, id, [dx, dy]) {
  const centre = (box) => [box.x + box.width / 2, box.y + box.height / 2];
  const [x, y] = centre(boxes.get(id));
  let best = null, least = Infinity;
  for (const [other, box] of boxes) {
    const [otherX, otherY] = centre(box);
    const ahead = (otherX - x) * dx + (otherY - y) * dy, aside = Math.abs((otherX - x) * dy) + Math.abs((otherY - y) * dx);
    if (other === id || ahead <= 1) continue;
    const far = ahead + 2.5 * aside;
    if (far < least) [least, best] = [far, other];
  }
  return best;
}
