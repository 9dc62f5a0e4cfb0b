"""A button that puts a text on the clipboard. Streamlit has one only inside code blocks."""

from __future__ import annotations

import streamlit as st

_HTML = (
    '<button type="button"><span class="icon" aria-hidden="true"></span><span class="said"></span></button>'
)

_CSS = """
button {
  font: inherit; font-size: 0.875rem; line-height: 1.6; min-height: 2.2rem; padding: 0.25rem 0.75rem;
  color: var(--st-text-color); background: var(--st-background-color); cursor: pointer;
  border: 1px solid var(--st-border-color); border-radius: var(--st-button-radius); white-space: nowrap;
}
button:hover, button:focus-visible { border-color: var(--st-primary-color); color: var(--st-primary-color); }
button:focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 2px; }
.icon { position: relative; display: inline-block; width: 0.62em; height: 0.76em; margin-inline: 0.16em 0.5em;
  vertical-align: -0.14em; border: 1.3px solid currentColor; border-radius: 2px; }
.icon::before { content: ""; position: absolute; inset: -0.28em 0.18em 0.18em -0.28em;
  border: solid currentColor; border-width: 1.3px 0 0 1.3px; border-radius: 2px 0 0; }
"""

# `copied` is shown for a moment and read out by the live region that the button's own text is.
_JS = """
function byHand(text) {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  document.body.append(area);
  area.select();
  const worked = document.execCommand("copy");
  area.remove();
  return worked;
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return byHand(text); // no clipboard object without https or when it is refused
  }
}

export default function ({ data, parentElement }) {
  const button = parentElement.querySelector("button");
  const said = parentElement.querySelector(".said");
  said.setAttribute("aria-live", "polite");
  said.textContent = data.label;
  button.onclick = async () => {
    const text = data.absolute ? new URL(data.text, location.origin).href : data.text;
    said.textContent = (await copy(text)) ? data.copied : data.failed;
    setTimeout(() => { said.textContent = data.label; }, 1600);
  };
}
"""

_button = st.components.v2.component("copy_button", html=_HTML, css=_CSS, js=_JS)


def copy_button(text: str, *, label: str, copied: str, failed: str, key: str, is_path: bool = False) -> None:
    """Draws the button.

    Args:
        text: what lands on the clipboard; with ``is_path`` a path, completed with the page's origin.
        label, copied, failed: what the button says before and after.
        key: of this button on its page.
    """
    data = {"text": text, "label": label, "copied": copied, "failed": failed, "absolute": is_path}
    _button(data=data, key=key, height="content", width="content")
