"""A click inside the graph, as the browser would send it. AppTest has no public way, so it stands here."""

from __future__ import annotations

import json
from typing import Any

from streamlit.proto.WidgetStates_pb2 import WidgetState, WidgetStates
from streamlit.testing.v1 import AppTest


def send(at: AppTest, name: str, value: Any, *, is_state: bool = False) -> None:
    """Sends a state value or a trigger of the workflow graph and draws the page anew."""
    element = next(each for each in at.get("bidi_component") if "workflow" in each.proto.component_name)
    states: WidgetStates = at._tree.get_widget_states()
    sent = WidgetState()
    if is_state:
        sent.id = element.proto.id
        sent.json_value = json.dumps({name: value})
    else:
        sent.id = f"$$STREAMLIT_INTERNAL_KEY_{element.proto.id}__events"
        sent.json_trigger_value = json.dumps([{"event": name, "value": value}])
    states.widgets.append(sent)
    at._run(states)
    assert not at.exception, at.exception
