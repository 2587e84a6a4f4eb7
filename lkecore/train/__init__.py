"""Training: the models of the lab. Each module also starts by ``python -m lkecore.train.<name>``."""
