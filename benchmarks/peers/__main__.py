"""Run the comparison: `python -m benchmarks.peers FOLDER`."""

import sys

from benchmarks.peers.comparison import main

if __name__ == "__main__":
    sys.exit(main())
