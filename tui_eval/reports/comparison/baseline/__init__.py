"""What a run is compared with: its base, a baseline's file, and the gate on both."""
