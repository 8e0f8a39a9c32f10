"""What sweep files may say, and how they expand."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragkit.cli import run
from ragkit.config import load
from ragkit.errors import ConfigError, UsageError
from ragkit.execution.grid import Sweep, read_sweep

ROOT = Path(__file__).parents[2]


@pytest.fixture
def base(workspace: Path) -> Path:
    """The workspace with a base configuration that says its retrieval."""
    path = workspace / "eval/configs/v1.4.toml"
    path.write_text(path.read_text(encoding="utf-8") + '[retrieval]\nstrategy = "dense"\n', encoding="utf-8")
    return path


def read(content: str) -> Sweep:
    Path("s.toml").write_text('name = "s"\n' + content, encoding="utf-8")

    def ask(count: int) -> None:
        raise UsageError(f"{count} configurations")

    return read_sweep(Path("s.toml"), ask)


def test_a_grid_is_expanded_in_order_and_each_override_makes_its_configuration(base: Path) -> None:
    sweep = read('[grid]\n"chunking.chunk_size" = [50, 40]\n')
    assert sweep.variables == ("chunking.chunk_size",)
    assert [variant.label for variant in sweep.variants] == ["chunk_size-50", "chunk_size-40"]
    for variant in sweep.variants:
        assert load(sweep.base, variant.overrides) == variant.settings
    assert sweep.variants[0].overrides == ("chunking.chunk_size=50", 'name="s-chunk_size-50"')


def test_values_of_every_type_survive_the_way_into_the_notebook(base: Path) -> None:
    entries = 'chunking.separators = ["\\n", "é\\"", ""], chunking.across_pages = false, retrieval.threshold = 1e-5'
    sweep = read(f'allow_two = true\n[[variants]]\nname = "v"\nset = {{ {entries} }}\n')
    [variant] = sweep.variants
    assert variant.settings.chunking.separators == ("\n", 'é"', "")
    assert variant.settings.retrieval.model_dump()["threshold"] == 1e-5
    assert load(sweep.base, variant.overrides) == variant.settings


def test_variants_of_one_section_are_one_variable(base: Path) -> None:
    sweep = read(
        '[[variants]]\nname = "a"\nset = { chunking.strategy = "sentence" }\n'
        '[[variants]]\nname = "b"\nset = { chunking.strategy = "block", chunking.blocks = 2 }\n'
    )
    assert sweep.variables == ("chunking",)


def test_two_variables_have_to_be_asked_for(base: Path) -> None:
    grid = "[grid]\nchunking.chunk_size = [50, 40]\nretrieval.top_k = [10, 20]\n"
    with pytest.raises(ConfigError, match=r"two variables \(chunking.chunk_size, retrieval.top_k\)"):
        read(grid)
    labels = [variant.label for variant in read("allow_two = true\n" + grid).variants]
    assert labels == [
        "chunk_size-50-top_k-10", "chunk_size-50-top_k-20", "chunk_size-40-top_k-10", "chunk_size-40-top_k-20"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("grid = ", "s.toml: not TOML"),
        ("", "nothing varies: write either"),
        ("[[variants]]\nname = 'a'\n", "no variant sets anything"),
        ("[grid]\na.b = [1]\n[[variants]]\nname = 'a'\n", "has both"),
        ("gird = 1", "s.toml: gird: unknown key"),
        ("allow_two = 'yes'", "s.toml: allow_two: Input should be a valid boolean"),
        ("[grid]\nchunking.chunk_size = 50", "grid.chunking.chunk_size: must be a list of the values to try, found 50"),
        ("[grid]\nchunking.chunk_size = []", "must be a list of the values to try"),
        ("[grid]\nchunking.chunk_sise = [50]", "chunk_sise-50: eval/configs/v1.4.toml: chunking.chunk_sise: unknown key; did"),
        ("[grid]\nchunking.strategy = ['sentense']", "unknown strategy; did you mean sentence"),
        ("[grid]\nchunking.chunk_size = [50, 10]", "chunk_overlap must be smaller than chunk_size"),
        ("[grid]\nchunking.chunk_size = [1979-05-27]", "no entry of a configuration is of this type"),
        ("[grid]\nchunking.chunk_size = [50, 40, 50]", "chunk_size-50: is there twice"),
        ("[[variants]]\nname='a'\nset={chunking.chunk_size=9}\n[[variants]]\nname='b'\nset={chunking.chunk_size=9}",
         "chunk_overlap must be smaller"),
        ("[[variants]]\nname='a'\nset={chunking.chunk_size=90}\n[[variants]]\nname='b'\nset={chunking.chunk_size=90}",
         "b: is the same configuration as a"),
        ("[grid]\ndataset.split = ['dev']", "dataset.split can't vary: all are asked the same"),
        ("[grid]\nname = ['x', 'y']", "name can't vary"),
        ("allow_two = true\n[grid]\nchunking.a=[1]\nretrieval.b=[1]\nmodel.c=[1]", "3 variables"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_with_the_reason(base: Path, content: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read(content)
    assert message in str(caught.value)


def test_a_grid_that_explodes_asks_before_it_is_expanded(base: Path, capsys: pytest.CaptureFixture[str]) -> None:
    values = list(range(60, 1060))
    with pytest.raises(UsageError, match="1000000 configurations"):
        read(f"allow_two = true\n[grid]\nchunking.chunk_size = {values}\nretrieval.top_k = {values}\n")
    assert run(["sweep", "s.toml"]) == 2
    assert capsys.readouterr().err == "1000000 configurations: say --yes if you mean it\n"


@pytest.mark.parametrize("path", sorted(ROOT.glob("eval/sweeps/*.toml")), ids=lambda path: path.stem)
def test_the_committed_sweeps_can_be_read_and_are_planned(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ragkit.comparison import read_policy

    monkeypatch.chdir(ROOT)
    sweep = read_sweep(path, lambda count: pytest.fail(f"{count} configurations"))
    assert len(sweep.variables) == 1
    assert sweep.name == path.stem
    assert sweep.name in read_policy(Path("eval/policy.toml")).family
