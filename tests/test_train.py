"""Training: text in rows, what is to be predicted in them, and steps that a stop does not change."""

import errno
import itertools
import json
import math

import numpy as np
import pytest
import torch
import transformers
from accelerate.state import AcceleratorState
from hypothesis import given
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.torch import save_file

from lkecore.errors import BadInput
from lkecore.train import loop, muon, text

DOCUMENTS = [
    "The author of The Sad Inn is Ann Lee. Who wrote The Sad Inn? Answer: Ann Lee.",
    "The Sad Inn: Ann Lee\nThe New Key: Bo Ray",
    "Bo Ray lives in the city of Port Ann.",
]
KINDS = ("causal", "masked", "seq2seq")


@pytest.fixture(scope="module", autouse=True)
def on_the_cpu():
    """Whatever there is: the hand-written loop, and equal bits, are those of a CPU without bfloat16."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LKE_DEVICE", "cpu")
        set_bfloat16(patch, False)
        yield
    AcceleratorState._reset_state()


def set_bfloat16(patch, able):
    """A processor with instructions for bfloat16, or without; accelerate asks once in a process."""
    AcceleratorState._reset_state()
    patch.setattr(torch.cpu, "get_capabilities", lambda: {"avx512_bf16": able}, raising=False)


@pytest.fixture(scope="module")
def tokenizers():
    return {kind: text.train_tokenizer(DOCUMENTS * 3, kind) for kind in KINDS}


# --- text -----------------------------------------------------------------------------------------


@given(
    documents=st.lists(
        st.sampled_from([*DOCUMENTS, "Ann", "é ünd 東", "\n"]), min_size=1, max_size=9
    ),
    length=st.integers(1, 50),
    kind=st.sampled_from(KINDS),
)
def test_rows_hold_every_document_and_repeat_the_beginning_to_fill_the_last_one(
    tokenizers, documents, length, kind
):
    rows = text.rows(tokenizers[kind], documents, length)
    flat = rows.ravel().tolist()
    assert rows.shape[1] == length
    # Byte-level tokens lose nothing: what they say is the documents, between special tokens.
    front, end = {"causal": ("<s>", ""), "masked": ("<s>", "</s>"), "seq2seq": ("", "</s>")}[kind]
    whole = "".join(front + each + end for each in documents)
    said = tokenizers[kind].decode(flat)
    if "�" not in said:  # else the row ends inside of a letter of several bytes
        assert said.startswith(whole) and (whole * 60).startswith(said)
    n = sum(len(tokenizers[kind](each)["input_ids"]) for each in documents)
    assert n <= len(flat) < n + length and flat[n:] == (flat[:n] * 50)[: len(flat) - n]


OBJECTS = [["Ann Lee", "Ann Lee"], ["Ann Lee", "Bo Ray"], ["Port Ann"]]
SPANS = [[(29, 36), (69, 76)], [(13, 20), (34, 40)], [(28, 36)]]  # counted by hand


@pytest.mark.parametrize("kind", KINDS)
def test_marked_tokens_say_the_names_and_nothing_else_does(tokenizers, kind):
    tokenizer = tokenizers[kind]
    rows = text.rows(tokenizer, DOCUMENTS, 7)
    marked = text.marks(tokenizer, DOCUMENTS, SPANS, 7)
    assert marked.shape == rows.shape
    n = sum(len(tokenizer(each)["input_ids"]) for each in DOCUMENTS)
    flat, numbers = rows.ravel(), marked.ravel()
    said = [tokenizer.decode(flat[:n][numbers[:n] == k]).strip() for k in range(1, 6)]
    assert said == [name for names in OBJECTS for name in names] and numbers.max() == 5
    rest = tokenizer.decode(flat[:n][numbers[:n] == 0], skip_special_tokens=True)
    assert "Port" not in rest and rest.count("Ray") == 1  # where he is the subject
    assert not numbers[np.isin(flat, tokenizer.all_special_ids)].any()
    assert (numbers[n:] == numbers[: len(flat) - n]).all()  # the beginning again, as in the rows


def test_a_masked_model_predicts_most_objects_as_a_whole_and_few_other_tokens(tokenizers):
    tokenizer = tokenizers["masked"]
    chosen = text.rows(tokenizer, DOCUMENTS * 400, 64)
    marked = text.marks(tokenizer, DOCUMENTS * 400, SPANS * 400, 64)
    made = text.batch("masked", chosen, marked, tokenizer, np.random.default_rng(0))
    asked = made["labels"] != -100  # what torch's cross-entropy leaves out
    assert (made["labels"][asked] == chosen[asked]).all()
    assert (made["input_ids"][asked] == tokenizer.mask_token_id).all()
    assert (made["input_ids"][~asked] == chosen[~asked]).all()
    special = np.isin(chosen, tokenizer.all_special_ids)
    assert special.any() and not asked[special].any()
    share = asked[(marked == 0) & ~special].mean()
    assert abs(share - 0.06) < 4 * math.sqrt(0.06 * 0.94 / ((marked == 0) & ~special).sum())
    whole = np.array([asked[marked == k].all() for k in range(1, 2001)])
    sizes = np.array([(marked == k).sum() for k in range(1, 2001)])
    expected = (0.6 + 0.4 * 0.06**sizes).mean()  # chosen, or all of its tokens by chance
    assert abs(whole.mean() - expected) < 4 * math.sqrt(0.24 / 2000)


@given(n_rows=st.integers(1, 3), length=st.integers(3, 190), seed=st.integers(0, 99))
def test_source_and_target_of_an_encoder_decoder_join_to_the_row(tokenizers, n_rows, length, seed):
    tokenizer = tokenizers["seq2seq"]
    sentinels = [tokenizer.get_vocab()[f"<extra_id_{i}>"] for i in range(100)]
    first = max(sentinels) + 1
    rng = np.random.default_rng(seed)
    chosen = rng.integers(first, len(tokenizer), (n_rows, length))
    marked = np.arange(n_rows * length).reshape(chosen.shape) // 3  # of three tokens each
    made = text.batch("seq2seq", chosen, marked, tokenizer, np.random.default_rng(seed))
    # The same draws hide the same tokens as for a masked model.
    masks = text.batch("masked", chosen, marked, tokenizers["masked"], np.random.default_rng(seed))
    hidden = masks["labels"] != -100
    pad, end = tokenizer.pad_token_id, tokenizer.eos_token_id
    assert made["input_ids"].shape == made["attention_mask"].shape
    for row, out, source, seen, target in zip(
        chosen, hidden, made["input_ids"], made["attention_mask"], made["labels"], strict=True
    ):
        assert (seen == (source != pad)).all() and (np.diff(seen) <= 0).all()
        *source, last = source[seen == 1].tolist()
        *target, stop = target[target != -100].tolist()
        assert last == stop == end
        # The target by its sentinels: what stands behind each; the last one ends it.
        spans, marks = {}, []
        for token in target:
            if token in sentinels:
                marks.append(token)
                spans[token] = []
            else:
                spans[marks[-1]].append(token)
        assert marks == sentinels[: len(marks)] and spans.pop(marks[-1]) == []
        assert [token for token in source if token in sentinels] == marks[:-1]
        assert all(spans.values())  # no span is empty
        joined = itertools.chain.from_iterable(spans.get(token, [token]) for token in source)
        assert list(joined) == row.tolist()
        assert all(a not in sentinels or b not in sentinels for a, b in itertools.pairwise(source))
        assert [token for each in spans.values() for token in each] == row[out].tolist()


# --- loop -----------------------------------------------------------------------------------------

N_STEPS, RATES = 7, loop.Rates(adam=0.01, muon=0.02)


def network(width=16, layers=1, seed=0):
    config = transformers.LlamaConfig(
        vocab_size=32, hidden_size=width, intermediate_size=32, num_hidden_layers=layers,
        num_attention_heads=4, max_position_embeddings=64, tie_word_embeddings=True,
    )  # fmt: skip
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return transformers.LlamaForCausalLM(config)


def batches(step):
    ids = np.random.default_rng(step).integers(0, 32, (4, 12))
    return {"input_ids": ids, "labels": ids}


def same(one, two):
    pairs = zip(one.named_parameters(), two.named_parameters(), strict=True)
    return all(a == b and torch.equal(p, q) for (a, p), (b, q) in pairs)


@pytest.mark.parametrize("able", [True, False])
def test_the_loop_does_what_a_plain_loop_in_torch_does(able, tmp_path, monkeypatch):
    set_bfloat16(monkeypatch, able)
    made, plain = network(), network()
    found = loop.fit(made, batches, N_STEPS, RATES, tmp_path)
    AcceleratorState._reset_state()
    inside, outside = [], []
    for name, parameter in plain.named_parameters():
        (inside if "_proj" in name else outside).append(parameter)
    assert len(inside) == 7 and len(outside) == 4  # q k v o, gate up down; words, three norms
    muon = torch.optim.Muon(inside, lr=0.02, weight_decay=0.1, momentum=0.95)
    adam = torch.optim.AdamW(outside, lr=0.01, weight_decay=0.0, betas=(0.9, 0.98))
    losses = []
    for step in range(N_STEPS):
        # Seven steps: the rate rises by a 50th a step, and falls to nothing in the second half.
        share = min((step + 1) / 50, (7 - step) / 3.5)
        muon.param_groups[0]["lr"], adam.param_groups[0]["lr"] = 0.02 * share, 0.01 * share
        ids = torch.from_numpy(batches(step)["input_ids"])
        with torch.autocast("cpu", torch.bfloat16, enabled=able):
            logits = plain(input_ids=ids).logits.float()
            loss = torch.nn.functional.cross_entropy(
                logits[:, :-1].flatten(0, 1), ids[:, 1:].flatten()
            )
        plain.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(plain.parameters(), 1.0)
        muon.step()
        adam.step()
        losses.append(loss.item())
    assert found == pytest.approx(losses, rel=1e-6)
    for (name, p), (_, q) in zip(made.named_parameters(), plain.named_parameters(), strict=True):
        torch.testing.assert_close(p, q, rtol=1e-5, atol=1e-6, msg=name)
    assert not same(made, network()) and losses[0] == pytest.approx(math.log(32), rel=0.05)


@pytest.mark.parametrize("shape", [(24, 24), (40, 16), (16, 40)])
def test_an_update_in_float32_is_that_of_torch_but_for_the_rounding_of_bfloat16(shape):
    rng = torch.Generator().manual_seed(0)
    start = torch.randn(shape, generator=rng)
    ours, its = (torch.nn.Parameter(start.clone()) for _ in range(2))
    settings = dict(lr=0.1, weight_decay=0.1, momentum=0.9)
    optimizers = muon.Muon([ours], **settings), torch.optim.Muon([its], **settings)
    for _ in range(3):
        ours.grad = torch.randn(shape, generator=rng)
        its.grad = ours.grad.clone()
        for optimizer in optimizers:
            optimizer.step()
    # Three steps of 0.1 in bfloat16, of eight bits.
    torch.testing.assert_close(ours, its, rtol=0, atol=3 * 0.1 * 2**-5)
    assert (ours - start).abs().max() > 0.1
    # By the decomposition: the same singular vectors, values of about one.
    matrix = torch.randn(shape, generator=rng).double()
    u, _, v = torch.linalg.svd(matrix, full_matrices=False)
    inner = u.T @ muon.orthogonal(matrix) @ v.T
    assert ((inner.diagonal() > 0.3) & (inner.diagonal() < 1.6)).all()
    assert (inner - inner.diagonal().diag()).abs().max() < 1e-6


class Stop(Exception):
    pass


def stopped_at(step):
    """Batches up to a step, and a record of those that were asked for."""
    asked = []

    def give(n):
        asked.append(n)
        if n == step:
            raise Stop
        return batches(n)

    return give, asked


@pytest.mark.parametrize(("float32", "every"), [(False, 1), (False, 2), (True, 2)])
def test_a_training_that_is_stopped_at_every_step_comes_to_the_same_end(float32, every, tmp_path):
    whole, how = network(), {"every": every, "float32": float32}
    losses = loop.fit(whole, batches, N_STEPS, RATES, tmp_path / "whole", **how)
    for stop in range(1, N_STEPS):
        give, asked = stopped_at(stop)
        with pytest.raises(Stop):
            loop.fit(network(), give, N_STEPS, RATES, tmp_path, **how)
        assert asked[0] == (stop - 1) // every * every
    made = network(seed=1)  # all that matters stands in the checkpoint
    assert loop.fit(made, batches, N_STEPS, RATES, tmp_path, **how) == losses
    assert same(made, whole)


@pytest.fixture
def checkpoint(tmp_path):
    """The folder of a training that was stopped with a checkpoint of four steps."""
    give, _ = stopped_at(5)
    with pytest.raises(Stop):
        loop.fit(network(), give, N_STEPS, RATES, tmp_path, every=2)
    [file] = tmp_path.iterdir()
    assert file.name == loop.CHECKPOINT
    return file


def test_a_truncated_checkpoint_is_one_line_and_stays_for_whoever_looks_at_it(checkpoint):
    checkpoint.write_bytes(left := checkpoint.read_bytes()[:-1])
    with pytest.raises(BadInput) as caught:
        loop.fit(network(), batches, N_STEPS, RATES, checkpoint.parent)
    line = str(caught.value)
    assert line.startswith(f"{checkpoint}: no checkpoint of this network (") and "\n" not in line
    assert line.endswith("; delete it to begin anew") and checkpoint.read_bytes() == left


def test_a_checkpoint_of_another_network_or_of_nobody_is_one_line(checkpoint):
    for shape in ({"width": 8}, {"layers": 2}):
        with pytest.raises(BadInput, match=r"no checkpoint of this network \(.+\); delete it"):
            loop.fit(network(**shape), batches, N_STEPS, RATES, checkpoint.parent)
    save_file({"a": torch.zeros(1)}, checkpoint, None)
    with pytest.raises(BadInput, match="no checkpoint of this network"):
        loop.fit(network(), batches, N_STEPS, RATES, checkpoint.parent)


def test_a_disk_that_is_full_at_a_checkpoint_keeps_the_one_before(tmp_path, monkeypatch):
    whole, written = network(), []
    loop.fit(whole, batches, N_STEPS, RATES, tmp_path / "whole")

    def full(path, content, write=loop.write_whole):
        written.append(path)
        if len(written) == 2:
            raise OSError(errno.ENOSPC, "No space left on device")
        write(path, content)

    monkeypatch.setattr(loop, "write_whole", full)
    with pytest.raises(BadInput, match="cannot be written .* the checkpoint before it is kept"):
        loop.fit(network(), batches, N_STEPS, RATES, tmp_path, every=2)
    give, asked = stopped_at(None)
    made = network(seed=1)
    loop.fit(made, give, N_STEPS, RATES, tmp_path, every=2)
    assert asked[0] == 2 and same(made, whole)


def test_a_loss_that_is_no_number_is_one_line_and_the_last_checkpoint_stays(tmp_path):
    rates = loop.Rates(adam=1e30, muon=1e30)
    with pytest.raises(BadInput) as caught:
        loop.fit(network(), batches, N_STEPS, rates, tmp_path, every=1)
    line = str(caught.value)
    assert line.startswith("the loss is nan at step ") and line.endswith("lower the learning rates")
    with safe_open(tmp_path / loop.CHECKPOINT, "np") as file:
        assert np.isfinite(json.loads(file.metadata()["losses"])).all()


def test_the_rate_rises_stays_and_falls():
    rates = [loop.schedule(step, 1000) for step in range(1000)]
    assert rates[:50] == [(step + 1) / 50 for step in range(50)] and set(rates[49:501]) == {1.0}
    assert rates[501:] == [(1000 - step) / 500 for step in range(501, 1000)]
    assert all(0 < loop.schedule(step, n) <= 1 for n in (1, 2, 30) for step in range(n))


def test_processes_share_the_rows_of_a_batch_evenly_or_say_that_they_cannot():
    from types import SimpleNamespace

    batch = {"input_ids": np.arange(12).reshape(6, 2), "labels": np.arange(12).reshape(6, 2)}
    shares = [
        loop._share(batch, SimpleNamespace(num_processes=3, process_index=i, device="cpu"))
        for i in range(3)
    ]
    rows = torch.cat([share["input_ids"] for share in shares])
    assert sorted(rows.tolist()) == batch["input_ids"].tolist() and len(shares[0]["labels"]) == 2
    with pytest.raises(BadInput, match="^4 processes cannot share 6 rows of a batch evenly$"):
        loop._share(batch, SimpleNamespace(num_processes=4, process_index=0, device="cpu"))
