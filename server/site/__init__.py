"""Pages rendered by the server: the start page, and the description of the researcher's API."""
