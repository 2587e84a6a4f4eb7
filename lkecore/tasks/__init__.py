"""Tasks: what is done to a loaded model, and undone, before it is asked again."""
