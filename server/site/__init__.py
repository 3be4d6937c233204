"""Serve the pages: the server's own (start, API), and the built ones of workers and of the desk."""
