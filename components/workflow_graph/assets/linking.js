// Adding an access edge: by dragging from a card's handle to a later card, or with the keyboard (L, arrows,
// Enter). Whatever would be refused shows so before the drop, with the reason.

import { setAttribute, svg } from "./dom.js";
import { say } from "./format.js";
import { refusal } from "./topology.js";

export class Linking {
  constructor(instance) {
    Object.assign(this, { instance, from: null, over: null, byKey: false });
    this.rubber = svg("path", { class: "rubber" });
    instance.graph.stage.addEventListener("pointerdown", (event) => this.press(event));
  }

  get graph() { return this.instance.graph; }

  press(event) {
    const handle = event.target.closest("[data-handle]");
    if (!handle || event.button > 0 || !this.instance.editing.isOn) return;
    event.preventDefault();
    event.stopPropagation();
    this.start(handle.dataset.handle);
    const move = (moved) => this.drag(moved);
    const end = (ended) => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
      this.finish(ended.type === "pointerup" && this.over);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
    this.drag(event);
  }

  start(id, byKey = false) {
    Object.assign(this, { from: id, over: null, byKey });
    this.graph.over.append(this.rubber);
    this.graph.stage.classList.add("links");
    this.graph.setLinking(true);
    if (byKey) this.hint();
  }

  /** Says which keys go on; stays until linking ends. */
  hint() {
    const n = this.instance.editing.number(this.from);
    this.instance.say(say(this.instance.store.payload.labels, "link_keys", { n }), "info", true);
  }

  drag({ clientX, clientY }) {
    const [x, y] = this.graph.viewport.inDrawing(clientX, clientY);
    const inside = ([id, box]) => !this.graph.isPast(id) && x >= box.x - 14 && x <= box.x + box.width && y >= box.y && y <= box.y + box.height;
    this.aim([...this.graph.boxes].find(inside)?.[0] ?? null, [x, y]);
  }

  /** Points the rubber line at a card, or at a place. */
  aim(id, point) {
    if (!this.graph.boxes.has(this.from)) return; // new data took the card away
    const box = this.graph.boxes.get(this.from), target = this.graph.boxes.get(id);
    const isDown = ["down", "stack"].includes(this.graph.layout.direction);
    const start = isDown ? [box.x + box.width / 2, box.y + box.height] : [box.x + box.width, box.y + box.height / 2];
    const reason = id && id !== this.from ? refusal(this.instance.store.workflow, this.from, id) : null;
    const isGood = id && id !== this.from && !reason;
    const end = !isGood && point ? point : target && (isDown ? [target.x + target.width / 2, target.y] : [target.x, target.y + target.height / 2]);
    if (end) setAttribute(this.rubber, "d", bow(start, end, isDown));
    setAttribute(this.rubber, "class", reason ? "rubber refused" : isGood ? "rubber good" : "rubber");
    if (id === this.over) return;
    for (const card of this.graph.cards.values()) card.root.classList.remove("aimed", "refused");
    if (id && id !== this.from) this.graph.cards.get(id).root.classList.add(reason ? "refused" : "aimed");
    this.over = id;
    if (reason) this.instance.say(say(this.instance.store.payload.labels, reason.key, reason.values), "refused", this.byKey);
    else if (this.byKey) this.hint();
    else this.instance.hush();
  }

  finish(target) {
    const { from } = this;
    this.stop();
    if (target && target !== from && this.graph.boxes.has(from)) this.instance.editing.link(from, target);
  }

  stop() {
    if (this.byKey) this.instance.hush();
    this.from = this.over = null;
    this.byKey = false;
    this.graph.setLinking(false);
    this.rubber.remove();
    this.rubber.removeAttribute("d");
    this.graph.stage.classList.remove("links");
    for (const card of this.graph.cards.values()) card.root.classList.remove("aimed", "refused");
  }
}

function bow([x, y], [endX, endY], isDown) {
  const reach = Math.max(30, Math.abs(isDown ? endY - y : endX - x) / 2);
  return isDown ? `M${x} ${y}C${x} ${y + reach} ${endX} ${endY - reach} ${endX} ${endY}` : `M${x} ${y}C${x + reach} ${y} ${endX - reach} ${endY} ${endX} ${endY}`;
}
