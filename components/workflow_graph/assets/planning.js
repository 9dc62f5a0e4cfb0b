// What stands in the drawing's place while there is no workflow: the conductor's text as it comes, a failed
// plan's reason, or an invitation.

import { el, setAttribute, setText } from "./dom.js";
import { say } from "./format.js";
import { icon, setIcon } from "./icons.js";

export class Planning {
  constructor() {
    this.icon = icon("planning", 20);
    this.title = el("span", { class: "title" });
    this.who = el("span", { class: "who" });
    this.text = el("div", { class: "text", dir: "auto" });
    this.well = el("div", { class: "well" }, this.text);
    this.note = el("div", { class: "note", dir: "auto" });
    this.foot = el("div", { class: "foot" });
    this.root = el("div", { class: "planning" },
      el("div", { class: "head" }, this.icon, this.title, this.who), this.note, this.well, this.foot);
  }

  paint(store, model) {
    const { view, payload, workflow } = store;
    setAttribute(this.root, "hidden", Boolean(workflow));
    if (workflow) return;
    const ending = view.status === "cancelled" ? "cancelled" : "failed";
    const kind = !view.run_id ? "empty" : store.hasEnded ? ending : "plan";
    setAttribute(this.root, "data-kind", kind);
    setAttribute(this.well, "data-kind", kind === "plan" ? model.kind : "partial");
    if (kind === "plan") {
      this.fill("planning", model.title, model.who, model.note, model.text, model.foot);
    } else if (kind === ending) {
      const said = view.error ?? { message: say(payload.labels, "no_plan"), hint: "" };
      this.fill(ending, say(payload.labels, `run.${view.status}`), view.conductor, said.message, view.plan_text?.tail ?? "", [said.hint].filter(Boolean));
    } else this.fill("planning", say(payload.labels, "empty_title"), "", say(payload.labels, "empty_note"), "", []);
  }

  fill(name, title, who, note, text, foot) {
    setIcon(this.icon, name);
    setText(this.title, title);
    setText(this.who, who);
    setText(this.note, note);
    setText(this.text, text);
    setText(this.foot, foot.join("  ·  "));
    setAttribute(this.note, "hidden", !note);
    setAttribute(this.well, "hidden", !text);
    setAttribute(this.foot, "hidden", !foot.length);
  }
}
