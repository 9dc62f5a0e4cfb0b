// The line above the drawing: how the run stands, and the buttons that do not belong to one card.

import { runFacts, runNotices } from "./cards.js";
import { el, setAttribute, setText } from "./dom.js";
import { say, sayCount } from "./format.js";
import { icon, setIcon } from "./icons.js";

const LONGEST_PROMPT = 10_000; // characters; more would slow every paint
const RUN_ICON = { queued: "waiting", planning: "planning" };

export class Toolbar {
  /** `buttons` are [name, icon, label key, handler, group], in order. */
  constructor(buttons) {
    this.icon = icon("waiting", 18);
    this.word = el("span", { class: "word" });
    this.facts = el("span", { class: "facts" });
    this.notice = el("span", { class: "notice" });
    this.link = el("span", { class: "link", role: "status" });
    this.ask = el("button", { type: "button", class: "ask", dir: "auto", "aria-expanded": "false", onclick: () => this.unfold() });
    this.state = el("div", { class: "state" }, this.ask, el("span", { class: "run" }, this.icon, this.word), this.facts,
      el("div", { class: "chips" }, this.notice, this.link));
    this.buttons = new Map();
    const tools = el("div", { class: "tools", role: "toolbar" });
    this.tools = tools;
    const groups = new Map();
    for (const [name, iconName, key, handler, groupName] of buttons) {
      const button = el("button", { type: "button", class: "tool", "data-tool": name, onclick: handler }, icon(iconName, 18), el("span", { class: "say" }));
      this.buttons.set(name, { button, key });
      if (!groups.has(groupName)) groups.set(groupName, el("div", { class: "tool-group" }));
      groups.get(groupName).append(button);
    }
    tools.append(...groups.values());
    tools.addEventListener("keydown", (event) => this.arrow(event));
    this.root = el("div", { class: "bar" }, this.state, tools);
  }

  paint(store, { zoom, isFixed, trouble }) {
    const { labels, draft, can_undo: canUndo, mode } = store.payload;
    const { view } = store;
    setAttribute(this.tools, "aria-label", say(labels, "toolbar"));
    const status = draft ? "draft" : view.status;
    const isIdle = !draft && !view.run_id;
    setAttribute(this.state, "hidden", isIdle);
    setAttribute(this.state, "data-status", status);
    setIcon(this.icon, RUN_ICON[status] ?? status);
    setText(this.word, say(labels, `run.${status}`));
    setText(this.facts, (draft ? draftFacts(store) : runFacts(store)).join("  ·  "));
    setText(this.notice, draft ? "" : runNotices(store).join("  ·  "));
    setText(this.ask, shortened(store.workflow?.prompt ?? ""));
    setText(this.link, trouble ? say(labels, trouble) : "");
    for (const [name, { button, key }] of this.buttons) {
      const text = say(labels, key);
      setAttribute(button, "aria-label", text);
      setAttribute(button, "title", text);
      const isEditing = mode === "edit" && Boolean(store.workflow);
      if (name === "add") setText(button.querySelector(".say"), say(labels, "add_short"));
      if (name === "undo") setAttribute(button, "disabled", !canUndo);
      if (name === "add" || name === "undo") setAttribute(button, "hidden", !isEditing);
      if (name === "fit") setText(button.querySelector(".say"), `${Math.round(zoom * 100)} %`);
      if (["in", "out", "fit"].includes(name)) setAttribute(button, "hidden", isFixed || !store.workflow);
      if (name === "save" || name === "help") setAttribute(button, "hidden", !store.workflow);
    }
  }

  /** A presented prompt takes two lines; pressed, it is shown whole. */
  unfold() {
    setAttribute(this.ask, "aria-expanded", String(this.ask.getAttribute("aria-expanded") !== "true"));
  }

  /** Left and right move between the buttons, as in every toolbar. */
  arrow(event) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    const shown = [...this.buttons.values()].map(({ button }) => button).filter((button) => !button.hidden && !button.disabled);
    const at = shown.indexOf(event.target.closest("button"));
    shown[(at + step + shown.length) % shown.length]?.focus();
    event.preventDefault();
    event.stopPropagation();
  }
}

const shortened = (prompt) => (prompt.length > LONGEST_PROMPT ? `${prompt.slice(0, LONGEST_PROMPT)}…` : prompt);

function draftFacts({ payload: { labels, marks }, workflow }) {
  const kinds = Object.values(marks ?? {});
  const count = (kind) => kinds.filter((each) => each === kind).length;
  if (!kinds.length) return [sayCount(labels, "steps_planned", workflow?.steps.length ?? 0)];
  return [say(labels, "will_run_count", { n: count("will_run") }), say(labels, "reused_count", { n: count("reused") })];
}
