"""Data stays data: nothing that a file says is executed, leads a write elsewhere, or is more than text where it is shown.

What needs a browser or a kernel is in tests/proof/test_security.py.
"""

from __future__ import annotations

import ast
import io
import json
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import html
from markdown_it import MarkdownIt

from ragkit.cli import run
from ragkit.cli.console import notice, say, show, show_json
from ragkit.errors import DataError, DocumentError
from ragkit.files import replacing_directory, write_atomic
from ragkit.ingest import parse_document
from ragkit.interop.importing import _document_name, _question_name
from ragkit.report import page, plots
from ragkit.report.exports import read_ids
from ragkit.report.tables import escape, table
from ragkit.text import visible
from tests.attacks import SLUG, TEXTS, active, lay_out, shown, words

PACKAGE = Path(__file__).parents[1] / "ragkit"
MODULES = sorted(PACKAGE.rglob("*.py"))

# ---------------------------------------------------------------------------------------------- code

FORBIDDEN_CALLS = {
    "eval", "exec", "compile", "__import__", "input", "breakpoint",
    "os.system", "os.popen", "os.startfile", "os.execv", "os.spawnv",
    "yaml.load", "yaml.unsafe_load", "yaml.full_load", "torch.load", "jsonpickle.decode",
    "shutil.unpack_archive",
}  # fmt: skip
FORBIDDEN_METHODS = {"extractall", "extract_all", "read_pickle", "to_pickle"}
FORBIDDEN_MODULES = {
    "pickle",
    "cPickle",
    "dill",
    "cloudpickle",
    "joblib",
    "marshal",
    "shelve",
    "tarfile",
    "code",
    "pty",
}
IMPORTERS = {"cli/__init__.py", "ingest/document.py", "retrieval/external.py"}
"""Where a module is imported by a computed name: the commands, the parsers, and the retriever that a user names."""


def calls(path: Path) -> Iterator[tuple[str, ast.Call]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func), node


def keywords(call: ast.Call) -> dict[str | None, str]:
    return {keyword.arg: ast.unparse(keyword.value) for keyword in call.keywords}


@pytest.mark.parametrize("path", MODULES, ids=[path.relative_to(PACKAGE).as_posix() for path in MODULES])
def test_no_module_has_a_way_to_execute_data(path: Path) -> None:
    for name, call in calls(path):
        where = f"{path}:{call.lineno}: {name}"
        given = keywords(call)
        assert name not in FORBIDDEN_CALLS, where
        assert name.rpartition(".")[2] not in FORBIDDEN_METHODS, where
        assert given.get("shell", "False") == "False", where
        assert given.get("trust_remote_code", "False") == "False", where
        assert given.get("allow_pickle", "False") == "False", where
        if name in ("np.load", "numpy.load"):
            assert given["allow_pickle"] == "False", where
        if name.endswith("import_module"):
            assert path.relative_to(PACKAGE).as_posix() in IMPORTERS, where
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not {name.partition(".")[0] for name in names} & FORBIDDEN_MODULES, f"{path}: imports {names}"


def test_the_guard_above_sees_what_it_forbids(tmp_path: Path) -> None:
    source = "import pickle\nyaml.load(x)\nnp.load(x)\nsubprocess.run(x, shell=True)\n"
    (tmp_path / "bad.py").write_text(source)
    found = dict(calls(tmp_path / "bad.py"))
    assert "yaml.load" in found
    assert keywords(found["subprocess.run"]) == {"shell": "True"}
    assert keywords(found["np.load"]) == {}


@pytest.mark.parametrize("text", TEXTS)
def test_a_parameter_of_a_notebook_is_a_literal(text: str) -> None:
    from papermill.translators import PythonTranslator

    for value in (text, f"'{text}'", f'"""{text}\\', ["a", {text: text}]):
        (assignment,) = ast.parse(PythonTranslator.codify({"given": value})).body
        assert isinstance(assignment, ast.Assign)
        assert ast.literal_eval(assignment.value) == value


