# SPDX-License-Identifier: Apache-2.0
"""How long tests wait: for what must come, until it is there. A machine may be busy; only what never comes is a failure."""
import os
import pathlib
import re
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


def threads_of(pid):
    """How each thread of a process is, and how often it has gone to sleep."""
    found = {}
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        text = (task / "status").read_text()
        found[task.name] = (re.search(r"^State:\s+(\w)", text, re.M)[1],
                            int(re.search(r"^voluntary_ctxt_switches:\s+(\d+)", text, re.M)[1]))
    return found
