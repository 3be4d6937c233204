"""The server's process: connections, middleware, logs, readiness, and graceful end."""
