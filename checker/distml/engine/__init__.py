"""Runs checks over files: finding them, remembering results, sharing work, keeping limits. May import all rooms below."""
