"""Write runs to files: all data as views, and submitted assignments in the published form."""
