// The style sheet, fetched once per page and shared by all graphs; and whether the page is light or dark.

const sheets = new Map();

/** Adds the style sheet to a shadow root or document. Settles also when it cannot be loaded. */
export async function adoptStyle(host) {
  const root = host.getRootNode();
  const sheet = await fetchStyle();
  if (sheet && !root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet];
}

/** The style sheet; null when it cannot be loaded. */
export function fetchStyle() {
  const inline = globalThis.WORKFLOW_GRAPH_CSS; // a self-contained page carries the sheet's text with it
  const address = inline ? "inline" : new URL("./graph.css", import.meta.url).href;
  if (!sheets.has(address)) sheets.set(address, load(inline ?? fetch(address).then((answer) => answer.text())));
  return sheets.get(address).catch(() => null);
}

async function load(text) {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(await text);
  return sheet;
}

/** Keeps `data-theme` on the root: light or dark, by the colour that lies behind it. */
export function watchTheme(root) {
  const media = globalThis.matchMedia?.("(prefers-color-scheme: dark)");
  const look = () => {
    const colour = getComputedStyle(root).getPropertyValue("--st-background-color").trim();
    const light = colour ? brightness(colour) : null;
    root.dataset.theme = (light === null ? media?.matches : light < 0.5) ? "dark" : "light";
  };
  media?.addEventListener("change", look);
  look();
  return { look, stop: () => media?.removeEventListener("change", look) };
}

/** 0 black … 1 white; null for a colour this cannot read. */
export function brightness(colour) {
  const hex = /^#([0-9a-f]{3}|[0-9a-f]{6})\b/i.exec(colour)?.[1];
  const parts = hex
    ? (hex.length === 3 ? [...hex].map((digit) => digit + digit) : hex.match(/../g)).map((pair) => parseInt(pair, 16))
    : /^rgba?\(([^)]+)\)/i.exec(colour)?.[1].split(/[ ,/]+/).slice(0, 3).map(Number);
  return parts?.length === 3 ? (0.299 * parts[0] + 0.587 * parts[1] + 0.114 * parts[2]) / 255 : null;
}
