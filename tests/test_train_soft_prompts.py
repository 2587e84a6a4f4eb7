"""Soft prompts: vectors in the place of words, against plain forward passes and a plain torch loop."""

import helpers
import numpy as np
import pytest
import torch
import transformers

from lkecore.errors import BadInput
from lkecore.train import soft_prompts
from lkecore.train.finetune import Recipe
from lkecore.train.soft_prompts import Row

NATS = 1e-4  # float32: a row alone, and among longer ones
MASKED = [name for name in helpers.BLANK_FILLERS if not name.startswith("T5")]
SETTINGS = {"rate": 0.05, "batch": 5, "every": 3}


def network_of(kind: str):
    return helpers.network(kind) if kind in helpers.NETWORKS else helpers.blank_filler(kind)[0]


def rows_for(network, seed=0, soft=()) -> list[Row]:
    """Rows of one to three tokens to be said, of all lengths; ``soft`` ids stand in front."""
    rng, n = np.random.default_rng(seed), network.config.vocab_size
    rows = []
    for length in (4, 9, 6, 5, 12):
        ids = (*soft, *rng.integers(5, n, length).tolist())
        places = range(len(ids) - 1 - rng.integers(1, 4), len(ids) - 1)
        rows.append(Row(ids, tuple(places), tuple(rng.integers(5, n, len(places)).tolist())))
    return rows


@pytest.mark.parametrize("kind", [*helpers.NETWORKS, *MASKED])
def test_a_word_looked_up_beside_the_vocabulary_is_read_as_the_word_itself(kind):
    network = network_of(kind)
    n = network.config.vocab_size
    own = torch.tensor([[7, 9, 8, 7]])
    with torch.inference_mode():
        wanted = network(input_ids=own).logits
        vectors = torch.tensor(soft_prompts.words(network, [9, 7]))
        with soft_prompts.looked_up(network, vectors, n + 3):  # beside rows that pad a vocabulary
            found = network(input_ids=torch.tensor([[n + 4, n + 3, 8, n + 4]])).logits
            assert torch.equal(network(input_ids=own).logits, wanted)
        assert torch.equal(found, wanted) and found.shape[-1] == wanted.shape[-1]
    with pytest.raises(IndexError):
        network(input_ids=torch.tensor([[n + 4]]))


@pytest.mark.parametrize("kind", ["Llama", "OPT", "Gemma2 with a window", "BERT", "RoBERTa"])
def test_what_is_said_in_a_batch_is_what_a_row_alone_says(kind):
    network = network_of(kind)
    rows = rows_for(network)
    with torch.inference_mode():
        logits = [network(input_ids=torch.tensor([row.ids])).logits[0] for row in rows]
        # Every second row asks for what is likeliest, of which one is spoilt in its last token.
        for i in (1, 3, 4):
            best = logits[i].argmax(-1)[list(rows[i].places)].tolist()
            rows[i] = rows[i]._replace(tokens=tuple(best))
        rows[4] = rows[4]._replace(tokens=(*rows[4].tokens[:-1], rows[4].tokens[-1] ^ 1))
    found = soft_prompts.said(network, rows, batch=3)
    for row, of, (first, logprob) in zip(rows, logits, found, strict=True):
        at = [of[place].double().log_softmax(-1) for place in row.places]
        pairs = list(zip(at, row.tokens, strict=True))
        assert first == all(int(each.argmax()) == token for each, token in pairs)
        assert logprob == pytest.approx(sum(float(e[t]) for e, t in pairs), abs=NATS)
    assert found[:, 0].tolist()[3] == 1 and found[4, 0] == 0


