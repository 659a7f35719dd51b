# SPDX-License-Identifier: Apache-2.0
"""A worker that does exactly what a test tells it: each request of docs/worker-protocol.md, one at a time."""
import secrets

from server import Client


class ProtocolWorker:
    def __init__(self, port, name="w", node="n", token=None, **offer):
        self.port, self.name, self.node, self.token = port, name, node, token
        self.offer = {"types": ["echo"], "slots": 4, **offer}
        self.secret = secrets.token_hex(32)
        self.process = secrets.token_hex(8)
        self.seq, self.session, self.holding = 0, None, []

    def post(self, path, body, bearer):
        fields = {"Authorization": f"Bearer {bearer}"} if bearer else {}
        with Client(self.port) as client:
            return client.post(path, body, **fields)

    def enrol(self, **more):
        body = {"protocol": 1, "node": self.node, "name": self.name, "secret": self.secret, **self.offer, **more}
        reply = self.post("/v1/workers", body, self.token)
        if reply.status in (200, 201):
            self.id = reply.json()["worker"]
        return reply

    def begin(self, first=True, **more):
        body = {"process": self.process, "first": first, "holding": self.holding, **more}
        reply = self.post(f"/v1/workers/{self.id}/session", body, self.secret)
        if reply.status == 200:
            self.session, self.seq = reply.json()["session"], 0
        return reply

    def start(self):
        """Enrolled and with a session."""
        assert self.enrol().status in (200, 201)
        assert self.begin().status == 200
        return self

    def sync(self, **more):
        self.seq += 1
        body = {"session": self.session, "seq": self.seq, "holding": self.holding, **more}
        return self.post(f"/v1/workers/{self.id}/sync", body, self.secret)

    def take(self, want=1, wait_ms=5000):
        """Work, which it holds from then on."""
        reply = self.sync(want=want, wait_ms=wait_ms)
        assert reply.status == 200, reply.body
        work = reply.json()["work"]
        self.holding += [each["d"] for each in work if each["d"] not in self.holding]
        return work

    def finish(self, d, status="ok", payload=None, **more):
        """The result of the report."""
        report = {"d": d, "status": status, **more}
        if status == "ok":
            report["payload"] = payload
        reply = self.sync(done=[report])
        assert reply.status == 200, reply.body
        self.holding = [each for each in self.holding if each != d]
        return reply.json()["results"][0]["result"]

    def leave(self):
        return self.post(f"/v1/workers/{self.id}/leave", {"session": self.session}, self.secret)