@pytest.fixture
def judged(workspace: Path) -> Path:
    """The workspace with the policy by which candidates are judged."""
    shutil.copy(PACKAGE.parent / "eval/policy.toml", "eval")
    return workspace


# ------------------------------------------------------------------------------------------ terminal


def test_only_one_module_writes_to_the_terminal() -> None:
    for path in (PACKAGE / "cli").glob("*.py"):
        if path.name != "console.py":
            names = {name for name, _ in calls(path)}
            assert not names & {"click.echo", "click.secho", "print", "sys.stdout.write", "sys.stderr.write"}, path


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_printed_can_not_steer_a_terminal(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    say(text)
    notice(text)
    show(table(text, (text,), [(text,)]))
    show_json({text: text})
    captured = capsys.readouterr()
    assert not set(captured.out + captured.err) & set("\x1b\x07\x9b\u202e\u202c")
    assert json.loads(captured.out[captured.out.index("{\n") :]) == {text: text}


@given(st.text())
def test_visible_text_has_no_control_characters_and_plain_text_stays(text: str) -> None:
    seen = visible(text)
    assert all(c in "\n\t" or ord(c) >= 0x20 for c in seen)
    assert not set(seen) & {chr(code) for code in (0x7F, 0x85, 0x9B, 0x202E, 0x2066, 0xD800)}
    assert visible(seen) == seen
    if text.isprintable():
        assert seen == text


@pytest.mark.parametrize("text", ["[/b] [link=https://attacker.example]x[/link]", "[bold", *TEXTS])
def test_a_drawn_table_has_no_markup(
    text: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "400")
    show(table(text, ("a",), [(text,)]))
    drawn = capsys.readouterr().out
    assert "attacker.example]x[/link]" in drawn or "[link=" not in text
    assert "\x1b]" not in drawn
    assert "\x1b[2J" not in drawn


def test_the_name_of_a_refused_file_is_one_line(workspace: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (workspace / "eval/corpus/a\x1b[2J\nnotes.txt:1: forged.md").write_text("x")
    assert run(["validate"]) == 2
    error = capsys.readouterr().err
    assert "\x1b" not in error
    assert [line for line in error.splitlines() if line.startswith("notes.txt")] == []


# ----------------------------------------------------------------------------------- what people read


@pytest.fixture
def attacked(judged: Path) -> Path:
    lay_out(judged)
    return judged


def as_page(markdown: str) -> Any:
    """As a forge renders it: tables, HTML let through."""
    return html.fromstring(MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).render(markdown))


def test_reports_show_documents_and_questions_as_text(attacked: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    assert run(["eval", "--set", "name=small", "--set", "chunking.chunk_size=30"]) == 0
    assert run(["compare", "v1.4", "eval/runs/small", "--markdown", "comparison.md"]) in (0, 1)
    capsys.readouterr()
    assert run(["blocks", f"eval/corpus/{SLUG}"]) == 0
    assert not set(capsys.readouterr().out) & set("\x1b\x07\x9b\u202e")
    baseline = as_page((attacked / "docs/eval/baseline-v1.4.md").read_text(encoding="utf-8"))
    summary = as_page((attacked / "eval/runs/small/summary.md").read_text(encoding="utf-8"))
    comparison = as_page((attacked / "comparison.md").read_text(encoding="utf-8"))
    for found in (baseline, summary, comparison):
        assert active(found) == []
        assert not list(found.iter("img", "s", "blockquote", "input", "textarea", "svg"))
    for text in TEXTS:
        assert shown(text[:100])[:60] in words(baseline), text
        assert shown(text[:100])[:60] in words(summary), text
    assert SLUG in words(comparison)
    rows = [row for row in baseline.iter("tr") if row[0].text_content() in {f"q{n}" for n in range(len(TEXTS))}]
    assert {len(row) for row in rows} == {9}  # no cell was broken in two
    assert len(rows) == len(TEXTS)


@settings(max_examples=1000)
@given(st.text(max_size=60) | st.text("-+=:.)(1#>|[]!*_~`\\&;<x @\n\t", max_size=20))
def test_escaped_text_is_text_whatever_it_is(text: str) -> None:
    found = as_page(f"<div>\n\n{escape(text)}\n\n| a |\n| --- |\n| {escape(text)} |\n\n</div>")
    (cell,) = found.iter("td")
    wanted = " ".join(visible(" ".join(text.split())).split())
    assert " ".join(cell.text_content().split()) == wanted
    assert len(cell) == 0
    paragraphs = [" ".join(each.text_content().split()) for each in found.iter("p")]
    assert paragraphs == ([wanted] if wanted else [])


@pytest.mark.parametrize("text", TEXTS)
def test_figures_show_names_as_text(text: str, attacked: Path) -> None:
    estimate = {"mean": 0.5, "low": 0.4, "high": 0.6, "n": 3}
    figure = plots.by_type({"by_type": {text: {"Recall@5": estimate, "nDCG@10": estimate}}})
    found = html.fromstring(plots.inline(figure).html)
    assert active(found) == []
    assert shown(text)[:39].strip() in words(found)
    assert shown(text)[:39].strip() in found.xpath("//svg/@aria-label")[0]


@pytest.mark.parametrize("text", [*TEXTS, "```\n<script>window.attacked = 1</script>\n````"])
def test_code_stays_in_its_fence(text: str) -> None:
    found = as_page(page.code(text, "sh").markdown)
    assert found.tag == "pre"
    assert found.text_content().rstrip("\n") == visible(text)


def test_embedded_data_end_where_they_should() -> None:
    content = json.dumps(dict.fromkeys(TEXTS, "</script><!--<script>"))
    shown_html = page.embedded('a"><script>', content).html
    found = html.fromstring(f"<div>{shown_html}</div>")
    (script,) = found.iter("script")
    assert json.loads(script.text) == json.loads(content)
    assert active(found) == []


# -------------------------------------------------------------------------------------- where writes go


def test_a_link_in_the_place_of_results_is_replaced_not_followed(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "letter.txt").write_text("mine")
    (tmp_path / "run").symlink_to(precious)
    (tmp_path / "report.md").symlink_to(precious / "letter.txt")
    (tmp_path / "new").symlink_to(precious / "absent")
    with replacing_directory(tmp_path / "run") as folder:
        (folder / "metrics.json").write_text("{}")
    write_atomic(tmp_path / "report.md", "report")
    write_atomic(tmp_path / "new", "report")
    assert [path.name for path in precious.iterdir()] == ["letter.txt"]
    assert (precious / "letter.txt").read_text() == "mine"
    assert not any((tmp_path / name).is_symlink() for name in ("run", "report.md", "new"))


def test_a_ledger_that_is_a_link_is_not_written_to(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    assert run(["eval", "--set", "name=small", "--set", "chunking.chunk_size=30"]) == 0
    (judged / "profile").write_text("")
    (judged / "eval/ledger.jsonl").symlink_to(judged / "profile")
    assert run(["compare", "v1.4", "eval/runs/small", "--confirm"]) == 2
    assert "is a symbolic link" in capsys.readouterr().err
    assert (judged / "profile").read_text() == ""


def test_texts_to_adjudicate_come_from_the_corpus_alone(judged: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["freeze", "--allow", "dirty", "--allow", "saturated"]) == 0
    (judged / "secret.txt").write_text("the key is under the mat\n")
    (judged / "eval/corpus/leak.txt").symlink_to(judged / "secret.txt")
    path = judged / "docs/eval/baseline-v1.4.json"
    metrics = json.loads(path.read_text())
    for question in metrics["questions"]:
        question["measures"] = dict.fromkeys(question["measures"], 0.0)
        for hit in question["hits"]:
            hit["at"], hit["covers"] = "leak.txt#0", []
    (judged / "candidate.json").write_text(json.dumps(metrics))
    run(["compare", "v1.4", "candidate.json", "--adjudicate", "judge.jsonl"])
    written = (judged / "judge.jsonl").read_text()
    assert [json.loads(line)["text"] for line in written.splitlines() if "leak.txt#0" in line]
    assert "mat" not in written


@given(st.text(min_size=1))
def test_an_id_of_a_collection_names_a_file_in_its_folder_and_nothing_else(identifier: str) -> None:
    identifier = identifier.encode(errors="replace").decode()
    name = _document_name(identifier)
    assert Path(name).name == name
    assert name not in ("", ".", "..")
    assert "\\" not in name
    assert not name.startswith(".")
    assert set(_question_name(identifier)) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.:-")


@pytest.mark.parametrize("name", ["a\tb", "a\n1\tb\t3", "a\r", ""])
def test_an_id_that_would_forge_a_line_is_refused(name: str, workspace: Path) -> None:
    (workspace / "ids.json").write_text(json.dumps({"documents": {"notes.txt": name}}))
    with pytest.raises(DataError, match="string-pattern-mismatch"):
        read_ids(workspace / "ids.json")


# ------------------------------------------------------------------------------------------- parsers

ENTITY = '<!DOCTYPE x [<!ENTITY leak SYSTEM "file://{path}">]>'


def test_html_reads_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("the key is under the mat")
    source = (
        ENTITY.format(path=tmp_path / "secret.txt") + "<html><body><p>before &leak; after</p>"
        f"<xi:include href='{tmp_path / 'secret.txt'}' xmlns:xi='http://www.w3.org/2001/XInclude'/>"
        f"<object data='{tmp_path / 'secret.txt'}'></object><script>document.write('x')</script></body></html>"
    )
    (tmp_path / "a.html").write_text(source)
    text = parse_document(tmp_path / "a.html", "a.html").text
    assert "mat" not in text
    assert "before" in text


@pytest.mark.parametrize(
    ("suffix", "part"), [("docx", "word/document.xml"), ("pptx", "ppt/presentation.xml"), ("xlsx", "xl/workbook.xml")]
)
def test_office_files_read_no_other_file(suffix: str, part: str, tmp_path: Path) -> None:
    """The entity is put into every part of a good file, one at a time; whatever becomes of it, it isn't read."""
    (tmp_path / "secret.txt").write_text("the key is under the mat")
    good = office_file(suffix)
    with zipfile.ZipFile(io.BytesIO(good)) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    assert part in contents
    leaks = 0
    for name, content in contents.items():
        if not name.endswith(".xml") or b"needle" not in content:
            continue
        leaks += 1
        start = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
        doctype = ENTITY.format(path=tmp_path / "secret.txt").encode()
        changed = content[:start] + doctype + content[start:].replace(b"needle", b"needle &leak;")
        path = tmp_path / f"a.{suffix}"
        with zipfile.ZipFile(path, "w") as archive:
            for other, data in contents.items():
                archive.writestr(other, changed if other == name else data)
            archive.writestr("../../escaped.txt", "outside")
        try:
            text = parse_document(path, path.name).text
        except DocumentError:
            text = ""
        assert "mat" not in text
    assert leaks
    assert not (tmp_path.parent.parent / "escaped.txt").exists()


def office_file(suffix: str) -> bytes:
    stream = io.BytesIO()
    if suffix == "docx":
        import docx

        document = docx.Document()
        document.add_paragraph("A needle in it.")
        document.save(stream)
    elif suffix == "pptx":
        import pptx

        deck = pptx.Presentation()
        slide = deck.slides.add_slide(deck.slide_layouts[0])
        slide.shapes.title.text = "A needle in it."
        deck.save(stream)
    else:
        import openpyxl

        book = openpyxl.Workbook()
        book.active["A1"] = "A needle in it."
        book.save(stream)
    return stream.getvalue()
