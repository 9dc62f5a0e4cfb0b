"""What a worker sees: everything it may, and not a word more."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from conductor.runs.context import build
from conductor_client.workflow import Message, Workflow, workflow_of


def _marked(draw: st.DrawFn) -> Workflow:
    rows = []
    for place in range(draw(st.integers(1, 8))):
        access = [seen for seen in range(place) if draw(st.booleans())]
        rows.append((f"worker-mark-{place}", f"instruction-mark-{place};", access))
    return workflow_of("prompt-mark;", rows)


@given(st.data())
def test_step_sees_only_its_access_list(data: st.DataObject) -> None:
    workflow = data.draw(st.composite(_marked)())
    outputs = {step.step_id: f"output-mark-{step.position};" for step in workflow.steps}
    for step in workflow.steps:
        sent = build(workflow.prompt, (), workflow, step, outputs)
        text = "\n".join(message.content for message in sent.messages)
        for other in workflow.steps:
            is_seen = other.step_id in step.access
            assert (f"output-mark-{other.position};" in text) is is_seen
            assert (f"instruction-mark-{other.position};" in text) is (is_seen or other is step)
        assert "worker-mark" not in text
        assert "prompt-mark;" in text
        assert set(sent.visible) == set(step.access)
        earlier = {each.step_id for each in workflow.steps[: step.position]}
        assert set(sent.visible) | set(sent.withheld) == earlier
        assert not set(sent.visible) & set(sent.withheld)


def test_visible_steps_are_labelled_by_their_number_and_not_by_their_worker() -> None:
    workflow = workflow_of("Q", [("same", "one", []), ("same", "two", []), ("same", "three", [0, 1])])
    sent = build("Q", (), workflow, workflow.steps[2], {"s1": "first answer", "s2": "second answer"})
    text = sent.messages[-1].content
    assert text.index("Step 1 was asked:\none") < text.index("Step 1 answered:\nfirst answer")
    assert text.index("Step 2 was asked:\ntwo") < text.index("Step 2 answered:\nsecond answer")
    assert text.endswith("Your task:\nthree")


def test_exactly_one_user_message_after_at_most_one_system_message() -> None:
    workflow = workflow_of("And in Spain?", [("w", "Answer.", [])])
    turns = (
        Message(role="system", content="Be brief."),
        Message(role="user", content="What is the capital of France?"),
        Message(role="assistant", content="Paris."),
        Message(role="system", content="Be kind."),
    )
    sent = build(workflow.prompt, turns, workflow, workflow.steps[0], {})
    assert [message.role for message in sent.messages] == ["system", "user"]
    assert sent.messages[0].content == "Be brief.\n\nBe kind."
    text = sent.messages[1].content
    assert "User: What is the capital of France?\nAssistant: Paris." in text
    assert text.index("Paris.") < text.index("Question:\nAnd in Spain?") < text.index("Your task:\nAnswer.")


def test_a_worker_asked_directly_gets_the_prompt_and_nothing_else() -> None:
    workflow = workflow_of("What is 2 + 2?", [("w", "What is 2 + 2?", [])])
    sent = build(workflow.prompt, (), workflow, workflow.steps[0], {})
    assert [message.content for message in sent.messages] == ["What is 2 + 2?"]


def test_the_parts_say_the_same_for_tools() -> None:
    workflow = workflow_of("Q", [("a", "Write it.", []), ("calculator", "Work it out.", [0])])
    parts = build("Q", (), workflow, workflow.steps[1], {"s1": "2 + 2"}).parts
    assert (parts.question, parts.instruction) == ("Q", "Work it out.")
    assert [(each.label, each.instruction, each.output) for each in parts.visible] == [
        ("Step 1", "Write it.", "2 + 2")
    ]
