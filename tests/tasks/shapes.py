# SPDX-License-Identifier: Apache-2.0
"""Graphs of every shape, and the results that their tasks must have. A task of these graphs returns its own number plus the
totals of the tasks that it reads (`work` in fleet.py)."""


class Shape:
    def __init__(self, choose, longest=0.1, retries=True):
        self.choose, self.longest, self.retries = choose, longest, retries
        self.nodes, self.totals, self.skipped = [], {}, set()
        self.epochs = None

    def add(self, name, depends_on=(), **spec):
        number = self.choose.randint(0, 99)
        spec = {"number": number, "seconds": round(self.choose.uniform(0, self.longest), 3), **spec}
        if self.retries and self.choose.random() < 0.1:
            spec["failures"] = 1
        if depends_on:
            spec["inputs"] = [f"${{{each}.total}}" for each in depends_on if each not in self.skipped]
        self.nodes.append({"name": name, "dependsOn": list(depends_on), "spec": spec})
        self.totals[name] = number + sum(self.total(each) for each in depends_on)
        return name

    def total(self, name):
        """Of a node with foreach: the sum."""
        found = self.totals.get(name, 0)
        return sum(found) if isinstance(found, list) else found

    def document(self, name):
        metadata = {"name": name}
        if self.epochs:
            metadata["annotations"] = {"schedule_hint": {"node_execution_order": self.epochs}}
        return {"apiVersion": "holdfast/v1", "kind": "Workflow", "metadata": metadata,
                "spec": {"taskType": "work", "maxAttempts": -1, "graph": {"nodes": self.nodes}}}

    def expected(self):
        """Name of a task -> its total; nothing for one that is skipped."""
        found = {}
        for name, total in self.totals.items():
            if isinstance(total, list):
                found.update({f"{name}[{i}]": each for i, each in enumerate(total)})
            else:
                found[name] = None if name in self.skipped else total
        return found


def chain(shape, size):
    last = shape.add("t0")
    for i in range(1, size):
        last = shape.add(f"t{i}", [last])


def wide(shape, size):
    for i in range(size):
        shape.add(f"t{i}")


def fan_in(shape, size):
    first = shape.add("first")
    middle = [shape.add(f"t{i}", [first]) for i in range(size - 2)]
    shape.add("last", middle)


def epochs(shape, size):
    per = max(1, size // 4)
    shape.epochs = [[shape.add(f"e{epoch}-{i}") for i in range(per)] for epoch in range(max(1, size // per))]


def foreach(shape, size):
    first = shape.add("first")
    items = [shape.choose.randint(0, 99) for _ in range(max(1, size - 2))]
    shape.nodes.append({"name": "each", "dependsOn": [first], "foreach": items,
                        "spec": {"number": "${foreach.item}", "seconds": 0.02, "inputs": [f"${{{first}.total}}"]}})
    shape.totals["each"] = [item + shape.totals[first] for item in items]
    shape.add("last", ["each"])


def conditions(shape, size):
    """Half of the tasks are skipped, and those behind them run."""
    for i in range(max(1, size // 3)):
        judge = shape.add(f"judge{i}")
        runs = i % 2 == 0
        parity = shape.totals[judge] % 2
        name = shape.add(f"if{i}", [judge], condition={"node": judge, "field": "parity", "equals": parity if runs else 1 - parity})
        if not runs:
            shape.skipped.add(name)
            shape.totals[name] = 0
        shape.add(f"then{i}", [name])


def web(shape, size):
    """Each task reads some of the last ones."""
    names = []
    for i in range(size):
        recent = names[-8:]
        names.append(shape.add(f"t{i}", shape.choose.sample(recent, min(len(recent), shape.choose.randint(0, 3)))))


SHAPES = [chain, wide, fan_in, epochs, foreach, conditions, web]


def graphs(choose, tasks, size, **options):
    """Graphs of all shapes in turn, as name -> Shape, with about as many tasks together."""
    made, count = {}, 0
    while count < tasks:
        make = SHAPES[len(made) % len(SHAPES)]
        shape = Shape(choose, **options)
        make(shape, size)
        count += len(shape.expected())
        made[f"{make.__name__.replace('_', '-')}-{len(made)}"] = shape
    return made
