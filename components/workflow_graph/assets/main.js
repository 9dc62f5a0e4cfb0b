// The entry: `mount` for any page, and the default export for Streamlit's Components v2.

import { Instance } from "./instance.js";
import { fetchStyle } from "./style.js";

/**
 * Draws a workflow graph in `host`, an element or a shadow root.
 *
 * `payload` is what components/workflow_graph/payload.py makes. `onState(name, value)` hears of what lasts
 * (`selected`), `onTrigger(name, value)` of what happens (`edit`, `undo`, `finished`, `lost`, `connection`).
 * Returns {update(payload), destroy()}.
 */
export function mount(host, { payload, onState = () => {}, onTrigger = () => {} }) {
  const instance = new Instance(host, { onState, onTrigger });
  instance.update(payload);
  return { update: (next) => instance.update(next), destroy: () => instance.destroy() };
}

/** For the inspector: what one step writes, as it comes. */
export { follow } from "./live.js";

/** Fetches what the first drawing will need. */
export const prepare = () => fetchStyle();

const mounted = new WeakMap();

/** Called by Streamlit at mount, and again whenever the data or the theme changed. */
export default function streamlit({ data, parentElement, setStateValue, setTriggerValue }) {
  let graph = mounted.get(parentElement);
  if (graph) graph.update(data);
  else mounted.set(parentElement, graph = mount(parentElement, { payload: data, onState: setStateValue, onTrigger: setTriggerValue }));
  const host = parentElement.host ?? parentElement;
  // Streamlit also calls the clean-up of a render that was overtaken, while the graph stays on the page.
  return () => setTimeout(() => {
    if (host.isConnected || mounted.get(parentElement) !== graph) return;
    mounted.delete(parentElement);
    graph.destroy();
  }, 0);
}
