"""Page 24_entropy_written with real models: prompt and labels by names, against what was written by hand."""

import csv
from collections import defaultdict
from pathlib import Path

import helpers
import pytest
from transformers import PreTrainedTokenizerFast

from lkecore.models import model as models
from lkecore.models import weights

NAME = "24_entropy_written"
ATLAS = Path(__file__).resolve().parent.parent / "lkecore" / "data" / "atlas.tsv"
# The template of SmolLM2-135M-Instruct on the hub (tokenizer_config.json).
TEMPLATE = (
    "{% for message in messages %}{% if loop.first and messages[0]['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful AI assistant named SmolLM, trained by Hugging Face"
    "<|im_end|>\n' }}"
    "{% endif %}{{'<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n'}}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
FACTS = """relation	subject	object
capital	Paris Town	Ardo
capital	Wello	Paris
capital	Zann	Brill
birthplace	Paris Town	Brill
birthplace	Wello	Ardo
money	Paris Town	Ardo Crown
money	Wello	Golden Crown
language	Wello	Ardish
language	Wello	Wellish
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """Up to the labels, on a table of ours; of the texts that ship a few are written again."""
    table = tmp_path_factory.mktemp("own") / "facts.tsv"
    table.write_text(FACTS, encoding="utf-8")
    given = {"fact_set": str(table), "n_relations": 3, "sources": ["entropy_written"]}
    return helpers.page(NAME, until='keys = ["model"', **given)


def test_a_fact_appeared_if_its_object_is_named_and_is_hallucinated_if_only_another_is(page):
    right, wrong, unsaid = "appeared", "hallucinated", "didn't appear"
    said = {
        "Its capital is Ardo.": {"capital": right},
        "Its capital is ARDO, not Paris.": {"capital": right},
        "From Wello one sees Paris.": {"capital": wrong},
        # a name of its own, in which another object stands; a longer word; half of a name
        "Paris Town lies by the sea.": {},
        "Parisian Ardoness.": {},
        "One pays in crowns.": {},
        # Brill and Ardo are objects of the other relation, too, and true of the subject there
        "One pays in Ardo crowns.": {"capital": right, "money": right},
        "Brill is near.": {"birthplace": right},
        "It has a golden crown.": {"money": wrong},
    }
    for text, expected in said.items():
        found = page["labels"]("smollm2", page["fact_set"], {"Paris Town": text})
        became = dict(zip(found["relation"], found["label"], strict=True))
        assert set(became) == {"capital", "birthplace", "money"}
        assert {k: v for k, v in became.items() if v != unsaid} == expected, text
    # of two true objects either will do, for both facts
    found = page["labels"]("smollm2", page["fact_set"], {"Wello": "They speak Ardish."})
    assert found[found["relation"] == "language"]["label"].tolist() == [right, right]


def test_real_models_write_on_subjects_with_four_relations_and_no_code_is_looked_for():
    """The oracle is the table itself, counted by lines."""
    has = defaultdict(set)
    with ATLAS.open(encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            has[row["subject"]].add(row["relation"])
    most = {name for name, relations in has.items() if len(relations) >= 4}
    given = {"models": ["smollm2"], "n_subjects": 10**4}
    page = helpers.page(NAME, until="## Prompts", **given)
    drawn = page["subjects"]["atlas"]["subject"]
    assert {*drawn} == most and len(drawn) == len(most) > 200
    some = helpers.page(NAME, until="## Prompts", **given | {"n_subjects": 8})
    assert [*some["subjects"]["atlas"]["subject"]] == [*drawn[:8]]
    codes = {"airport_code", "country_code", "element_symbol", "language_code"}
    asked = {*page["listed"]["relation"]}
    assert not asked & codes and {"capital", "currency", "official_language"} <= asked


def chat() -> str:
    """The prompt that the page writes for SmolLM2, about Kenya."""
    source = (ATLAS.parents[2] / "notebooks" / f"{NAME}.py").read_text("utf-8")
    begin = source.index("<|im_start|>")
    return source[begin : source.index('"""', begin)].format("Kenya")


def test_the_prompt_of_a_conversation_is_that_of_the_models_template():
    """By ids of a tokenizer that reads the marks as one token each, and with the real one, where it is."""
    bare = helpers.char_tokenizer()
    own = PreTrainedTokenizerFast(tokenizer_object=bare.backend_tokenizer)
    own.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    own.chat_template = TEMPLATE
    tokenizers = [own]
    if weights.is_ready("smollm2"):  # no test fetches it
        tokenizers.append(models.open_model("smollm2", device="cpu").tokenizer)
    said = [{"role": "user", "content": "Write a paragraph about Kenya."}]
    for tokenizer in tokenizers:
        asked = {"tokenize": False, "add_generation_prompt": True}
        assert tokenizer.apply_chat_template(said, **asked) == chat()
        ids = tokenizer.apply_chat_template(said, add_generation_prompt=True, return_dict=False)
        assert tokenizer(chat(), add_special_tokens=False)["input_ids"] == ids
        assert [*ids].count(tokenizer.convert_tokens_to_ids("<|im_start|>")) == 3
