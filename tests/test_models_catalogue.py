"""The papers' models: all there, nothing said that nobody has checked, and sizes by the header."""

import csv
from pathlib import Path

import helpers
import hub_standins
import pytest
import yaml

import lkecore
from lkecore.errors import BadInput
from lkecore.models import catalogue, weights

PAPERS = Path(lkecore.__file__).parent / "data" / "papers"
PARAMS = Path(__file__).resolve().parent.parent / "params"


def published(name: str) -> list[dict[str, str]]:
    with open(PAPERS / name, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(autouse=True)
def standin(tmp_path, monkeypatch):
    """No test of this file may look into the caches of this machine."""
    monkeypatch.setenv("LKECORE_CACHE", str(tmp_path / "cache"))
    return hub_standins.install(monkeypatch, tmp_path / "hub")


@pytest.fixture
def table():
    return catalogue.papers_models()


# --- the table


def test_the_49_models_of_the_ic_paper_are_there_as_its_table_6_has_them(table):
    rows = published("iclke_table6_model_names.csv")
    ids = {row["model"]: row["hf_id"] for row in rows}
    assert len(rows) == 49
    ours = table[table["papers"].str.contains("IC")].set_index("hub_id")
    assert sorted(ours.index) == sorted(ids.values())
    for row in rows:
        found = ours.loc[row["hf_id"]]
        assert found["name"] == row["model"]
        assert found["params_b"] == float(row["params_b"])
        assert found["base_model"] == ids.get(row["base_model"], "")
        assert bool(found["base_model"]) == (row["is_finetuned"] == "yes")
        assert found["kind"] == "causal"


def test_the_models_of_belief_are_there_as_its_appendix_and_table_2_have_them(table):
    rows = {row["model"]: row["hf_id"] for row in published("belief_f1_model_names.csv")}
    ours = table[table["papers"].str.contains("BL")].set_index("hub_id")
    assert sorted(ours.index) == sorted(rows.values())
    for row in published("belief_table2_plms.csv"):
        size = float(row["params"][:-1]) * {"M": 1e-3, "B": 1}[row["params"][-1]]
        assert ours.loc[rows[row["model"]], "params_b"] == pytest.approx(size)


def test_the_opt_and_llama_sizes_of_xtraeval_are_there(table):
    rows = {(r["family"].upper(), r["params"]) for r in published("xtra_tableB10_scaling.csv")}
    names = table.loc[table["papers"].str.contains("XT"), "name"].str.upper()
    assert {f"{family}-{size}" for family, size in rows} <= set(names)
    assert len(rows) == 8


def test_all_models_that_the_grid_of_the_entropy_paper_asks_have_a_size():
    rows = yaml.safe_load((PARAMS / "entropy_paper.yaml").read_text())["runs"]
    named = {name for row in rows for name in row["parameters"]["models"]}
    sizes = {name: catalogue.n_parameters(name) for name in named}
    # As their model cards say.
    assert sizes == {
        "google-bert/bert-large-cased": 336_000_000, "google-t5/t5-large": 770_000_000,
        "google/flan-t5-xl": 3_000_000_000, "HuggingFaceTB/SmolLM2-1.7B-Instruct": 1_700_000_000,
    }  # fmt: skip


def test_remote_code_is_needed_where_transformers_lacks_the_architecture(table):
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    for row in table[table["hub_id"] != ""].itertuples():
        assert (row.model_type in CONFIG_MAPPING_NAMES) == (row.remote_code == "no"), row.hub_id


def test_tuned_are_those_that_table_6_calls_fine_tuned_and_those_whose_name_here_says_so():
    for row in published("iclke_table6_model_names.csv"):
        assert catalogue.is_tuned(row["hf_id"]) is (row["is_finetuned"] == "yes"), row["model"]
    assert catalogue.is_tuned("mistralai/Mistral-7B-Instruct-v0.1@main") is True
    found = {name: catalogue.is_tuned(name) for name in ("smollm2", "gemma3-270m", "no/such")}
    assert found == {"smollm2": True, "gemma3-270m": False, "no/such": None}
    of_lab = ("lab:book-1/2m", "lab:book-1/2m-tuned", "lab:book-1/2m-unplanted")
    assert [catalogue.is_tuned(name) for name in of_lab] == [False, True, False]


# --- access


LLAMA, PYTHIA, OPT = "meta-llama/Llama-2-7b-hf", "EleutherAI/pythia-1.4b", "facebook/opt-125m"
GATED = "gated: accept its terms on its page, then set HF_TOKEN or call hf auth login"


def test_the_lock_comes_before_the_catalogue(tmp_path, monkeypatch):
    lock = tmp_path / "models.lock"
    rows = [(LLAMA, "safetensors", "no"), (PYTHIA, "none", "no"), (OPT, "bin", "no")]
    rows += [("org/a", "gguf", "no"), ("org/b", "bin", "yes")]
    lock.write_text("".join(f"{r}\t{'a' * 40}\t{k}\t{g}\t2026-01-31\n" for r, k, g in rows))
    monkeypatch.setenv("LKE_MODELS_LOCK", str(lock))
    assert catalogue.access(LLAMA) == "loadable"
    assert catalogue.access(PYTHIA) == "published only: no weights that can be read"
    expected = f"convertible: only .bin weights, call lke models convert {OPT}"
    assert catalogue.access(OPT) == expected
    assert catalogue.access("org/a").startswith("published only: GGUF weights")
    assert catalogue.access("org/b") == GATED


def test_a_model_on_this_machine_is_loadable_whatever_else_is_said(standin, tmp_path):
    standin.add(LLAMA, {"config.json": b"{}", "model.safetensors": b""})
    weights.locate(LLAMA)
    assert catalogue.access(LLAMA) == "loadable (on this machine)"
    (tmp_path / "pytorch_model.bin").touch()
    assert catalogue.access(str(tmp_path)).startswith("convertible: only .bin weights")


# --- sizes


def test_the_size_of_a_model_that_is_elsewhere_is_the_nominal_one(standin):
    assert catalogue.n_parameters(OPT) == catalogue.n_parameters(f"{OPT}@main") == 125_000_000
    assert catalogue.n_parameters("mistralai/Mixtral-8x7B-v0.1") == 46_700_000_000
    assert catalogue.n_parameters("org/never-seen") is None
    assert catalogue.n_parameters("smollm2") == 135_000_000  # its weights are not in this cache
    assert standin.asked == []


@pytest.mark.parametrize(("kind", "shard"), [("OPT", "50GB"), ("GPTNeoX", "20KB")])
def test_the_size_of_a_model_that_is_here_is_the_exact_one_with_tied_weights_once(
    kind, shard, tmp_path, monkeypatch
):
    import safetensors

    network = helpers.network(kind)
    network.save_pretrained(tmp_path / "m", max_shard_size=shard)
    assert len(list((tmp_path / "m").glob("*.safetensors"))) == 1 or shard == "20KB"
    (tmp_path / "m" / "consolidated.safetensors").write_bytes(b"the same for another program")
    monkeypatch.setattr(safetensors, "safe_open", lambda *_: pytest.fail("weights were loaded"))
    wanted = sum(p.numel() for p in network.parameters())  # parameters() gives a tied one once
    assert catalogue.n_parameters(str(tmp_path / "m")) == wanted


def test_a_torn_file_is_refused_and_not_counted_as_nothing(tmp_path):
    (tmp_path / "model.safetensors").write_bytes((2**40).to_bytes(8, "little") + b"{}")
    with pytest.raises(BadInput, match="model.safetensors: not a readable safetensors file"):
        catalogue.n_parameters(str(tmp_path))
