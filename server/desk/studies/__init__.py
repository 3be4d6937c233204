"""Serve studies: drafts, their versions, previews."""
