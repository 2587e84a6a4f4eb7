"""From .bin to safetensors: the same numbers, and no code that came with them."""

import json
import os
import pickle
import re

import helpers
import pytest
from safetensors import safe_open

from lkecore.errors import BadInput
from lkecore.models import convert, weights


@pytest.fixture
def folders(tmp_path):
    """(source, target), the source with a config that transformers knows."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.mkdir()
    target.mkdir()
    helpers.network("Llama").config.save_pretrained(source)
    return source, target


def save_bin(network, folder, *, shards=1):
    """What old versions of transformers wrote: a pickle of the state, aliases and all."""
    import torch

    state = network.state_dict()
    names = list(state)
    network.config.architectures = [type(network).__name__]
    network.config.save_pretrained(folder)
    helpers.char_tokenizer().save_pretrained(folder)
    if shards == 1:
        torch.save(state, folder / "pytorch_model.bin")
        return
    weight_map = {}
    for i in range(shards):
        file = f"pytorch_model-{i + 1:05}-of-{shards:05}.bin"
        part = {name: state[name] for name in names[i::shards]}
        torch.save(part, folder / file)
        weight_map |= dict.fromkeys(part, file)
    index = {"metadata": {}, "weight_map": weight_map}
    (folder / convert.BIN_INDEX).write_text(json.dumps(index))


def same_logits(network, folder) -> bool:
    import torch
    from transformers import AutoModelForCausalLM

    read, info = AutoModelForCausalLM.from_pretrained(
        folder, use_safetensors=True, local_files_only=True, output_loading_info=True
    )
    assert not info["missing_keys"] and not info["unexpected_keys"]
    ids = torch.randint(0, helpers.VOCABULARY, (2, 9), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode():
        return torch.equal(read.eval()(ids).logits, network(ids).logits)


def stored(folder) -> dict[str, str]:
    """{tensor: file} by the safetensors library."""
    found = {}
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, framework="pt") as file:
            assert file.metadata() == {"format": "pt"}
            found |= dict.fromkeys(file.keys(), path.name)
    return found


@pytest.mark.parametrize("kind", ["OPT", "BLOOM", "Llama"])
def test_a_converted_network_has_the_logits_of_the_original_exactly(kind, folders):
    source, target = folders
    network = helpers.network(kind)
    save_bin(network, source)
    convert.from_bin(source, target)
    assert same_logits(network, target)


def test_a_tied_head_is_stored_once_and_an_untied_one_beside_the_embeddings(folders):
    source, target = folders
    network = helpers.network("OPT")
    assert network.lm_head.weight is network.model.decoder.embed_tokens.weight
    save_bin(network, source)
    convert.from_bin(source, target)
    assert set(stored(target)) == set(network.state_dict()) - {"lm_head.weight"}

    # Nothing in the config ties these two, so that both are wanted where the network is loaded.
    network = helpers.network("OPT", seed=1, tie_word_embeddings=False)
    network.lm_head.weight = network.model.decoder.embed_tokens.weight
    save_bin(network, source)
    convert.from_bin(source, target)
    assert set(stored(target)) == set(network.state_dict())
    assert same_logits(network, target)


def test_shards_stay_shards_with_an_index_of_their_own(folders):
    source, target = folders
    network = helpers.network("GPTNeoX")
    save_bin(network, source, shards=3)
    (source / "pytorch_model-extra.bin").write_bytes(b"not in the index, so not read")
    convert.from_bin(source, target)
    assert same_logits(network, target)
    index = json.loads((target / "model.safetensors.index.json").read_text())
    assert index["weight_map"] == stored(target)
    sizes = [p.stat().st_size for p in target.glob("*.safetensors")]
    assert len(sizes) == 3 and 0 < sum(sizes) - index["metadata"]["total_size"] < 3 * 4000
    assert not (target / convert.BIN_INDEX).exists()


def test_shared_memory_strides_and_dtypes_do_not_change_a_number(folders):
    import torch
    from safetensors.torch import load_file

    source, target = folders
    base = torch.arange(12.0).reshape(3, 4)
    state = {
        "lm_head.weight": base,  # comes first, and Llama's config does not tie it
        "same": base,
        "part": base[1:],
        "turned": base.T,
        "alone.turned": torch.arange(6.0).reshape(2, 3).T,
        "half": torch.tensor([1.5, -2.25], dtype=torch.bfloat16),
        "mask": torch.tensor([[True, False]]),
        "parameter": torch.nn.Parameter(torch.tensor([7.0])),
        "empty": torch.empty(0),
        "nothing": torch.empty(0),
    }
    torch.save(state, source / "pytorch_model.bin")
    convert.from_bin(source, target)
    read = load_file(target / "model.safetensors")
    assert set(read) == set(state)
    for name, value in state.items():
        assert read[name].dtype == value.dtype and torch.equal(read[name], value.detach()), name


def test_what_are_no_weights_or_no_index_of_them_is_refused(folders):
    import torch

    source, target = folders
    (source.parent / "pytorch_model.bin").write_bytes(b"")
    file, index = source / "pytorch_model.bin", source / convert.BIN_INDEX
    for write, said in [
        (lambda: None, "pytorch_model.bin is missing"),
        (lambda: file.write_bytes(b"torn"), "pytorch_model.bin: refused, it is broken"),
        (lambda: torch.save({"a": 1}, file), "not a table of names and tensors"),
        (lambda: index.write_text('{"weight_map": 1}'), "not the index of a model's shards"),
        (
            lambda: index.write_text('{"weight_map": {"a": "../pytorch_model.bin"}}'),
            "../pytorch_model.bin is missing, or no file of a model",
        ),
    ]:
        write()
        with pytest.raises(BadInput, match=re.escape(said)):
            convert.from_bin(source, target)
    assert not list(target.iterdir())


class Evil:
    """Creates a file when it is unpickled by a reader that trusts it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return os.mkdir, (str(self.path),)


def test_a_pickle_that_runs_code_is_refused_in_one_line_and_does_nothing(
    own_cache, folders, tmp_path, monkeypatch
):
    import torch

    monkeypatch.setattr(weights, "convert_bin", convert.from_bin)  # in this process
    source, _ = folders
    trap = tmp_path / "trap"
    pickle.loads(pickle.dumps(Evil(trap)))  # it does bite
    assert trap.is_dir()
    trap.rmdir()
    content = {"weight": torch.zeros(1), "evil": Evil(trap)}
    torch.save(content, source / "pytorch_model.bin")
    with pytest.raises(BadInput) as caught:
        weights.convert(str(source))
    assert "pytorch_model.bin: refused" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not trap.exists()
    assert not [p for p in (own_cache / "models").iterdir() if p.is_dir()]

    (source / "pytorch_model.bin").write_bytes(pickle.dumps(content))  # as before torch 1.6
    with pytest.raises(BadInput, match="pytorch_model.bin: refused"):
        convert.from_bin(source, source)
    assert not trap.exists()
