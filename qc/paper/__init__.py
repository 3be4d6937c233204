"""What an author puts into a paper: tables and a paragraph in LaTeX, figures as PDF, and a datasheet."""
