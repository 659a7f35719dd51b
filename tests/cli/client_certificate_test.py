#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that takes only clients with a certificate, and the commands that have one."""
import json
import os
import subprocess

from program import main
from serving import ORDER, ServingTest


class ClientCertificate(ServingTest):
    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.folder, check=True, capture_output=True)

    def make_certificates(self):
        curve = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
        for name in ("authority", "other"):
            self.openssl("req", "-x509", *curve, "-keyout", f"{name}.key", "-out", f"{name}.pem", "-days", "2", "-subj", f"/CN={name}")
        for name, authority in (("server", "authority"), ("client", "authority"), ("stranger", "other")):
            self.openssl("req", *curve, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}",
                         "-addext", "subjectAltName=IP:127.0.0.1")
            self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key",
                         "-CAcreateserial", "-out", f"{name}.pem", "-days", "2", "-copy_extensions", "copy")

    def test_commands_show_the_certificate_that_they_are_given(self):
        self.make_certificates()
        with self.server("--tls-certificate", "server.pem", "--tls-key", "server.key", "--client-authorities", "authority.pem") as url:
            place = ("--server", url, "--authorities", "authority.pem")
            client = ("--client-certificate", "client.pem", "--client-key", "client.key")
            self.assertEqual(self.ask_at((*place, *client), "ls")["instances"], [])
            started = self.ask_at((*place, *client), "start", "demo/Order@1", ORDER % ("o-1", "mug"), "--wait", "60000")
            self.assertEqual(started["instance"]["status"], "completed")
            followed = self.run_program("stream", "demo/Order@1/o-1", *place, *client)
            self.assertEqual(followed.returncode, 0, followed.stderr)
            # Out of the environment, and out of the file.
            variables = {**os.environ, "HOLDFAST_CLIENT_CERTIFICATE": "client.pem", "HOLDFAST_CLIENT_KEY": "client.key"}
            self.assertEqual(self.run_program("show", "demo/Order@1/o-1", *place, env=variables).returncode, 0)
            self.write("holdfast.yaml", f"server: {url}\nauthorities: authority.pem\nclient-certificate: client.pem\nclient-key: client.key\n")
            self.assertEqual(self.run_program("show", "demo/Order@1/o-1").returncode, 0)
            shown = json.loads(self.run_program("config", "--json").stdout)
            self.assertEqual(shown["client-key"], {"value": "client.key", "from": "holdfast.yaml"})
            (self.folder / "holdfast.yaml").unlink()
            # Without one, and with one that is not good.
            for wrong in ((), ("--client-certificate", "stranger.pem", "--client-key", "stranger.key")):
                done = self.run_program("ls", *place, *wrong)
                self.assertNotEqual(done.returncode, 0)
                self.assertEqual(done.stdout, b"")
            done = self.run_program("ls", *place, "--client-certificate", "no.pem", "--client-key", "client.key")
            self.assertIn(b"no.pem", done.stderr)
            self.assertEqual((done.stdout, done.returncode), (b"", 1))
            for half, missing in (("--client-certificate", "client-key"), ("--client-key", "client-certificate")):
                self.assert_misused(f"{missing}: it is missing: a certificate and its key go together", "ls", *place, half, "client.pem")


if __name__ == "__main__":
    main()
