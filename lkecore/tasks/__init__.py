"""Tasks: changes to a loaded model, such as training, that are undone, and questions asked around them."""
