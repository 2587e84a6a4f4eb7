"""Meanings: one line for each column of an answers frame; no other module defines these words."""

import pandas as pd

# Columns that identify a question: two rows with the same values in all of them are about the same one.
ASKED = {
    "source": "this run, or the set of shipped answers",
    "model": "who was asked",
    "world": "the lab's world that the model has read",
    "reader": "the kind of model: causal, masked or seq2seq",
    "fact_set": "where the facts are from",
    "relation": "what is asked about the subject",
    "fact": "id of the fact, unique in its relation",
    "draw": "which draw of the pairs that are shown",
    "estimator": "the way of asking",
    "template": "the sentence in which the question is put, or its place in the relation, from 0",
    "expression": "which name of the subject is asked about, 0 its first",
    "instruction": "mp: to predict the mask; qa: to answer the question",
    "manual": "the template was written first in its group, and the others paraphrase it",
    "is_question": "the template is a question",
    "context": "zero-shot, or how many solved questions stand in front, and which",
    "n_shots": "pairs shown before the question",
    "question": "digest of the whole question: context, options and which is true",
    "kind": "what kind of question, sequence or fact it is",
    "part": "what the questions are for, such as to choose a format, or to test it",
    "pair_separator": "what is between subject and object of a pair that is shown",
    "shot_separator": "what is between the pairs that are shown",
    "score": "what ranks the options: the sum of their tokens' log-probabilities, or the mean",
    "offer": "how the wrong options were chosen",
    "instillation": "how the fact was stated, or taught",
    "lesson": "how the fact was taught",
    "steps": "after how many steps of teaching it is asked",
    "when": "before or after the lesson",
    "arrangement": "where in a sequence pairs are replaced: in a block, or distributed",
    "position": "place in the sequence, 1 for the first pair",
    "option": "the object that the row is about",
    "n_options": "objects offered, the true one included; a blind guess is right in 1 of so many",
}
MEANING = ASKED | {
    # Results.
    "correct": "the likeliest option is the true object (ties go to the first), or what was said is right",
    "confidence": "probability of the likeliest option, among the options, or of what was said",
    "confidence_gold": "probability of the true object, among the options",
    "p": "probability of the object, among the options",
    "answer": "the likeliest token at the blank, as text",
    "picked": "the likeliest of the relation's objects, by mean log-probability a token",
    "chosen": "the picked object is a true one",
    "text": "what the model wrote; of rankers: the true statement is above those of other words",
    "logprob": "log-probability of what was said, or of the true object, in nats",
    "n_tokens": "how many tokens it has",
    "exact": "the output is a true name, and no more",
    "one_word": "the output is one word",
    "shown": "a true object is among the solved questions",
    "rank": "place of the true object, 1 for the likeliest",
    "logprob_gold": "log-probability of the true object's tokens, summed, in nats",
    "margin": "log-probability of the likeliest option above that of the next, in nats",
    "entropy": "entropy of the prediction, in nats",
    "surprisal": "minus the log-probability of the true object, in nats",
    "kl": "KL(before the prompt states the fact || after), in nats",
    # Values that need no model.
    "cue_word": "the object shares a word with the subject",
    "cue_frequent": "the object is shown in the pairs, and no other option more often",
    "rule-overlap": "how often a guess by words shared with the subject is right, in [0, 1]",
    "rule-frequent": "the same of a guess by how often the pairs show an object",
    "rule-both": "the same of a guess by shared words, else by the pairs",
    "rule-length": "the same of a guess that takes the shortest option",
    # Statements of the lab's text.
    "object": "the true object",
    "state": "planted (stated as it is), mislearned (stated wrongly) or never (not stated)",
    "told": "the object that the text states",
    "form": "in lists of pairs, or in sentences",
    "wording": "which sentence states it",
    "exposures": "how often the text states it",
}


def columns(frame: pd.DataFrame) -> pd.DataFrame:
    """A row for each column of a frame: ``column``, ``example`` (its first value), ``meaning``.

    A column without a line here has the meaning "this page's own", and the page explains it. In a frame
    without rows each example is "".
    """
    example = [str(frame[name].iloc[0]) if len(frame) else "" for name in frame]
    meaning = [MEANING.get(name, "this page's own") for name in frame]
    return pd.DataFrame({"column": list(frame), "example": example, "meaning": meaning})
