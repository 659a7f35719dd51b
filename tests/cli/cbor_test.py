#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""holdfast cbor encode, decode, hash: every option, every way to be refused."""
import hashlib

from program import ROOT, ProgramTest, main

ORDERS = str(ROOT / "examples" / "orders")
ORDER = """{"placed_at": 1000, "total": "19.90", "customer": "6F9619FF-8B86-D011-B42D-00CF4FC964FF",
            "lines": [{"sku": "mug", "quantity": 2, "price": 9.950}], "order_id": "o-1"}"""
ORDER_DECODED = (
    '{"note":null,"lines":[{"sku":"mug","price":"9.95","quantity":2}],"total":"19.9",'
    '"customer":"6f9619ff-8b86-d011-b42d-00cf4fc964ff","order_id":"o-1","placed_at":1000}\n')


class Untyped(ProgramTest):
    def test_an_empty_type_is_a_mistake(self):
        for option in ("--type", "--schema"):
            done = self.run_program("cbor", "hash", option, "", given=b"1")
            self.assertEqual((done.stdout, done.returncode), (b"", 2))

    def test_json_is_encoded_decoded_and_hashed(self):
        hex_bytes = "d9d9f7a2616181f5616201"
        self.assert_prints(hex_bytes + "\n", "cbor", "encode", given='{"b":1,"a":[true]}')
        self.assert_prints('{"a":[true],"b":1}\n', "cbor", "decode", given=hex_bytes)
        digest = hashlib.sha256(bytes.fromhex(hex_bytes)).hexdigest()
        self.assert_prints(f"sha256:{digest}\n", "cbor", "hash", given=' {"a":[true],"b":1}\n')

    def test_from_says_what_comes_in(self):
        self.assert_prints("d9d9f701\n", "cbor", "encode", "--from", "cbor", given="01")
        self.assert_prints("d9d9f701\n", "cbor", "encode", "--from", "json", given="1")
        self.assert_prints('{"a":1}\n', "cbor", "decode", "--from", "json", given='{ "a": 1 }')
        digest = hashlib.sha256(bytes.fromhex("d9d9f701")).hexdigest()
        self.assert_prints(f"sha256:{digest}\n", "cbor", "hash", "--from", "cbor", given="1801")

    def test_hex_may_have_space_around_it_and_be_in_capitals(self):
        self.assert_prints('"J"\n', "cbor", "decode", given=" \r\n\tD9d9F7614A\n\n")

    def test_strict_accepts_canonical_bytes_only(self):
        self.assert_prints("1\n", "cbor", "decode", given="1801")
        self.assert_prints("1\n", "cbor", "decode", "--strict", given="d9d9f701")
        for given in ("01", "d9d9f71801", "d9d9f70101", ""):
            done = self.run_program("cbor", "decode", "--strict", given=given)
            self.assertEqual((done.stdout, done.returncode), (b"", 1), given)
            self.assertRegex(done.stderr.decode(), r"\Aholdfast: [^\n]+\n\Z")

    def test_strict_is_about_cbor(self):
        self.assert_misused("--strict is about CBOR: it goes with --from cbor", "cbor", "encode", "--strict")
        self.assert_misused("--strict is about CBOR: it goes with --from cbor",
                            "cbor", "decode", "--from", "json", "--strict")

    def test_what_is_no_json_or_hex_is_refused_in_one_line(self):
        for command, given in (("encode", ""), ("encode", "{"), ("encode", "1 2"), ("encode", b"\xff"),
                               ("encode", '{"a":1,"a":2}'), ("encode", "[" * 65 + "]" * 65),
                               ("encode", "18446744073709551616"), ("decode", ""), ("decode", "0"),
                               ("decode", "0g"), ("decode", "ff"), ("decode", "61"), ("decode", "d9d9f7"),
                               ("hash", "nul"), ("decode", "5b7fffffffffffffff00"), ("decode", "01 01")):
            done = self.run_program("cbor", command, given=given)
            self.assertEqual((done.stdout, done.returncode), (b"", 1), given)
            self.assertRegex(done.stderr.decode(), r"\Aholdfast: [^\n]+\n\Z")

    def test_an_error_stays_on_one_line_whatever_the_input_says(self):
        self.write("t.json", '{"record":{}}')
        for key in (r"\n\u001b[31m", r"\u007f"):
            done = self.run_program("cbor", "encode", "--type", "t.json", given='{"%s":1}' % key)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr.count(b"\n"), 1)
            self.assertNotRegex(done.stderr.decode().rstrip("\n"), r"[\x00-\x1f\x7f]")


