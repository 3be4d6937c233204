"""Push changes to the desk as server-sent events."""
