"""The database: tables, views, migrations, records as rows, the one writer."""
