"""From a prompt to a plan: asking a conductor, reading what it wrote, guessing what it will take."""
