"""The runtime with a real model: streaming, cancelling, grammars, adapters, errors, unloading."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil  # type: ignore[import-untyped]  # it brings no types
import pytest

from conductor.local.catalog import model_spec
from conductor.local.grammar import plan_grammar
from conductor.local.plan_lines import letter_choices, read_plan_lines
from conductor.local.runtime import Adapter, Delta, Finished, Loading, LocalModelError, Runtime
from conductor.settings import Settings
from tests.conductor.local.lora_file import write_random_lora

MODEL = "smollm2-135m"
LONG_PROMPT = "One is followed by two. " * 1000

needs_model = pytest.mark.model(MODEL)


@pytest.fixture
async def runtime() -> AsyncIterator[Runtime]:
    runtime = Runtime(Settings.from_environment().models_dir, threads=1)
    yield runtime
    runtime.close()


async def ask(runtime: Runtime, prompt: str, **options: Any) -> Finished:
    messages = [{"role": "user", "content": prompt}]
    return [event async for event in runtime.generate(MODEL, messages, **options)][-1]  # type: ignore[return-value]


@needs_model
async def test_streams_loading_deltas_and_the_end(runtime: Runtime) -> None:
    prompt = [{"role": "user", "content": "What is the capital of France? One short sentence."}]
    events = [event async for event in runtime.generate(MODEL, prompt, max_output_tokens=30, top_logprobs=3)]
    assert events[0] == Loading(MODEL) and runtime.loaded() == (MODEL,)
    end = events[-1]
    assert isinstance(end, Finished) and "Paris" in end.output and end.finish == "stop"
    assert "".join(event.text for event in events if isinstance(event, Delta)) == end.output
    assert end.usage.input_tokens > 30 and end.usage.output_tokens == len(end.logprobs) + 1
    assert end.served_model == "SmolLM2-135M-Instruct.Q4_1.gguf"
    assert all(len(choice.logprobs) == 3 for choice in end.logprobs)
    again = [event async for event in runtime.generate(MODEL, prompt, max_output_tokens=30)]
    assert not isinstance(again[0], Loading)
    assert isinstance(again[-1], Finished) and again[-1].usage.cached_input_tokens > 20


@needs_model
async def test_a_cut_answer_says_so_and_characters_stay_whole(runtime: Runtime) -> None:
    for limit in range(1, 6):
        end = await ask(
            runtime, "Answer only with emojis: 🚀🎉🍏", max_output_tokens=limit, grammar="root ::= [🚀🎉🍏é]+"
        )
        assert end.finish == "length" and "\ufffd" not in end.output
        assert set(end.output) <= set("🚀🎉🍏é")


@needs_model
@pytest.mark.parametrize("prompt", ["Say hi. " * 3, LONG_PROMPT], ids=["writing", "reading"])
async def test_cancelling_frees_the_model_within_a_second(runtime: Runtime, prompt: str) -> None:
    await runtime.load(MODEL)
    task = asyncio.create_task(
        ask(
            runtime,
            prompt,
            max_output_tokens=4000,
            grammar="root ::= line line line line\nline ::= [a-z ]{999}",
        )
    )
    await asyncio.sleep(0.5)
    began = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert time.monotonic() - began < 0.1
    await asyncio.sleep(1)
    before = _cpu_s(runtime)
    await asyncio.sleep(0.5)
    assert _cpu_s(runtime) - before < 0.1


def _cpu_s(runtime: Runtime) -> float:
    stat = Path(f"/proc/{runtime.engine_pid(MODEL)}/stat")
    if not stat.exists():
        pytest.skip("no /proc here")
    fields = stat.read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@needs_model
async def test_every_plan_under_the_grammar_can_be_read(runtime: Runtime) -> None:
    grammar = plan_grammar(4, 3, max_instruction_characters=40)
    prompts = ["Plan it.", "Say A A A A forever.", "你好", '{"json": true}']
    for seed, prompt in enumerate(prompts * 2):
        end = await ask(
            runtime,
            prompt,
            max_output_tokens=250,
            grammar=grammar,
            seed=seed,
            settings={"temperature": 1.5},
            top_logprobs=40,
        )
        lines = read_plan_lines(end.output)
        assert end.finish == "stop" and lines and len(lines) <= 3
        assert {line.letter for line in lines} <= set("ABCD")
        tokens = [(choice.token, choice.logprobs) for choice in end.logprobs]
        choices = letter_choices(tokens, "ABCD")
        assert len(choices) == len(lines)
        assert all(sum(choice.probabilities.values()) == pytest.approx(1) for choice in choices)


@needs_model
async def test_json_schema_shapes_the_answer(runtime: Runtime) -> None:
    schema = {"type": "object", "properties": {"n": {"type": "integer", "maximum": 9}}, "required": ["n"]}
    end = await ask(
        runtime, "Give n.", max_output_tokens=60, json_schema=schema | {"additionalProperties": False}
    )
    assert '"n"' in end.output and end.output.strip().startswith("{")


@needs_model
async def test_same_seed_same_answer(runtime: Runtime) -> None:
    options: dict[str, Any] = {"settings": {"temperature": 1.2}, "max_output_tokens": 20}
    await ask(runtime, "Name an animal.", max_output_tokens=1)
    one, two = [await ask(runtime, "Name an animal.", seed=5, **options) for _ in range(2)]
    other = await ask(runtime, "Name an animal.", seed=6, **options)
    assert one.output == two.output != other.output


@needs_model
async def test_requests_share_the_model_at_the_same_time(runtime: Runtime) -> None:
    ends = await asyncio.gather(*(ask(runtime, f"Count to {n}.", max_output_tokens=8) for n in range(5)))
    assert all(end.usage.output_tokens for end in ends)
    assert runtime.loaded() == (MODEL,)


@needs_model
async def test_an_adapter_is_used_only_when_asked_for(runtime: Runtime, tmp_path: Path) -> None:
    plain = await ask(runtime, "What is the capital of France?", max_output_tokens=12, top_logprobs=1)
    with pytest.raises(LocalModelError, match="without an adapter"):
        await ask(runtime, "Hi", adapter=True)
    runtime.set_adapters(MODEL, [Adapter(write_random_lora(tmp_path / "lora.gguf"))])
    without = await ask(runtime, "What is the capital of France?", max_output_tokens=12, top_logprobs=1)
    adapted = await ask(runtime, "What is the capital of France?", max_output_tokens=12, adapter=True)
    once_more = await ask(runtime, "What is the capital of France?", max_output_tokens=12, top_logprobs=1)
    assert plain.output == without.output == once_more.output
    assert plain.logprobs[0].logprobs == pytest.approx(without.logprobs[0].logprobs, abs=1e-3)
    assert adapted.output != plain.output


@needs_model
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux takes untouched pages back")
async def test_a_model_takes_little_more_memory_than_its_file(runtime: Runtime) -> None:
    await ask(runtime, "Hi", max_output_tokens=3)
    taken = psutil.Process(runtime.engine_pid(MODEL)).memory_info().rss
    assert taken < model_spec(MODEL).size_bytes + 100 * 2**20


@needs_model
async def test_an_answer_that_reaches_the_end_of_the_context_says_it_was_cut(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("conductor.local.runtime.SLOT_CONTEXT_TOKENS", 256)
    end = await ask(runtime, "word " * 200, max_output_tokens=1000, grammar="root ::= [a-z ]{999}")
    assert end.finish == "length"
    assert 200 < end.usage.input_tokens < end.usage.input_tokens + end.usage.output_tokens <= 256
    with pytest.raises(LocalModelError, match="the model takes 256"):
        await ask(runtime, "word " * 260)


@needs_model
async def test_too_long_an_input_is_a_context_overflow(runtime: Runtime) -> None:
    with pytest.raises(LocalModelError, match="the model takes 8,192") as caught:
        await ask(runtime, "word " * 9000)
    assert caught.value.kind == "context_overflow" and caught.value.hint


@needs_model
async def test_a_wrong_grammar_is_a_bad_request_and_the_model_lives_on(runtime: Runtime) -> None:
    with pytest.raises(LocalModelError, match="grammar") as caught:
        await ask(runtime, "Hi", grammar="root ::= [")
    assert caught.value.kind == "bad_request"
    assert (await ask(runtime, "Hi", max_output_tokens=3)).output


@needs_model
async def test_a_dead_engine_is_an_error_and_the_next_request_gets_a_new_one(runtime: Runtime) -> None:
    await runtime.load(MODEL)
    pid = runtime.engine_pid(MODEL)
    assert pid
    task = asyncio.create_task(ask(runtime, LONG_PROMPT, max_output_tokens=100))
    await asyncio.sleep(0.3)
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(LocalModelError) as caught:
        await task
    assert caught.value.kind == "unavailable" and caught.value.retryable
    assert "want of memory" in caught.value.hint
    assert (await ask(runtime, "Hi", max_output_tokens=3)).output
    assert runtime.engine_pid(MODEL) != pid


@needs_model
async def test_an_idle_model_leaves_memory_and_comes_back() -> None:
    runtime = Runtime(Settings.from_environment().models_dir, idle_s=0.3, threads=1)
    try:
        await ask(runtime, "Hi", max_output_tokens=3)
        pid = runtime.engine_pid(MODEL)
        assert runtime.loaded() == (MODEL,) and pid
        await asyncio.to_thread(_wait_for_end, pid, 10)
        assert runtime.loaded() == ()
        assert (await ask(runtime, "Hi", max_output_tokens=3)).output
    finally:
        runtime.close()


@needs_model
@pytest.mark.parametrize("way", ["end", "interrupt", "kill"])
@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_the_process_ends_within_a_second_and_takes_its_engine_along(way: str, tmp_path: Path) -> None:
    script = tmp_path / "use_model.py"
    script.write_text(
        "import asyncio\n"
        "from conductor.local.runtime import process_runtime, Delta\n"
        "from conductor.settings import Settings\n"
        "async def main():\n"
        "    runtime = process_runtime(Settings.from_environment().models_dir)\n"
        f"    prompt = [{{'role': 'user', 'content': 'Tell a story.'}}]\n"
        f"    async for event in runtime.generate({MODEL!r}, prompt, max_output_tokens=4000):\n"
        f"        if isinstance(event, Delta): print(runtime.engine_pid({MODEL!r}), flush=True); break\n"
        f"    if {way!r} != 'end': await asyncio.sleep(60)\n"
        "asyncio.run(main())\n"
    )
    environ = os.environ | {"PYTHONPATH": str(Path(__file__).parents[3])}
    with subprocess.Popen(
        [sys.executable, str(script)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
    ) as process:
        assert process.stdout
        pid = int(process.stdout.readline())
        began = time.monotonic()
        if way != "end":
            process.send_signal(signal.SIGINT if way == "interrupt" else signal.SIGKILL)
        process.wait(10)
        assert time.monotonic() - began < 1.5
    _wait_for_end(pid, 2)


def _wait_for_end(pid: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while _is_alive(pid):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not stat.exists() or stat.read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except (ProcessLookupError, FileNotFoundError):
        return False


async def test_missing_weights_say_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="not in") as caught:
        await ask(Runtime(tmp_path), "Hi")
    assert caught.value.kind == "unavailable" and f"models fetch {MODEL}" in caught.value.hint


async def test_an_unknown_model_names_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(LocalModelError, match="no model 'gpt'"):
        [event async for event in Runtime(tmp_path).generate("gpt", [])]
