"""EIC-LKE's slots (IC-S2): each option as one plain forward pass over its own prompt says it."""

import helpers
import pandas as pd
import pytest
from helpers import model, network
from test_scores_tokens import metaspace_bpe

from lkecore.errors import BadInput
from lkecore.facts.fact import Fact
from lkecore.prompts.eiclke import slots
from lkecore.scores.slots import encode_slots, slot_logprobs

NATS = 1e-4  # float32, the same sums in another order
SHOTS = [Fact(s, "r", s, o) for s, o in [("Ita", "Rome"), ("Fra", "Paris"), ("Spa", "Madrid")]]
SHOTS += [Fact(s, "r", s, o) for s, o in [("Ken", "Nairobi"), ("Nor", "Oslo"), ("Per", "Lima")]]
ASKED = [Fact(s, "r", s, o) for s, o in [("Cub", "Havana"), ("Egy", "Cairo"), ("Lao", "Rx")]]
OPTIONS = [("Havana", "Rx", "Cairo"), ("Hav", "Cairo", "Ro"), ("Ro", "Rome", "Rx")]


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))


def made(**changes):
    # "_" is a letter of the toy alphabet, in the place of the spaces.
    given = {"first": 2, "every": 2, "pair_separator": "_", "shot_separator": "_", **changes}
    return slots(SHOTS, ASKED, OPTIONS, **given)


def by_hand(m, groups) -> dict[tuple[str, str], float]:
    """One plain forward pass for each prompt; the pieces tokenised one by one."""
    found = {}
    for group in groups:
        for k, text in enumerate(group.texts):
            rows = [m.tokenizer(piece, add_special_tokens=False)["input_ids"] for piece in text]
            ids = list(m.front) + [i for row in rows for i in row]
            logprob = helpers.plain_logprobs(m.network, ids)
            for place, order, asked in zip(group.places, group.orders, group.asked, strict=True):
                begin = len(m.front) + sum(len(row) for row in rows[:place])
                own = range(begin, begin + len(rows[place]))
                key = asked.fact, asked.options[order[k]]
                assert key not in found
                found[key] = sum(logprob[i - 1, ids[i]] for i in own)
    return found


@pytest.mark.parametrize(
    ("kind", "add_bos"), [("Llama", True), ("BLOOM", True), ("Mamba", True), ("Llama", False)]
)
def test_slots_are_what_plain_forward_passes_say(kind, add_bos):
    m = model(network(kind), add_bos=add_bos)
    groups = made()
    assert [len(group.places) for group in groups] == [2, 1]
    scored = slot_logprobs(m, groups)
    expected = by_hand(m, groups)
    assert len(scored.frame) == len(expected) == 9
    for row in scored.frame.itertuples():
        assert row.logprob == pytest.approx(expected[row.fact, row.option], abs=NATS)
        assert row.n_tokens == len(row.option)  # letters


def test_pieces_are_tokenised_apart_and_not_as_one_text():
    # As one text, the end of a subject and the separator would be one token.
    tokenizer = helpers.bpe_tokenizer([("a", "_"), ("_", "R"), ("b", "_")])
    m = model(network(), tokenizer=tokenizer)
    groups = made()
    whole = tokenizer("".join(groups[0].texts[0]))["input_ids"]
    apart = [i for piece in groups[0].texts[0] for i in tokenizer(piece)["input_ids"]]
    assert whole != apart
    expected = by_hand(m, groups)
    for row in slot_logprobs(m, groups).frame.itertuples():
        assert row.logprob == pytest.approx(expected[row.fact, row.option], abs=NATS)


