// Saves the drawing as a file: SVG, or that SVG put on a canvas and saved as PNG at twice the size.

import { FONT, picture, roughly } from "./picture.js";
import { say } from "./format.js";
import { placeDrawn } from "./lanes.js";

// Wider than on the page: other machines have other fonts.
const CARD = { width: 320, height: 220 }, PILL = { width: 124, height: 34 };
const SHARPNESS = 2;
const MOST_PIXELS = 60e6; // what a browser's canvas surely takes

/** Downloads the drawing; `format` is svg or png, `theme` light or dark. */
export async function save(instance, format, theme) {
  const { store, graph } = instance;
  const layout = placeDrawn(store.drawn, { direction: graph.layout.direction, card: CARD, pill: PILL });
  const made = picture(store, layout, { theme, measure: ruler() });
  const name = `workflow-${(store.view.run_id ?? store.workflow.workflow_id).replace(/[^\w-]/g, "_")}.${format}`;
  const drawing = new Blob([made.text], { type: "image/svg+xml" });
  try {
    download(format === "svg" ? drawing : await raster(drawing, made), name);
  } catch {
    instance.say(say(store.payload.labels, "save_failed"), "refused");
  }
}

function ruler() {
  const pen = document.createElement("canvas").getContext("2d");
  return (text, size, weight) => {
    pen.font = `${weight} ${size}px ${FONT}`;
    return Math.max(pen.measureText(text).width, roughly(text, size));
  };
}

async function raster(drawing, { width, height }) {
  const address = URL.createObjectURL(drawing);
  const scale = Math.min(SHARPNESS, Math.sqrt(MOST_PIXELS / (width * height)));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [Math.round(width * scale), Math.round(height * scale)];
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((good, bad) => { canvas.toBlob((blob) => (blob ? good(blob) : bad(new Error("no image"))), "image/png"); });
  } finally {
    URL.revokeObjectURL(address);
  }
}

function download(blob, name) {
  const address = URL.createObjectURL(blob);
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
