"""Convert session records to database rows and back."""
