"""Log-probabilities of continuations, in nats. Prompts go in, and a tidy frame comes out.

``plain`` is the slow reference that defines what a score is. ``tree`` gives the same numbers for
causal models without repeating work. ``tokens`` turns strings into token ids, and ``trie`` makes one
prefix tree of them. ``walk`` sends the tree through a network in ``passes``. ``attention_paths`` finds
the fastest way that is exact for the network. ``generate`` lets outputs grow from prompts
(``cache_growth``). ``masked`` and ``seq2seq`` ask models that fill blanks (``batches`` is what they
share). ``chunks`` and ``store`` keep what was computed.
"""
