"""The chapter on entropy and KL by the paper's own kinds of model: each page, from saved folders."""

import json
import shutil

import helpers
import pytest

from lkecore.models import weights

KINDS = ("BERT", "T5")
MOST = {"BERT": {"max_position_embeddings": 256}, "T5": {}}
# They read letters, with which many objects begin.
SOME = {"relations": ["capital", "currency", "official_language"], "any_object": True}


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """A random masked and a random encoder-decoder model, saved as those of the hub are."""
    found = []
    for kind in KINDS:
        folder = tmp_path_factory.mktemp(kind)
        for part in helpers.blank_filler(kind, **MOST[kind]):
            part.save_pretrained(folder)
        found.append(str(folder))
    return found


def test_a_causal_model_of_a_folder_is_told(tmp_path):
    folder = str(tmp_path / "causal")
    shutil.copytree(weights.locate("toy"), folder)
    found = helpers.page("20_entropy_rank", models=[folder], n_facts=5, **SOME)
    assert {key[0] for key in found["questions"]} == {"causal"}
    assert set(found["rows"]["model"]) == {folder} and (found["rows"]["KL"] > 0).all()


def test_less_and_less_is_taught_of_real_facts_with_templates_of_a_file(folders, tmp_path):
    objects = list(zip("uvwxyz", "Paris Rome Madrid France Italy Spain".split(), strict=True))
    pairs = [(f"{a}{b}", name) for a in "abcdefgh" for b, name in objects]  # one token each
    for name in ("P1", "P2", "P3"):
        (tmp_path / "set" / name).mkdir(parents=True)
        rows = [json.dumps({"sub_label": x, "obj_label": y}) for x, y in pairs]
        (tmp_path / "set" / name / "test.jsonl").write_text("\n".join(rows), encoding="utf-8")
    table = tmp_path / "templates.tsv"
    words = {
        "P1": "[X] is a capital of [Y] .",
        "P2": "[X] is [Y] .",  # too short to take words away
        "P3": "[X] is in the [Y] region .",  # no causal model is asked, so that this may be
    }
    rows = ["relation\tsource\ttemplate", *(f"{n}\tlama\t{w}" for n, w in words.items())]
    table.write_text("\n".join(rows), encoding="utf-8")
    given = {"fact_set": str(tmp_path / "set"), "templates": str(table), "relations": list(words)}
    given |= {"n_facts": 30, "n_groups": 2, "passes": 1, "rate": 0.05}
    found = helpers.page("21_entropy_accuracy", models=folders, **given)
    assert found["left_out"].keys() == {"P2"} and "has 1 words" in found["left_out"]["P2"]
    assert set(found["ours"]["model"]) == set(folders)
    assert set(found["ours"]["relation"]) == {"P1", "P3"}
    assert len(found["ours"]) == 2 * 2 * 2 * 2 * 5
    before, after = (found["ours"].query("when == @when") for when in ("before", "after"))
    assert before["rank"].gt(10).all()  # none of them is known
    for _, of in before.groupby(["model", "relation", "group"]):
        assert sorted(of["level"]) == [0, 1, 2, 3, 4]
    key = ["model", "relation", "fact"]
    assert not before.duplicated(key).any()
    assert after[[*key, "level"]].to_numpy().tolist() == before[[*key, "level"]].to_numpy().tolist()
    at = [*key, "level"]
    gain = before.set_index(at)["surprisal"] - after.set_index(at)["surprisal"]
    assert gain.groupby("level").mean()[0] > 0.5  # taught with all words
    # The paper's own example, and words on both sides of the subject.
    for whole, *fewer in (
        ("[X] is married to [Y]", "[X] married to [Y]", "[X] to [Y]", "[X] [Y]"),
        ("The town of [X] is [Y].", "town of [X] is [Y].", "[X] is [Y].", "[X] [Y]."),
    ):
        assert [found["shortened"](whole, n / 3) for n in (1, 2, 3)] == fewer
