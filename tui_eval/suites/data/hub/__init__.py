"""Datasets of the Hugging Face Hub: `hf://OWNER/NAME[/CONFIG]/SPLIT[@REVISION]`."""
