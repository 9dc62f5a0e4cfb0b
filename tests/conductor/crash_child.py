"""A backend in a process of its own, to be killed: ``python -m tests.conductor.crash_child FOLDER [STEPS…]``.

With a workflow (JSON: steps as ``[worker, instruction, access]``) it starts a run and prints its id; without
one it takes up what is unfinished. It prints ``ended STATUS`` for every run that ends.
"""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

from conductor.service import Studio
from conductor.settings import Settings
from conductor_client.api import RunRequest


async def main(folder: Path, workflows: list[str]) -> None:
    settings = Settings(
        db=folder / "conductor.sqlite", pool=str(folder / "pool.toml"), models_dir=folder, pools_dir=folder
    )
    studio = await Studio.open(settings)
    print("open", flush=True)
    run_ids = []
    for steps in workflows:
        rows = [
            {"worker": worker, "instruction": said, "access": access}
            for worker, said, access in json.loads(steps)
        ]
        request = RunRequest.model_validate({"prompt": "What is it?", "workflow": {"steps": rows}})
        run_id, _ = await studio.start_run(request)
        print(run_id, flush=True)
        run_ids.append(run_id)
    if not workflows:
        run_ids = [run.run_id for run in (await studio.list_runs()).runs]

    async def follow(run_id: str) -> None:
        async for _ in studio.subscribe(run_id):
            pass
        print("ended", run_id, (await studio.state(run_id)).status, flush=True)

    await asyncio.gather(*map(follow, run_ids))
    await studio.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2:]))
