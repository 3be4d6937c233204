"""The pages that the server writes itself: the start page, and the description of the researcher's API."""
