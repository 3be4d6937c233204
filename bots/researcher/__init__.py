"""The researcher's REST API, as commands use it: `access` is the way in, `client` asks, `views` come back."""
