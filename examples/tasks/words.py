# SPDX-License-Identifier: Apache-2.0
"""Functions that are tasks: holdfast worker --python words.py"""


def count(input, task):
    """Counts the words of one text."""
    print("counting", task.name)
    words = input["text"].split()
    task.progress({"words": len(words)})
    return {"words": len(words)}


def add(input):
    return {"total": sum(input["counts"])}
