"""Book: from finished runs to HTML; new notebooks as copies of old ones."""
