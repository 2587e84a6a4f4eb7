"""Pure functions on arrays, one module per paper. Axes are fact, option, token, in this order."""
