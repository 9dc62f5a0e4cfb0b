"""From a workflow to its answer: what each step is sent, when it starts, tries, limits, reuse, watchers."""
