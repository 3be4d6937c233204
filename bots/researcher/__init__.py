"""The researcher's REST API for commands: `access` has address and token, `client` calls it."""
