#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a healthy client notices of a crowd: 3000 connections that say nothing and 200 clients that do not read their
answers, at a server that may open 1024 files. Prints the times of the healthy client alone and beside the crowd, and
the memory of the server. Times are the best of some rounds: what else the machine does is not the server's affair. With --memory-mib and a cgroup that may be written (v1, /sys/fs/cgroup/memory), the server has
no more than that. Exits with 1 if the p99 is not below three times that of before, or the server has ended.

    bench/http/crowd.py [--build BUILD] [--silent 3000] [--unread 200] [--files 1024] [--memory-mib 512]
"""
import argparse
import http.client
import json
import os
import pathlib
import re
import resource
import select
import socket
import subprocess
import sys
import tempfile
import threading
import time

KIB, MIB = 1 << 10, 1 << 20
ROOT = pathlib.Path(__file__).resolve().parents[2]


def order(name, sku="mug"):
    return json.dumps({"schema": "demo/OrderPlaced@1", "value": {"id": name, "sku": sku, "count": 1, "cents": 5}})


class Healthy:
    """Sends an event and reads an instance, over one connection."""

    def __init__(self, port):
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
        self.sent = 0

    def ask(self, method, path, body=None):
        self.connection.request(method, path, body, {"Content-Type": "application/json"} if body else {})
        reply = self.connection.getresponse()
        data = reply.read()
        if reply.status != 200:
            raise RuntimeError(f"{method} {path}: {reply.status} {data[:200]}")
        return data

    def times_ms(self, count):
        times = []
        for _ in range(count):
            self.sent += 1
            name = f"h-{os.getpid()}-{self.sent}"
            begun = time.perf_counter()
            self.ask("POST", "/v1/events", order(name))
            self.ask("GET", f"/v1/instances/demo/Order@1/{name}")
            times.append((time.perf_counter() - begun) * 1000)
        return sorted(times)


def p(times, part):
    return times[min(len(times) - 1, int(len(times) * part))]


def rss_mib(process):
    return int(re.search(r"VmRSS:\s+(\d+)", pathlib.Path(f"/proc/{process}/status").read_text())[1]) / 1024


class Cgroup:
    """One of our own, if there may be one."""

    def __init__(self, mib):
        self.path = None
        parent = pathlib.Path("/sys/fs/cgroup/memory")
        if not mib or not os.access(parent, os.W_OK):
            return
        try:
            path = parent / f"holdfast-crowd-{os.getpid()}"
            path.mkdir()
            (path / "memory.limit_in_bytes").write_text(str(mib * MIB))
            self.path = path
        except OSError as error:
            print(f"no cgroup: {error}")

    def add(self, process):
        if self.path:
            (self.path / "cgroup.procs").write_text(str(process))

    def peak_mib(self):
        return int((self.path / "memory.max_usage_in_bytes").read_text()) / MIB if self.path else None

    def remove(self):
        if self.path:
            self.path.rmdir()


class Crowd:
    """Whoever is cut off comes again, up to a hundred a second of each kind."""

    def __init__(self, port, silent, unread):
        self.port, self.stops, self.came_again = port, False, 0
        self.silent = [self.connect() for _ in range(silent)]
        self.unread = [self.ask_much() for _ in range(unread)]
        self.thread = threading.Thread(target=self.come_again)
        self.thread.start()

    def connect(self, room=0):
        client = socket.socket()
        if room:
            client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, room)
        try:
            client.connect(("127.0.0.1", self.port))
        except OSError:
            pass
        return client

    def ask_much(self):
        client = self.connect(4096)
        try:
            client.sendall(b"GET /v1/journal?from=2&limit=1 HTTP/1.1\r\nHost: localhost\r\n\r\n")
        except OSError:
            pass
        return client

    def come_again(self):
        at = 0
        while not self.stops:
            at += 1
            for clients, make in ((self.silent, self.connect), (self.unread, self.ask_much)):
                place = at % len(clients)
                if self.is_cut_off(clients[place]):
                    clients[place].close()
                    clients[place] = make()
                    self.came_again += 1
            time.sleep(0.01)

    @staticmethod
    def is_cut_off(client):
        poll = select.poll()
        poll.register(client, select.POLLRDHUP)
        return bool(poll.poll(0))

    def close(self):
        self.stops = True
        self.thread.join()
        for client in self.silent + self.unread:
            client.close()


def serve(arguments, folder, cgroup):
    script = f"ulimit -n {arguments.files}; exec \"$@\""
    process = subprocess.Popen(["sh", "-c", script, "sh", arguments.build / "holdfast", "serve", "--world",
                                folder / "world", "--apply", "--any-file-system", "--listen", "127.0.0.1:0"],
                               stdout=subprocess.PIPE, text=True)
    cgroup.add(process.pid)
    return process, int(re.search(r":(\d+)$", process.stdout.readline().strip())[1])


def best(healthy, arguments):
    """p50 and p99, each of the best round."""
    rounds = [healthy.times_ms(arguments.requests) for _ in range(arguments.rounds)]
    return min(p(times, .5) for times in rounds), min(p(times, .99) for times in rounds)


def measure(arguments, process, port):
    healthy = Healthy(port)
    healthy.ask("POST", "/v1/events", order("big", "m" * (12 * MIB)))  # record 2: more than sockets hold
    healthy.times_ms(200)
    alone = best(healthy, arguments)
    print(f"alone     p50 {alone[0]:.2f} ms  p99 {alone[1]:.2f} ms  memory {rss_mib(process.pid):.0f} MiB")
    crowd = Crowd(port, arguments.silent, arguments.unread)
    try:
        beside = best(healthy, arguments)
        most = rss_mib(process.pid)
        figures = healthy.ask("GET", "/metrics").decode()
    finally:
        crowd.close()
    print(f"beside    p50 {beside[0]:.2f} ms  p99 {beside[1]:.2f} ms  memory {most:.0f} MiB, {crowd.came_again} came again")
    for name in ("connections", "answer_bytes", "shed_connections_total", "cut_readers_total", "refused_connections_total"):
        print(f"  {name} {re.search(rf'^holdfast_http_{name} (.+)$', figures, re.M)[1]}")
    ended = process.poll() is not None
    print("the server has ended" if ended else f"p99 {beside[1] / alone[1]:.2f} times that of before")
    return not ended and beside[1] < 3 * alone[1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build")
    parser.add_argument("--silent", type=int, default=3000)
    parser.add_argument("--unread", type=int, default=200)
    parser.add_argument("--files", type=int, default=1024)
    parser.add_argument("--requests", type=int, default=300)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--memory-mib", type=int, default=512)
    arguments = parser.parse_args()
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    cgroup = Cgroup(arguments.memory_mib)
    with tempfile.TemporaryDirectory() as folder:
        process, port = serve(arguments, pathlib.Path(folder), cgroup)
        try:
            good = measure(arguments, process, port)
            peak = cgroup.peak_mib()
            print(f"the most that it had in its cgroup: {peak:.0f} MiB" if peak else "no cgroup: only its memory was looked at")
        finally:
            process.terminate()
            process.wait()
            process.stdout.close()
            cgroup.remove()
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