@pytest.mark.parametrize("kind", ["Llama", "OPT", "BERT", "RoBERTa"])
def test_learned_vectors_are_those_of_a_plain_loop_and_the_network_stays(kind, tmp_path):
    network = network_of(kind)
    n, steps, before = network.config.vocab_size, 6, helpers.weights_digest(network)
    rows = rows_for(network, soft=(n, n + 1))
    start = soft_prompts.noise(network, 2, seed=1)
    recipe = Recipe(steps=steps, **SETTINGS)
    given = network, start, n, rows, rows

    found, result = soft_prompts.learn(*given, recipe, tmp_path, seed=0, what="a")
    went, best = result.losses, result.best
    assert helpers.weights_digest(network) == before and all(
        p.requires_grad for p in network.parameters()
    )
    vectors = torch.nn.Parameter(torch.tensor(start))
    learner = torch.optim.AdamW([vectors], lr=recipe.rate, weight_decay=0)
    falls = transformers.get_polynomial_decay_schedule_with_warmup(learner, 1, steps, lr_end=0)
    embedding, at = network.get_input_embeddings(), {0: start}
    for step in range(steps):
        learner.zero_grad()
        losses = []
        for row in rows:  # all of them in a batch
            own = torch.cat([vectors, embedding(torch.tensor(row.ids[2:]))])[None]
            logits = network(inputs_embeds=own).logits[0, list(row.places)].log_softmax(-1)
            losses += [-each[token] for each, token in zip(logits, row.tokens, strict=True)]
        loss = torch.stack(losses).mean()
        loss.backward()
        learner.step()
        falls.step()
        at[step + 1] = vectors.detach().numpy().copy()
        assert went[step] == pytest.approx(loss.item(), abs=NATS)
    assert found == pytest.approx(at[best], abs=1e-3)
    assert not np.allclose(found, start, atol=1e-2) and went[-1] < went[0]


def test_rows_come_in_an_order_of_the_seed_and_each_once_a_pass(tmp_path, monkeypatch):
    network = network_of("Llama")
    rows, seen = rows_for(network, soft=(80,)), []
    own = soft_prompts._predicted
    monkeypatch.setattr(
        soft_prompts, "_predicted", lambda net, some: (seen.append(list(some)), own(net, some))[1]
    )
    start, ends = soft_prompts.noise(network, 1, seed=0), {}
    for seed in (0, 0, 1):
        seen.clear()
        recipe = Recipe(rate=0.05, steps=5, batch=2, every=5)
        folder = tmp_path / f"{len(ends)}"
        found, _ = soft_prompts.learn(
            network, start, 80, rows, rows, recipe, folder, seed=seed, what="a"
        )
        drawn = [row for batch in seen[:5] for row in batch]
        assert sorted(drawn[:5]) == sorted(drawn[5:]) == sorted(rows) and drawn[:5] != drawn[5:]
        ends[len(ends)] = (found.tobytes(), drawn)
    assert ends[0] == ends[1] and ends[0][1] != ends[2][1]


def test_noise_has_the_spread_of_the_vocabulary_and_depends_on_the_seed():
    network = network_of("GPT2")
    with torch.no_grad():
        network.get_input_embeddings().weight.normal_(0.5, 2.0)
    one, again, other = (soft_prompts.noise(network, 40, seed=seed) for seed in (0, 0, 1))
    assert np.array_equal(one, again) and not np.array_equal(one, other)
    assert one.mean() == pytest.approx(0.5, abs=0.3) and one.std() == pytest.approx(2.0, abs=0.2)


def test_a_network_whose_numbers_overflow_is_refused():
    network = network_of("Llama")
    with torch.no_grad():
        network.get_output_embeddings().weight.fill_(torch.inf)
    with pytest.raises(BadInput, match="no numbers; try float32"):
        soft_prompts.said(network, rows_for(network))


def test_kept_vectors_come_back_with_what_they_are_about_and_not_for_another(tmp_path):
    path, vectors = tmp_path / "a.safetensors", np.arange(6, dtype=np.float32).reshape(3, 2)
    soft_prompts.save(path, vectors, {"model": "m", "more": "x"})
    found, about = soft_prompts.load(path, {"model": "m"})
    assert np.array_equal(found, vectors) and about == {"model": "m", "more": "x"}
    with pytest.raises(BadInput, match="soft prompts of another model: m, not n"):
        soft_prompts.load(path, {"model": "n"})
    path.write_bytes(path.read_bytes()[:20])
    for place in (path, tmp_path / "none"):
        with pytest.raises(BadInput, match="no soft prompts"):
            soft_prompts.load(place, {})
