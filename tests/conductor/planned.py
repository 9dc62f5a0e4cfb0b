"""A backend whose conductor plays a script: runs that are planned, for tests."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest
from conductor_client.run_state import RunState

PRICE = 'price = { input_usd_per_mtok = "1", output_usd_per_mtok = "2" }'
CAPS = {"quick": "", "planner": "max_output_tokens = 200"}
ONE_STEP = 'One is enough.\nmodel_id = [0]\nsubtasks = ["Find it."]\naccess_list = [[]]'
KEEP = "It is right.\nmodel_id = []\nsubtasks = []\naccess_list = []"

Script = Sequence[Mapping[str, Any]]


def settings_with(
    folder: Path, planner: Script, worker: Script = ({"text": "Paris"},), more: str = ""
) -> Settings:
    """Settings of a backend with the workers ``quick`` and ``planner``; both play these lines."""
    pool = folder / "pool.toml"
    tables = [
        f'[[worker]]\nname = "{name}"\nprovider = "scripted"\nmodel = "demo"\n{PRICE}\n{CAPS[name]}\n'
        f"profile = {{ script = [{', '.join(_line(each) for each in script)}] }}\n"
        for name, script in (("quick", worker), ("planner", planner))
    ]
    pool.write_text('default_worker = "quick"\n\n' + "\n".join([*tables, more]), encoding="utf-8")
    folders = {"models_dir": folder / "models", "pools_dir": folder / "pools"}
    return Settings(db=folder / "conductor.sqlite", pool=str(pool), **folders)


async def begin(studio: Studio, **request: Any) -> str:
    """Starts a run planned by ``planner``."""
    asked = {"prompt": "The capital of France?", "conductor": "prompted:planner"} | request
    return (await studio.start_run(RunRequest.model_validate(asked)))[0]


async def ended(studio: Studio, run_id: str) -> RunState:
    """The run's state after its last event."""
    async with asyncio.timeout(20):
        async for _ in studio.subscribe(run_id):
            pass
    return await studio.state(run_id)


async def run(studio: Studio, **request: Any) -> RunState:
    """Runs to the end."""
    return await ended(studio, await begin(studio, **request))


async def until(studio: Studio, run_id: str, kind: str, **fields: Any) -> None:
    """Waits for an event of a kind, or with ``text`` for what a watcher sees."""
    async with asyncio.timeout(20):
        async for item in studio.subscribe(run_id):
            if getattr(item, "kind", "frame") == kind and all(
                value == getattr(item, name, None) for name, value in fields.items()
            ):
                return
    raise AssertionError(f"the run ended without {kind}")


async def kinds(studio: Studio, run_id: str) -> list[str]:
    """What happened, in order."""
    return [event.kind for event in await studio.events(run_id)]


def _line(values: Mapping[str, Any]) -> str:
    return "{ " + ", ".join(f"{key} = {json.dumps(value)}" for key, value in values.items()) + " }"
