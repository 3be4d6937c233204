"""The systems that come with Candor: small, fast, no download. docs/bots.md says what each one does."""
