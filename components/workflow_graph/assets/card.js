// One card's elements: built once, then only what changed is touched.

import { el, setAttribute, setText } from "./dom.js";
import { icon, setIcon } from "./icons.js";

const ONE_LINE = 30; // characters of a note that surely fit one line

export class Card {
  constructor(id, labels) {
    this.id = id;
    this.badge = el("span", { class: "badge" });
    this.toolIcon = icon("tool", 15);
    this.worker = el("span", { class: "worker", dir: "auto" });
    this.statusIcon = icon("waiting", 16);
    this.word = el("span", { class: "word" });
    this.time = el("span", { class: "time" });
    this.instruction = el("span", { class: "instruction", dir: "auto" });
    this.note = el("span", { class: "note", dir: "auto" });
    this.text = el("span", { class: "text", dir: "auto" });
    this.mark = el("span", { class: "mark" });
    this.body = el("span", { class: "body" }, this.note, el("span", { class: "well" }, this.mark, this.text));
    this.foot = el("span", { class: "foot" });
    this.button = el("button", { class: "card", type: "button", tabindex: "-1", "data-step": id },
      el("span", { class: "head" }, this.badge, el("span", { class: "names" },
        el("span", { class: "who" }, this.worker, this.toolIcon),
        el("span", { class: "status" }, this.statusIcon, this.word, this.time))),
      this.instruction, this.body, this.foot);
    this.menu = el("button", { class: "more", type: "button", tabindex: "-1", "data-menu": id }, icon("more", 18));
    this.handle = el("span", { class: "handle", "data-handle": id, "aria-hidden": "true" });
    this.tag = el("span", { class: "tag" });
    this.root = el("div", { class: "box", "data-box": id }, this.button, this.menu, this.handle, this.tag);
    this.labels = labels;
    this.shown = {};
  }

  /** Puts the card at its place in the drawing. */
  put({ x, y, width, height }) {
    const { style } = this.root;
    style.transform = `translate(${x}px, ${y}px)`;
    style.width = `${width}px`;
    style.height = `${height}px`;
  }

  paint(model) {
    setText(this.badge, String(model.number));
    if (this.shown.worker !== model.worker) {
      setText(this.worker, model.worker);
      this.worker.title = model.worker;
    }
    this.toolIcon.style.display = model.isTool ? "" : "none";
    setText(this.word, model.word);
    setText(this.time, model.time);
    setIcon(this.statusIcon, model.phase);
    setText(this.instruction, model.instruction);
    setAttribute(this.root, "data-status", model.status);
    setAttribute(this.body, "data-kind", model.body.kind);
    setAttribute(this.body, "data-long", model.body.note.length > ONE_LINE);
    setText(this.note, model.body.note);
    setText(this.text, model.body.text);
    setText(this.mark, model.body.mark ?? "");
    setText(this.foot, model.foot.join("  ·  "));
    setText(this.tag, model.tag);
    setAttribute(this.button, "aria-label", model.label);
    this.shown = model;
  }
}
