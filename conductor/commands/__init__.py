"""What the terminal commands do; their flags are in `conductor/cli.py`."""
