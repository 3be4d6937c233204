"""Store who takes a bot's place: other workers (partners) and researchers."""
