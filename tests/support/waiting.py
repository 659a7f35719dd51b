# SPDX-License-Identifier: Apache-2.0
"""How long tests wait: for what must come, until it is there. A machine may be busy; only what never comes is a failure."""
import os
import time

PATIENCE = 120  # seconds, with anything that comes by itself, and with every program that is run

# For folders of tests that write so much that they would wait for the disk, and are not about it.
IN_MEMORY = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def wait_until(condition, message="it does not come"):
    """Gives what the condition says, as soon as that is true."""
    deadline = time.monotonic() + PATIENCE
    while not (found := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(message() if callable(message) else message)
        time.sleep(0.02)
    return found
