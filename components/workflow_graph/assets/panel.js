// The one thing that opens over the drawing: a menu, a form or the list of keys. A sheet at the foot of narrow
// pages. Esc, or a press outside, closes it and gives the focus back.

import { el } from "./dom.js";
import { icon } from "./icons.js";

export class Panel {
  constructor(root) {
    this.root = root;
    this.node = null;
    this.outside = (event) => !event.composedPath().includes(this.node) && this.close(false);
  }

  /** Opens beside `anchor` with a title and these elements. Focus goes to the first field or button. */
  open(anchor, title, nodes, { kind = "text" } = {}) {
    this.close(false);
    this.anchor = anchor;
    this.back = this.root.getRootNode().activeElement ?? anchor;
    this.node = el("div", { class: `panel ${kind}`, role: kind === "menu" ? "menu" : "dialog", "aria-label": title, tabindex: "-1" },
      el("div", { class: "panel-title", text: title }), ...nodes);
    this.node.addEventListener("keydown", (event) => this.key(event));
    this.root.append(this.node);
    this.place();
    setTimeout(() => window.addEventListener("pointerdown", this.outside), 0);
    (this.node.querySelector("textarea, [role^=menuitem]:not([disabled])") ?? this.node).focus({ preventScroll: true });
  }

  /** A menu of {text, icon, run, note, key, disabled, checked, heading}. */
  menu(anchor, title, items) {
    const nodes = items.map((item) => {
      if (item.heading) return el("div", { class: "heading", role: "presentation", text: item.heading });
      const isCheck = item.checked !== undefined;
      return el("button", {
        type: "button", class: "item", tabindex: "-1", disabled: item.disabled, title: item.hint, "data-item": item.name,
        role: isCheck ? "menuitemcheckbox" : "menuitem", "aria-checked": isCheck ? String(item.checked) : null,
        onclick: () => { this.close(); item.run(); },
      }, isCheck ? el("span", { class: item.checked ? "tick on" : "tick" }, icon("check", 14)) : icon(item.icon ?? "draft", 16),
      el("span", { class: "item-text", text: item.text }), item.note ? el("span", { class: "item-note", text: item.note }) : null,
      item.key ? el("kbd", { class: "key", text: item.key }) : null);
    });
    this.open(anchor, title, nodes, { kind: "menu" });
  }

  place() {
    if (this.root.clientWidth <= 600) return this.node.classList.add("sheet");
    const frame = this.root.getBoundingClientRect(), from = this.anchor.getBoundingClientRect();
    const { offsetWidth: width, offsetHeight: height } = this.node;
    const left = Math.min(Math.max(8, from.left - frame.left), frame.width - width - 8);
    const below = from.bottom - frame.top + 6, above = from.top - frame.top - height - 6;
    const isBelow = from.bottom + height + 12 < window.innerHeight || above < 0;
    Object.assign(this.node.style, { left: `${left}px`, top: `${isBelow ? below : above}px` });
    return undefined;
  }

  key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") this.close();
    else if (event.key === "Tab" && this.node.classList.contains("menu")) this.close();
    else if (step && this.node.classList.contains("menu")) {
      const items = [...this.node.querySelectorAll(".item:not([disabled])")];
      const at = items.indexOf(this.root.getRootNode().activeElement);
      items[(at + step + items.length) % items.length]?.focus();
    } else {
      event.stopPropagation();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  close(givesBack = true) {
    if (!this.node) return;
    window.removeEventListener("pointerdown", this.outside);
    this.node.remove();
    this.node = null;
    if (givesBack && this.back?.isConnected) this.back.focus({ preventScroll: true });
  }
}
