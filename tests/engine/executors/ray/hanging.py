"""A process that is started to speak with Ray, and hangs."""

import time

if __name__ == "__main__":
    time.sleep(60)
