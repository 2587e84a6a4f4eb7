"""The door for long sequences: a row for each pair that the scorer gives."""

import pandas as pd
import pytest

from lkecore import answers, facts
from lkecore.errors import BadInput
from lkecore.models import open_model
from lkecore.prompts import many_shot, probes
from lkecore.scores.plain import option_logprobs_plain
from lkecore.scores.tokens import encode


def made(n_draws=2, **more):
    known = facts.load("atlas", "capital").facts
    how = {"n_pairs": 10, "share_replaced": 0.2, "n_first": 2, "n_behind": 2, "seed": 3} | more
    return probes.draw_probes(known, known, "word", n_draws=n_draws, **how)


def test_the_door_gives_a_row_for_each_pair_that_the_scorer_gives(tmp_path, monkeypatch):
    monkeypatch.setenv("LKE_RUN", str(tmp_path))
    drawn = made()
    frame = answers.ask_pairs(
        {"toy": {"capital": drawn}}, ["iclke-space", "iclke-colon"], "answers.parquet"
    )
    assert list(drawn) == [3, 4] and len(frame) == 2 * 2 * 5 * 10
    kept = pd.read_parquet(tmp_path / "answers.parquet")
    pd.testing.assert_frame_equal(kept, frame, check_dtype=False)
    # The first object after nothing but its own subject, scored as an option alone.
    first = drawn[4][0].pairs[0]
    [colon] = frame[
        (frame["draw"] == 4)
        & (frame["estimator"] == "iclke-colon")
        & (frame["kind"] == "clean")
        & (frame["position"] == 1)
    ].itertuples()
    one = many_shot([], [first], [(first.object, "Rome")], pair_separator=": ")
    lm = open_model("toy")
    [encoded] = encode(lm.tokenizer, one, front=lm.front)
    by_plain = option_logprobs_plain(lm.network, encoded)[0]
    assert colon.logprob == pytest.approx(by_plain, abs=1e-4)


def test_what_cannot_be_asked_is_refused_before_a_model_is_opened():
    with pytest.raises(BadInput, match="estimators: 'tab' writes no sequence"):
        answers.ask_pairs({"lab:none": {"capital": made()}}, ["tab"], "answers.parquet")
    with pytest.raises(BadInput, match="nothing is asked"):
        answers.ask_pairs({}, ["iclke-space"], "answers.parquet")
    with pytest.raises(BadInput, match="n_first is 6: at most half of 10 pairs"):
        made(n_first=6)
    with pytest.raises(BadInput, match="n_draws is 0"):
        made(n_draws=0)
