"""Scores: log-probabilities of continuations, in nats. Prompts in, a tidy frame out.

``plain`` is the slow reference that defines what a score is. ``tree`` gives the same numbers for
causal models without repeating work: ``tokens`` turns strings into token ids, ``trie`` makes one
prefix tree of them, ``walk`` sends it through a network in ``passes``, in the fastest of the
``ways`` that is exact for it. ``generate`` lets outputs grow from prompts (``growth``). ``masked``
and ``seq2seq`` ask models that fill blanks (``batches`` is what they share). ``chunks`` and
``store`` keep what was computed.
"""
