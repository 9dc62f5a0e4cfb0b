// Every visible text below `where` (the graph, if nothing is said) whose contrast with what lies behind it is under
// WCAG AA: 4.5, large text 3. What is switched off, and icons, are no text.
(where) => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data].map((part, at) => (at < 3 ? part : part / 255));
  };
  const over = (top, under) => [0, 1, 2].map((at) => top[at] * top[3] + under[at] * (1 - top[3])).concat(1);
  const light = (colour) => {
    const [r, g, b] = colour.slice(0, 3).map((part) => (part / 255 <= 0.03928 ? part / 3294.6 : ((part / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const layers = [];
    for (let at = node; at; at = at.parentElement) layers.unshift(rgba(getComputedStyle(at).backgroundColor));
    return layers.reduce((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const weak = [];
  for (const node of document.querySelectorAll(where ?? ".wfg *")) {
    const own = [...node.childNodes].filter((child) => child.nodeType === 3).map((child) => child.data.trim()).join("");
    if (!own || !node.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
    if (node.closest(":disabled, [aria-disabled=true], [data-testid=stIconMaterial]")) continue;
    const style = getComputedStyle(node), back = behind(node), text = over(rgba(style.color), back);
    const [high, low] = [light(text), light(back)].sort((one, other) => other - one);
    const size = parseFloat(style.fontSize), isLarge = size >= 24 || (size >= 18.6 && Number(style.fontWeight) >= 700);
    const ratio = (high + 0.05) / (low + 0.05);
    if (ratio < (isLarge ? 3 : 4.5)) weak.push(`${node.className || node.tagName} "${own.slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return weak;
}
