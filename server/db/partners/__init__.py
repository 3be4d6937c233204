"""Store who takes a bot's place: partners and researchers."""
