"""A page shows what ships only while a few questions, asked again, get the same."""

import shutil

import helpers
import pandas as pd
import pytest

from lkecore import answers
from lkecore.answers import again
from lkecore.errors import BadInput
from lkecore.models.model import open_model
from lkecore.scores import tree

NAME = "10_iclke_relations"
FEW = {
    "models": ["toy"], "relations": ["capital", "film_year", "official_language"], "n_shots": 4,
    "n_options": 6, "n_facts": 5, "n_choice": 2, "n_redraw_facts": 3,
}  # fmt: skip


def page(place, monkeypatch, **given) -> dict:
    """The names of page 10 after its cells, run in a folder."""
    place.mkdir(exist_ok=True)
    monkeypatch.setenv("LKE_RUN", str(place))
    return helpers.page(NAME, **FEW, **given)


def test_a_page_over_results_says_the_same_and_stops_where_a_scorer_reads_the_next_token(
    tmp_path, monkeypatch
):
    live = page(tmp_path / "long-run", monkeypatch)
    monkeypatch.setitem(answers.results.__globals__, "FOLDER", tmp_path)
    how = {"models": {"toy": open_model("toy").digest}, "parameters": {"n_redraws": 1}}
    helpers.ship_run(tmp_path, tmp_path / "long-run", NAME, **how)
    file = tmp_path / f"{NAME}.parquet"
    assert "margin" not in pd.read_parquet(file)
    over = {"sources": ["long"]}
    found = page(tmp_path / "short-run", monkeypatch, **over)
    assert len(found["ours"]) < len(live["ours"]) == len(found["every"])
    pd.testing.assert_frame_equal(
        found["accuracy"].drop(columns="source"), live["accuracy"].drop(columns="source"), rtol=2e-4
    )
    kept = pd.read_csv(tmp_path / "short-run" / f"again-{NAME}.csv")
    assert kept["asked"].sum() == kept["same"].sum() == len(found["ours"])
    assert kept["nats"].max() < again.MOST_NATS

    # In a cache of its own, or the right scores of before would be found there.
    models = tmp_path / "cache" / "models"
    shutil.copytree(open_model("toy").path, models / open_model("toy").path.name)
    monkeypatch.setenv("LKECORE_CACHE", str(models.parent))
    true = tree.token_logprobs
    with monkeypatch.context() as patch:
        patch.setattr(
            tree, "token_logprobs", lambda logits, row, ids: true(logits, row, [i - 1 for i in ids])
        )
        answers.opened.cache_clear()
        with pytest.raises(BadInput, match="answers that were asked again differ"):
            page(tmp_path / "short-run", monkeypatch, **over)
    answers.opened.cache_clear()


def test_a_source_that_no_results_have_is_named_with_the_nearest(monkeypatch):
    with pytest.raises(BadInput, match=r"^sources: no results are of 'atlsa'; .*atlas"):
        answers.shown(NAME, pd.DataFrame({"model": []}), ["atlsa"])
    with pytest.raises(BadInput, match=r"10_iclke_relations.parquet has none of entropy_rank"):
        answers.shown(NAME, pd.DataFrame({"model": []}), ["entropy_rank"])
    ours = pd.DataFrame({"model": ["toy"]})
    found, main = answers.shown("anything", ours, [])
    assert main == "this run" and found["source"].tolist() == ["this run"]
