"""Hostile model text: nothing loads or runs, links lead to http(s) only, and the text stays readable."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from app.markdown import WORD_JOINER, literal, sanitised

RENDERER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])
RENDERER.validateLink = lambda url: True
"""An independent CommonMark renderer; it allows HTML and any link, so that what came through would show."""


def tokens(text: str) -> list[Token]:
    flat: list[Token] = []
    for token in RENDERER.parse(text):
        flat += [token, *(token.children or [])]
    return flat


def shown(text: str) -> str:
    """What a reader sees: the text of all tokens."""
    kinds = {"text", "code_inline", "fence", "code_block", "html_inline", "html_block"}
    return "\n".join(token.content for token in tokens(text) if token.type in kinds).replace(WORD_JOINER, "")


def dangers(text: str) -> list[str]:
    found = []
    for token in tokens(text):
        if token.type in {"image", "html_inline", "html_block"}:
            found.append(f"{token.type} {token.content}")
        if token.type == "link_open" and not re.match(r"https?://", str(token.attrs["href"])):
            found.append(f"link to {token.attrs['href']}")
        if token.type == "fence" and "mermaid" in token.info.lower():
            found.append("a drawn fence")
    return found


HOSTILE = (
    "![x](http://evil/?d=1)",
    "[![x](http://evil/a.png)](http://evil/)",
    "![x][1]\n\n[1]: http://evil/a.png",
    "[x][1]\n\n[1]: javascript:alert(1)",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<svg onload=alert(1)>",
    "<img src=x onerror=alert(1)>",
    "<!-- --><script>alert(1)</script>",
    "<script\n>alert(1)</script\n>",
    "[a](javascript:alert(1))",
    "[a](JaVaScRiPt:alert(1))",
    "[a](javascript&colon;alert(1))",
    "[a](&#106;avascript:alert(1))",
    "[a](java\tscript:alert(1))",
    "[a](<javascript:alert(1)>)",
    "[a](data:text/html;base64,PHNjcmlwdD4=)",
    "[a](vbscript:x) [b](file:///etc/passwd) [c](//evil.example)",
    "[a](/api/runs/run_1?x=1)",
    "<javascript:alert(1)> <data:text/html,x>",
    "[a [b](https://ok.example)](javascript:alert(1))",
    "[a]( javascript:alert(1) 'title')",
    "> ```\n> x\n![y](http://evil/)",
    "- item\n  ```\n  code\n![y](http://evil/)\n  ```",
    "$$\n```\n$$\n![y](http://evil/)\n```",
    "| a | b |\n|---|---|\n| `x|![y](http://evil/)` | 1 |",
    "`a\n\n![y](http://evil/)`",
    "\\`![y](http://evil/)\\`",
    "``` a`b\n![y](http://evil/)\n```",
    "~~~ `\n![y](http://evil/)\n~~~",
    "    ```\n![y](http://evil/)",
    "1. ```\n![y](http://evil/)\n```",
    "$![y](http://evil/)$",
    "\\(![y](http://evil/)\\)",
    "```mermaid\ngraph TD\nA@{ img: 'http://evil/x.png' }\n```",
    "```MerMaid {x}\nclick A 'javascript:alert(1)'\n```",
    "```merm&#97;id\nx\n```",
    "!\\[x](http://evil/)",
    "![x\n](http://evil/)",
    "&lt;img src=x onerror=alert(1)&gt;",
)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_draws_nothing_active(text: str) -> None:
    assert dangers(sanitised(text)) == []


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_stays_readable(text: str) -> None:
    words = set(re.findall(r"[a-z]{3,}", re.sub(r"```\S*", "", text.lower().replace("&#97;", ""))))
    seen = shown(sanitised(text)).lower() + " ".join(
        str(each.attrs.get("href")) for each in tokens(sanitised(text))
    )
    assert {word for word in words if word not in seen} <= {"colon", "quot", "title"}


def test_the_renderer_of_these_tests_would_show_the_dangers() -> None:
    assert dangers("![x](http://evil/)") and dangers("<svg onload=x>") and dangers("[a](file:///etc)")


SIGNS = [
    "`",
    "``",
    "```",
    "~~~",
    "$",
    "$$",
    "|",
    "\\",
    "[",
    "]",
    "(",
    ")",
    "!",
    "<",
    ">",
    "*",
    "_",
    "#",
    "---",
    "&",
    ":",
    "\\(",
    "\\)",
    "text",
    "![x](http://evil/)",
    "](http://evil/)",
]
SPACES = (
    "\n",
    "\n\n",
    "  ",
    "    ",
    "\t",
    "- ",
    "1. ",
    "> ",
    "\r\n",
    "\u2028",
    "[a]: http://evil/",
    "| - | - |\n",
)
KEPT = ("[ok](https://ok.example/a_(b))", "https://ok.example/x", "é")
PIECES = st.sampled_from([*HOSTILE, *SIGNS, *SPACES, *KEPT])


@settings(max_examples=300, deadline=None)
@example(["$$", "\n", "```", "\n", "$$", "\n", "![x](http://evil/)"])
@given(st.lists(PIECES, max_size=14))
def test_no_mixture_of_hostile_pieces_draws_anything_active(pieces: list[str]) -> None:
    assert dangers(sanitised("".join(pieces))) == []


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=200))
def test_any_text_is_rewritten_without_a_crash(text: str) -> None:
    assert dangers(sanitised(text)) == []


@settings(max_examples=200, deadline=None)
@given(
    st.text(
        alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp", "Cf")), max_size=60
    )
)
def test_literal_shows_exactly_the_characters(text: str) -> None:
    assert shown(literal(text)) == " ".join(text.split())


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("**bold** and *soft*", "**bold** and *soft*"),
        ("[docs](https://ok.example/a)", "[docs](https://ok.example/a)"),
        ("[w](https://ok.example/a_(b))", "[w](https://ok.example/a_%28b%29)"),
        ("see https://ok.example/a_b.", "see <https://ok.example/a_b>."),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("- [x] done\n- [ ] open", "- [x] done\n- [ ] open"),
        ("`x = a[0](1)`", "`x = a[0](1)`"),
        ("# Title", "### Title"),
    ],
)
def test_plain_markdown_is_kept(text: str, kept: str) -> None:
    assert sanitised(text) == kept


def test_code_blocks_keep_every_character() -> None:
    code = 'print("```")\nx = a[0] < b and "![x](http://y)"\n\n    return $x'
    blocks = [token for token in tokens(sanitised(f"```python\n{code}\n```")) if token.type == "fence"]
    assert len(blocks) == 0 or blocks[0].content.startswith("print(")
    blocks = [token for token in tokens(sanitised(f"~~~~python\n{code}\n~~~~")) if token.type == "fence"]
    assert [(block.info, block.content) for block in blocks] == [("python", code + "\n")]


def test_an_unfinished_code_block_is_closed() -> None:
    blocks = [token for token in tokens(sanitised("before\n```python\nx = 1")) if token.type == "fence"]
    assert [block.content for block in blocks] == ["x = 1\n"]


def test_indented_code_is_a_code_block() -> None:
    blocks = [
        token for token in tokens(sanitised("text\n\n    if a < b:\n        c[0]\n")) if token.type == "fence"
    ]
    assert [block.content for block in blocks] == ["if a < b:\n    c[0]\n"]


@pytest.mark.parametrize(
    "text",
    ["costs $5 and $6", "US$5 or A$6", "between $10-$20 a day", "$5,000$", "$3 million and $4 million"],
)
def test_money_is_no_formula(text: str) -> None:
    assert not re.search(r"(?<!\\)\$", sanitised(text))
    assert shown(sanitised(text)) == text


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("so $x^2 + 1$ holds", "$x^2 + 1$"),
        (r"so \(a < b\) holds", r"$a \lt  b$"),
        (r"so \[\frac{1}{2}\] holds", r"$\frac{1}{2}$"),
        ("$$\nx = 1\n$$", "\n$$\nx = 1\n$$"),
        ("\\[\nx = 1\n\\]", "\n$$\nx = 1\n$$"),
        ("$$x = 1$$", "\n$$\nx = 1\n$$"),
        ("it costs $5, where $r$ is the rate", r"\$5, where $r$"),
    ],
)
def test_formulas_are_kept_in_the_form_the_page_draws(text: str, formula: str) -> None:
    assert formula in sanitised(text)


@pytest.mark.parametrize(
    "sign",
    [":red[hot]", ":red-background[hot]", ":material/home:", ":tada:", ":streamlit:", "::video", ":::note"],
)
def test_the_page_s_private_signs_lose_their_meaning(sign: str) -> None:
    safe = sanitised(f"a {sign} b")
    assert not re.search(r"(?<!\\):[a-z]+(-[a-z]+)?\[", safe)
    assert not re.search(r":(material/|[\w+-]+:)", safe)
    assert shown(safe) == f"a {sign} b"


def test_times_and_ratios_keep_their_colon() -> None:
    assert WORD_JOINER not in sanitised("at 10:30, ratio 3:2, key:value")


@pytest.mark.parametrize(
    "text",
    [
        "`" * 40_000 + " ``" * 20_000,
        "\\(" * 40_000,
        "\\[\n" * 20_000,
        "[" * 90_000,
        "[a](https://" + "(" * 50_000,
    ],
)
def test_long_hostile_text_takes_no_long_time(text: str) -> None:
    import time

    started = time.process_time()
    sanitised(text)
    assert time.process_time() - started < 20
