"""`python -m server`: the same as the command `candor`."""

from server.cli.command_line import main

if __name__ == "__main__":
    main()
