// Pan and zoom of the drawing. Remembers each view by key for as long as the page lives, so that a remount
// (another page and back) shows the same part. A view nobody touched follows the drawing's size.

const LEAST = 0.2, MOST = 2.5;
const ROLL_EDGE = 20; // px left free beyond the end of a drawing that is rolled
const kept = new Map();

export class Viewport {
  constructor(stage, layer, onChange) {
    Object.assign(this, { stage, layer, onChange, view: { x: 0, y: 0, k: 1, touched: false }, isFixed: false });
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.press(event));
    this.fingers = new Map();
  }

  /** Takes up the view kept under that key, if there is one. */
  recall(key) {
    this.view = kept.get(key) ?? { x: 0, y: 0, k: 1, touched: false };
    kept.set(key, this.view);
  }

  /** Shows the view that `home` says, unless a person chose another. `tall`: the drawing's height in its own px. */
  rest(home, tall) {
    Object.assign(this, { home, tall });
    if (!this.view.touched) Object.assign(this.view, home);
    this.apply();
  }

  fit() {
    Object.assign(this.view, this.home, { touched: false });
    this.apply(true);
  }

  zoomBy(factor, at) {
    if (this.isFixed) return;
    const { width, height } = this.stage.getBoundingClientRect();
    const [x, y] = at ?? [width / 2, height / 2];
    const k = Math.min(MOST, Math.max(LEAST, this.view.k * factor));
    const ratio = k / this.view.k;
    Object.assign(this.view, { x: x - (x - this.view.x) * ratio, y: y - (y - this.view.y) * ratio, k, touched: true });
    this.apply(!at);
  }

  panBy(dx, dy) {
    if (this.isFixed) return;
    Object.assign(this.view, { x: this.view.x + dx, y: this.view.y + dy, touched: true });
    this.apply();
  }

  /** Moves just so far that a box of the drawing is wholly in sight. */
  reveal({ x, y, width, height }) {
    const frame = this.stage.getBoundingClientRect(), { view } = this, edge = 16;
    const left = x * view.k + view.x, top = y * view.k + view.y;
    const right = left + width * view.k, bottom = top + height * view.k;
    const dx = left < edge ? edge - left : Math.min(0, frame.width - edge - right);
    const dy = top < edge ? edge - top : Math.min(0, frame.height - edge - bottom);
    if (dx || dy) this.panBy(dx, dy);
  }

  /** A point of the screen in the drawing's px. */
  inDrawing(clientX, clientY) {
    const frame = this.stage.getBoundingClientRect(), { view } = this;
    return [(clientX - frame.left - view.x) / view.k, (clientY - frame.top - view.y) / view.k];
  }

  apply(isSmooth = false) {
    const { x, y, k } = this.view;
    this.layer.classList.toggle("glides", isSmooth);
    this.layer.style.transform = `translate(${x.toFixed(2)}px, ${y.toFixed(2)}px) scale(${k.toFixed(4)})`;
    this.stage.style.setProperty("--grid", `${(24 * k).toFixed(2)}px`);
    this.stage.style.setProperty("--grid-at", `${x.toFixed(1)}px ${y.toFixed(1)}px`);
    this.onChange();
  }

  wheel(event) {
    const frame = this.stage.getBoundingClientRect();
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      this.zoomBy(Math.exp(-event.deltaY * 0.0022), [event.clientX - frame.left, event.clientY - frame.top]);
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !this.isFixed) {
      event.preventDefault();
      this.panBy(-event.deltaX, 0);
    } else this.roll(event, frame.height);
  }

  /** A drawing taller than its stage moves under the wheel until its end is in sight; then the page goes on. */
  roll(event, height) {
    const { view } = this, lower = view.y + this.tall * view.k + ROLL_EDGE - height, upper = ROLL_EDGE - view.y;
    const hidden = event.deltaY > 0 ? lower : upper;
    if (this.isFixed || event.shiftKey || hidden < 1) return;
    event.preventDefault();
    this.panBy(0, -Math.sign(event.deltaY) * Math.min(hidden, Math.abs(event.deltaY)));
  }

  press(event) {
    if (this.isFixed || event.button > 0 || event.target.closest("[data-handle], .more, .panel, .edge-cut")) return;
    if (event.pointerType === "mouse" && event.target.closest(".card, .edge")) return;
    this.fingers.set(event.pointerId, [event.clientX, event.clientY]);
    const move = (moved) => this.drag(moved);
    const end = (ended) => {
      this.fingers.delete(ended.pointerId);
      if (this.fingers.size) return;
      this.stage.classList.remove("pans");
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
      window.removeEventListener("pointercancel", end);
    };
    if (this.fingers.size > 1) return;
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
    window.addEventListener("pointercancel", end);
  }

  drag(event) {
    const before = this.fingers.get(event.pointerId);
    if (!before) return;
    const now = [event.clientX, event.clientY];
    const other = [...this.fingers].find(([id]) => id !== event.pointerId)?.[1];
    this.fingers.set(event.pointerId, now);
    if (other) {
      const frame = this.stage.getBoundingClientRect();
      const apart = (one) => Math.hypot(one[0] - other[0], one[1] - other[1]) || 1;
      this.zoomBy(apart(now) / apart(before), [(now[0] + other[0]) / 2 - frame.left, (now[1] + other[1]) / 2 - frame.top]);
    } else {
      this.stage.classList.add("pans");
      this.panBy(now[0] - before[0], event.pointerType === "touch" ? 0 : now[1] - before[1]);
    }
  }
}
