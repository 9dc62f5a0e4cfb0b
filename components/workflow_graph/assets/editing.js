// Changes of the workflow. Each becomes a trigger `edit` {op_id, base, edits} in the words of
// conductor_client/edits.py; Python answers with a new workflow or says why not. One is under way at a time.

import { edgeKey } from "./edges.js";
import { cutButton, instructionForm, stepForm } from "./forms.js";
import { say } from "./format.js";
import { canMove, refusal } from "./topology.js";

const PATIENCE = 6000; // ms until an unanswered edit is reported

export class Editing {
  constructor(instance) {
    Object.assign(this, { instance, queue: [], pending: null });
    this.cut = cutButton(() => this.removeEdge());
    instance.graph.stage.append(this.cut);
    instance.graph.stage.addEventListener("click", (event) => this.click(event));
  }

  get graph() { return this.instance.graph; }
  get workflow() { return this.instance.store.workflow; }
  get labels() { return this.instance.store.payload.labels; }
  get isOn() { return this.instance.store.payload.mode === "edit" && Boolean(this.workflow); }

  step(id) { return this.workflow.steps.find((step) => step.step_id === id); }
  number(id) { return this.workflow.steps.findIndex((step) => step.step_id === id) + 1; }
  word(key, values) { return say(this.labels, key, values); }

  newId() {
    const random = crypto.getRandomValues(new Uint32Array(3));
    return `op_${[...random].map((part) => part.toString(16).padStart(8, "0")).join("")}`;
  }

  /** Sends edits. `make` gets the workflow they apply to, which may be newer than now. */
  send(make) {
    if (!this.isOn) return;
    this.queue.push(make);
    this.next();
  }

  next() {
    if (this.pending || !this.queue.length) return;
    const edits = this.queue.shift()(this.workflow);
    if (!edits?.length) return this.next();
    this.pending = { op_id: this.newId(), rev: this.instance.store.payload.rev };
    this.instance.root.classList.add("saving");
    this.waiting = setTimeout(() => this.give(this.word("edit_unanswered")), PATIENCE);
    this.instance.hooks.onTrigger("edit", { op_id: this.pending.op_id, base: this.workflow.workflow_id, edits });
    return undefined;
  }

  /** Looks whether new data answer the edit under way. */
  answered({ rev, reply }) {
    if (!this.pending) return;
    const isMine = reply?.op_id === this.pending.op_id;
    if (isMine && !reply.ok) this.give([reply.message, reply.hint].filter(Boolean).join(" "));
    else if (isMine || rev !== this.pending.rev) this.give();
  }

  give(trouble) {
    clearTimeout(this.waiting);
    this.pending = null;
    this.instance.root.classList.remove("saving");
    if (trouble) {
      this.queue.length = 0;
      this.instance.say(trouble, "refused");
    }
    this.next();
  }

  click(event) {
    const menu = event.target.closest("[data-menu]");
    if (menu) return this.cardMenu(menu.dataset.menu, menu);
    const edge = event.target.closest(".edge.access");
    if (edge && this.isOn && !this.graph.isPast(edge.dataset.by)) return this.chooseEdge({ seen: edge.dataset.seen, by: edge.dataset.by });
    return undefined;
  }

  chooseEdge(edge) {
    this.graph.edge = edge;
    this.graph.mark();
    this.paint();
    if (edge) this.instance.say(this.word("edge_chosen", { seen: this.number(edge.seen), by: this.number(edge.by) }));
  }

  /** Keeps the × of the chosen edge in place. */
  paint() {
    const { edge, edges, viewport } = this.graph;
    const isThere = this.isOn && edge && edges.lines.has(edgeKey(edge.seen, edge.by));
    if (edge && !isThere) this.graph.edge = null;
    this.cut.hidden = !isThere;
    if (!isThere) return;
    const { x, y } = edges.middle(edge.seen, edge.by), { view } = viewport;
    this.cut.style.transform = `translate(${x * view.k + view.x - 15}px, ${y * view.k + view.y - 15}px)`;
    this.cut.setAttribute("aria-label", this.word("edge_remove", { seen: this.number(edge.seen), by: this.number(edge.by) }));
  }