class Typed(ProgramTest):
    def test_a_type_expression_in_a_file(self):
        self.write("t.json", '{"record":{"a":{"option":{"nat":{}}},"b":{"set":{"text":{}}}}}')
        self.write("t.yaml", "record:\n  a: {option: {nat: {}}}\n  b: {set: {text: {}}}\n")
        for file in ("t.json", "t.yaml"):
            self.assert_prints("d9d9f7a26161f66162826178617a\n", "cbor", "encode", "--type", file,
                               given='{"b":["z","x","z"]}')
            self.assert_prints('{"a":null,"b":["x"]}\n', "cbor", "decode", "--type", file, given="a16162816178")
            self.assert_refuses("holdfast: $.a: expected nat, got text\n", "cbor", "encode", "--type", file,
                                given='{"a":"1","b":[]}')

    def test_a_type_may_refer_to_the_system(self):
        self.write("t.json", '{"list":{"ref":"sys/SecretRef@1"}}')
        self.assert_prints('[{"alias":"a","version":1}]\n', "cbor", "decode", "--from", "json", "--type", "t.json",
                           given='[{"version":1,"alias":"a"}]')

    def test_a_schema_of_a_bundle(self):
        options = ("--type", ORDERS, "--schema", "shop/OrderPlaced@1")
        self.assert_prints(ORDER_DECODED, "cbor", "decode", "--from", "json", *options, given=ORDER)
        encoded = self.run_program("cbor", "encode", *options, given=ORDER).stdout
        self.assert_prints(ORDER_DECODED, "cbor", "decode", "--strict", *options, given=encoded)
        self.assert_refuses("holdfast: $.lines[0].quantity: expected nat, got negative int\n",
                            "cbor", "hash", *options, given=ORDER.replace('"quantity": 2', '"quantity": -2'))

    def test_a_schema_of_one_file(self):
        self.write("b.yaml", "$kind: defschema\nname: a/T@1\ntype: {text: {}}\n")
        self.assert_prints("d9d9f76178\n", "cbor", "encode", "--type", "b.yaml", "--schema", "a/T@1", given='"x"')

    def test_a_schema_of_the_system(self):
        for more in ([], ["--type", ORDERS]):
            self.assert_prints('{"alias":"a","version":1}\n', "cbor", "decode", "--from", "json",
                               "--schema", "sys/SecretRef@1", *more, given='{"version":1,"alias":"a"}')

    def test_a_type_that_cannot_be_used_is_refused_with_all_reasons(self):
        summary = "holdfast: the type cannot be used\n"
        self.write("bad.json", '{"record":{"x":{"txt":{}},"y":{"ref":"a/Y@1"},"z":{"list":{}}}}')
        self.write("ref.json", '{"record":{"x":{"ref":"a/X@1"},"y":{"ref":"a/Y@1"}}}')
        self.write("bundle.json", '{"$kind":"defschema","name":"a/T@1","type":{"ref":"a/X@1"}}')
        self.write("empty/readme.md", "")
        for errors, options in (
                ('  bad.json: $.record.x: unknown type "txt"\n'
                 "  bad.json: $.record.z.list: a type expression has exactly one key\n", ["--type", "bad.json"]),
                ("  ref.json: $.record.x: no schema named 'a/X@1'\n"
                 "  ref.json: $.record.y: no schema named 'a/Y@1'\n", ["--type", "ref.json"]),
                ("  none.json: there is no such file\n", ["--type", "none.json"]),
                ("  none: there is no such file\n", ["--type", "none", "--schema", "a/T@1"]),
                ("  empty: no *.json, *.yaml or *.yml file is in this folder\n",
                 ["--type", "empty", "--schema", "a/T@1"]),
                ("  bundle.json: $.type.ref: there is no defschema named 'a/X@1'\n",
                 ["--type", "bundle.json", "--schema", "a/T@1"]),
                ("  there is no schema named 'sys/None@1'\n", ["--schema", "sys/None@1"]),
                ("  there is no schema named 'sys/timer.set@1'\n", ["--schema", "sys/timer.set@1"]),
                ("  there is no schema named 'shop/None@1'\n", ["--type", ORDERS, "--schema", "shop/None@1"])):
            self.assert_refuses(summary + errors, "cbor", "encode", *options, given="1")

    def test_a_folder_needs_the_name_of_a_schema(self):
        self.assert_misused("--type names a folder, so --schema must say which of its schemas",
                            "cbor", "encode", "--type", ORDERS)


class Limits(ProgramTest):
    """What is too large, or lies about its size, is refused without taking its memory."""

    def test_a_hundred_megabytes_of_brackets(self):
        code, errors = self.assert_bounded((b"[" * (1 << 20) for _ in range(100)), 150, "cbor", "encode")
        self.assertEqual((code, errors), (1, "holdfast: standard input: more than 16777216 bytes"))

    def test_brackets_within_the_limit(self):
        code, errors = self.assert_bounded([b"[" * (16 << 20)], 150, "cbor", "encode")
        self.assertEqual(code, 1)
        self.assertRegex(errors, r"\Aholdfast: \$[^\n]*\Z")

    def test_cbor_that_lies_about_its_length(self):
        for head in ("9b7fffffffffffffff", "bb7fffffffffffffff", "5b7fffffffffffffff", "7affffffff", "9affffffff"):
            code, _ = self.assert_bounded([head.encode() + b"00" * 1000], 50, "cbor", "decode")
            self.assertEqual(code, 1, head)

    def test_a_hundred_megabytes_of_hex(self):
        code, errors = self.assert_bounded((b"00" * (1 << 19) for _ in range(100)), 150, "cbor", "decode")
        self.assertEqual((code, errors), (1, "holdfast: standard input: more than 33558528 bytes"))

    def test_many_small_items(self):
        code, _ = self.assert_bounded([b"[" + b"1," * (7 << 20) + b"1]"], 150, "cbor", "encode")
        self.assertEqual(code, 1)


if __name__ == "__main__":
    main()
