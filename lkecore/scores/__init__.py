"""Scores: log-probabilities of continuations, in nats. Prompts in, a tidy frame out.

``tokens`` turns strings into token ids, ``plain`` is the slow reference that defines what a score
is, ``tree`` and ``passes`` compute the same numbers without repeating work, ``cache`` keeps them.
"""
