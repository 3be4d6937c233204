"""The researcher's API for runs and studies, over HTTP and as files."""
