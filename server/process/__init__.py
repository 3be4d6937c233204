"""The server's process: its connections, its logs, whether it is ready, and how it ends."""