  removeEdge() {
    const { edge } = this.graph;
    if (!edge) return;
    this.setAccess(edge.by, (access) => access.filter((id) => id !== edge.seen));
    this.graph.moveTo(edge.by); // the × had the focus, and goes
    this.chooseEdge(null);
  }

  /** Adds an access, or says why not. Returns whether it was sent. */
  link(seen, by) {
    const reason = refusal(this.workflow, seen, by);
    if (reason) this.instance.say(this.word(reason.key, reason.values), "refused");
    else this.setAccess(by, (access) => [...access, seen]);
    return !reason;
  }

  setAccess(id, change) {
    this.send((workflow) => {
      const step = workflow.steps.find((each) => each.step_id === id);
      return step && [{ op: "set_access", step_id: id, access: change(step.access) }];
    });
  }

  setWorker(id, worker) {
    if (this.step(id).worker !== worker) this.send(() => [{ op: "set_worker", step_id: id, worker }]);
  }

  move(id, by) {
    const position = this.number(id) - 1 + by;
    if (canMove(this.workflow, id, position)) this.send(() => [{ op: "move_step", step_id: id, position }]);
    else this.instance.say(this.word(by < 0 ? "refused_move_earlier" : "refused_move_later", { n: this.number(id) }), "refused");
  }

  remove(id) {
    if (this.workflow.steps.length === 1) this.instance.say(this.word("refused_last"), "refused");
    else this.send(() => [{ op: "remove_step", step_id: id }]);
  }

  editInstruction(id, anchor) {
    if (!this.isOn) return;
    instructionForm(this, this.step(id), anchor, (instruction) => this.send(() => [{ op: "set_instruction", step_id: id, instruction }]));
  }

  /** A form for a new step after `id`, or at the end. */
  addForm(id, anchor) {
    if (this.isOn) stepForm(this, id, anchor, (edit) => this.send(() => [edit]));
  }

  cardMenu(id, anchor) {
    if (!this.isOn) return;
    const step = this.step(id), n = this.number(id), { panel } = this.instance;
    const card = this.graph.cards.get(id).button;
    const earlier = this.workflow.steps.slice(0, n - 1);
    panel.menu(anchor, this.word("menu_of", { n }), [
      { text: this.word("open_step"), icon: "eye", name: "open", run: () => this.graph.select(id) },
      { text: this.word("edit_instruction"), icon: "pen", name: "instruction", key: "I", run: () => this.editInstruction(id, card) },
      { text: this.word("change_worker"), icon: "swap", name: "worker", note: step.worker, key: "W", run: () => this.workerMenu(id, anchor) },
      { text: this.word("move_earlier"), icon: "up", name: "earlier", key: "[", disabled: !canMove(this.workflow, id, n - 2), run: () => this.move(id, -1) },
      { text: this.word("move_later"), icon: "down", name: "later", key: "]", disabled: !canMove(this.workflow, id, n), run: () => this.move(id, 1) },
      { text: this.word("add_after"), icon: "plus", name: "add", key: "A", run: () => this.addForm(id, card) },
      { text: this.word("remove_step"), icon: "bin", name: "remove", disabled: this.workflow.steps.length === 1, run: () => this.remove(id) },
      ...(earlier.length ? [{ heading: this.word("sees_heading") }] : []),
      ...earlier.map((other) => {
        const isSeen = step.access.includes(other.step_id);
        return {
          text: this.word("step_by", { n: this.number(other.step_id), worker: other.worker }), checked: isSeen, name: `sees-${other.step_id}`,
          run: () => this.setAccess(id, (access) => (isSeen ? access.filter((seen) => seen !== other.step_id) : [...access, other.step_id])),
        };
      }),
    ]);
  }

  workerMenu(id, anchor) {
    const { workers = [] } = this.instance.store.payload;
    const step = this.step(id);
    this.instance.panel.menu(anchor, this.word("change_worker"), workers.map((worker) => ({
      text: worker.name, name: `worker-${worker.name}`, checked: worker.name === step.worker,
      note: worker.ready === false ? this.word("worker_not_ready") : worker.is_tool ? this.word("worker_tool") : "",
      run: () => this.setWorker(id, worker.name),
    })));
  }
}

