"""Metrics: pure functions on arrays, one module a family. Axes are fact, option, token, in this order."""
