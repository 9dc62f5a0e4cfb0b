// The small forms of editing: a step's instruction, a new step, and the × on a chosen edge.

import { el } from "./dom.js";
import { say } from "./format.js";
import { icon } from "./icons.js";

export function cutButton(onCut) {
  return el("button", { type: "button", class: "edge-cut", hidden: true, onclick: onCut }, icon("failed", 14));
}

/** Asks for a new instruction; `onSave(text)` only when it changed and is not empty. */
export function instructionForm({ labels, instance, number }, step, anchor, onSave) {
  const area = textArea(say(labels, "instruction"), step.instruction);
  const save = () => {
    const text = area.value.trim();
    instance.panel.close();
    if (text && text !== step.instruction.trim()) onSave(text);
    else if (!text) instance.say(say(labels, "refused_empty"), "refused");
  };
  const at = instance.store.workflow.steps.findIndex((each) => each.step_id === step.step_id) + 1;
  open(instance, anchor, say(labels, "instruction_of", { n: at }), [area], say(labels, "save_change"), save);
}

/** Asks for a new step after the step `afterId` (`null` = last); `onAdd(edit)` gets an add_step edit. */
export function stepForm({ labels, instance, workflow }, afterId, anchor, onAdd) {
  const { workers = [] } = instance.store.payload;
  const place = afterId === null ? workflow.steps.length : workflow.steps.findIndex((step) => step.step_id === afterId) + 1;
  const before = workflow.steps.slice(0, place), last = before[before.length - 1];
  const area = textArea(say(labels, "instruction"), "", say(labels, "instruction_hint"));
  const names = workers.length ? workers.map((worker) => worker.name) : [...new Set(workflow.steps.map((step) => step.worker))];
  const select = el("select", { "aria-label": say(labels, "worker") }, ...names.map((name) => el("option", { value: name, text: name })));
  select.value = last?.worker ?? names[0];
  const boxes = before.map((step, at) => {
    const box = el("input", { type: "checkbox", value: step.step_id, checked: step === last });
    return [box, el("label", { class: "choice" }, box, el("span", { text: say(labels, "step_by", { n: at + 1, worker: step.worker }) }))];
  });
  const add = () => {
    const instruction = area.value.trim();
    if (!instruction) return area.focus();
    instance.panel.close();
    const access = boxes.filter(([box]) => box.checked).map(([box]) => box.value);
    return onAdd({ op: "add_step", instruction, worker: select.value, access, position: place });
  };
  const choices = boxes.length ? [el("fieldset", {}, el("legend", { text: say(labels, "sees_heading") }), ...boxes.map(([, label]) => label))] : [];
  const worker = el("label", { class: "field" }, el("span", { text: say(labels, "worker") }), select);
  open(instance, anchor, say(labels, "new_step", { n: place + 1 }), [area, worker, ...choices], say(labels, "add_step"), add);
}

function textArea(label, value, placeholder = "") {
  const area = el("textarea", { rows: "6", "aria-label": label, placeholder, dir: "auto" });
  area.value = value;
  return area;
}

function open(instance, anchor, title, fields, action, onDone) {
  const { labels } = instance.store.payload;
  const buttons = el("div", { class: "buttons" },
    el("button", { type: "button", class: "plain", text: say(labels, "cancel"), onclick: () => instance.panel.close() }),
    el("button", { type: "button", class: "strong", text: action, onclick: onDone }));
  instance.panel.open(anchor, title, [...fields, buttons], { kind: "form" });
  instance.panel.node.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) onDone();
  });
}