def test_a_space_token_has_an_id_of_its_own_between_subject_and_object():
    tokenizer = metaspace_bpe()
    m = model(network(), tokenizer=tokenizer)
    # Llama's tokenizer writes a space in front of every piece, so that it comes twice.
    cuts = ["▁Par", "is"], ["▁", "▁Par", "is"]
    shots = [Fact(s, "r", s, o) for s, o in [("Italy", "Rome"), ("Spain", "Madrid")]]
    asked = [Fact("France", "r", "France", "Paris")]
    for space_token, expected in zip((False, True), cuts, strict=True):
        [group] = slots(shots, asked, [("Paris", "Rome")], first=1, space_token=space_token)
        row = encode_slots(m, group)[group.orders[0].index(0)]  # the prompt that holds Paris
        text = ["Italy", " Rome", ", France", " Paris", ", Spain", " Madrid"]
        if space_token:
            text = ["Italy", " ", "Rome", ", France", " ", "Paris", ", Spain", " ", "Madrid"]
        by_piece = [tokenizer(piece, add_special_tokens=False)["input_ids"] for piece in text]
        assert list(row.ids) == [token for ids in by_piece for token in ids]
        [place] = group.places
        start, end = row.bounds[place - space_token], row.bounds[place + 1]
        assert tokenizer.convert_ids_to_tokens(row.ids[start:end]) == expected
        # What is scored is the name alone: the space stands before it, as context.
        own = row.ids[row.bounds[place] : end]
        assert tokenizer.convert_ids_to_tokens(own) == expected[space_token:]


def test_a_group_that_is_kept_is_not_asked_again():
    groups = made()
    slot_logprobs(model(network()), groups[:1])
    both = slot_logprobs(model(network()), groups)
    whole = slot_logprobs(model(network()), groups, use_cache=False)
    assert 0 < both.tokens_forwarded < whole.tokens_forwarded
    again = slot_logprobs(model(), groups)  # no network: it would be an error
    pd.testing.assert_frame_equal(again.frame, both.frame, check_exact=True)
    assert again.cached and again.tokens_forwarded == 0


# Letters up to the longest option of each slot but its last: "Ita_Rome_Fra_Paris_" has 19,
# "Cub_Havana" 10, "_Spa_Madrid_Ken_Nairobi_" 24 (the option before it may be a letter shorter, and
# is the longest one in some prompt), and "Egy_Cairo" 9.
@pytest.mark.parametrize(("window", "fit"), [(27, 0), (28, 1)])
def test_a_prompt_beyond_the_window_says_how_many_slots_fit(window, fit):
    options = [("Havana", "Cairox", "Rotter"), ("Cairo", "Havan", "Rotte")]
    groups = slots(
        SHOTS, ASKED[:2], options, first=2, every=2, pair_separator="_", shot_separator="_"
    )
    message = (
        "^EIC-LKE's prompts of relation r have up to 61 tokens, and the context of model toy model "
        f"has {window}: {fit} of 2 slots fit; take fewer shots$"
    )
    with pytest.raises(BadInput, match=message):
        slot_logprobs(model(context_length=window), groups)  # no network: it would be an error
    # What stands behind the last slot may lie beyond the window: no model reads it.
    assert len(slot_logprobs(model(network(), context_length=61), groups).frame) == 6


def test_an_option_with_the_tokens_of_another_is_asked_and_has_no_row(capsys):
    lower = helpers.folding(helpers.bpe_tokenizer([]))
    options = [("HAVANA", "Havana", "Cairo"), ("Rome", "Cairo", "ROME"), OPTIONS[2]]
    groups = slots(SHOTS, ASKED, options, first=2, every=2, pair_separator="_", shot_separator="_")
    m = model(network(), tokenizer=lower)
    wanted = by_hand(m, groups)
    for cached in (False, True):
        scored = slot_logprobs(m, groups)
        rows = scored.frame.set_index(["subject", "option"])["logprob"]
        own = [("Cub", "Havana"), ("Cub", "Cairo"), ("Egy", "Rome"), ("Egy", "Cairo")]
        assert list(rows.index) == [*own, *(("Lao", name) for name in OPTIONS[2])]
        assert rows.to_dict() == pytest.approx({key: wanted[key] for key in rows.index}, abs=NATS)
        assert (scored.left_out, scored.cached) == (2, cached)
        assert "left out, 2 of 9, such as 'HAVANA' of fact" in capsys.readouterr().err
