"""What Python code calls: `import tui_eval as te`. The engine is always a process of its own."""
