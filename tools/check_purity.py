#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shows that archives of pure code can only compute: whatever they import is on a list of things
that depend on their arguments alone, and they hold no writable globals, which would be an input
nobody passed.

The list names what is allowed. A symbol that nobody thought of is therefore a finding, not a gap.
Our own `base` is trusted: its CHECK prints before it aborts, its HashOfHash draws a key once.

usage: check_purity.py ARCHIVE...     (of a build without sanitizers)
"""
import re
import subprocess
import sys

PURE_FOLDERS = "base|codec|defs|flows|kernel|native|schedules|steps|tasks"

# On demangled names, whole.
ALLOWED = re.compile(
    rf"""
      (?:(?:vtable|typeinfo|typeinfo\ name|guard\ variable)\ for\ )?holdfast::(?:{PURE_FOLDERS})::.*
    # Memory.
    | mem(?:cpy|move|set|cmp|chr|rchr)(?:_chk)? | __mem(?:cpy|move|set)_chk | strlen | bcmp
    | (?:m|c|re)alloc | free
    | operator\ (?:new|delete)(?:\[\])?\(.*\) | std::nothrow
    # The library's containers and texts, as far as they are not templates in our own object.
    | std::__throw_\w+\(.*\)
    | std::(?:__cxx11::)?basic_string<char,.*
    | std::_Hash_bytes\(.*\) | std::__detail::_Prime_rehash_policy::.*
    | std::_Rb_tree_\w+\(.*\) | std::__detail::_List_node_base::.*
    | std::_Sp_make_shared_tag::_S_eq\(.*\)
    | (?:vtable\ for\ )?std::pmr::monotonic_buffer_resource(?:::.*)? | std::pmr::new_delete_resource\(\)
    | std::to_chars\(.*\) | std::from_chars\(.*\)
    # Arithmetic which IEEE 754 defines to the last bit.
    | (?:floor|ceil|trunc|round|fabs|fmod|sqrt|fma|ldexp|scalbn|frexp|modf|copysign)f?
    # The compiler: stops, virtual calls, wide integers, and the hint by which a shared_ptr
    # counts without atomics.
    | abort | std::terminate\(\) | std::__glibcxx_assert_fail\(.*\) | __stack_chk_fail
    | __cxa_pure_virtual | __cxa_guard_(?:acquire|release)
    | __u?(?:div|mod|divmod)ti\d | __(?:popcount|clz|ctz)[dt]i2
    | _GLOBAL_OFFSET_TABLE_ | __libc_single_threaded
    """,
    re.VERBOSE)

# Writable globals that are no input: each is computed once from constants and never changes.
CONSTANTS = {"holdfast::defs::builtin_catalogue()::compiled"}

# Why a symbol that is not allowed is not: only for the message.
KINDS = [(kind, re.compile(pattern)) for kind, pattern in {
    "clock": r"(clock_\w+|gettimeofday|time|ftime|(local|gm|mk)time(_r)?|nanosleep|u?sleep"
             r"|timer_\w+|std::chrono::.*)$",
    "random": r"(getrandom|getentropy|s?rand(om)?(_r)?|[dlm]rand48|arc4random\w*|std::random_device.*)$",
    "file": r"(open(at)?(64)?|close|p?(read|write)v?(64)?|f?(open|close|read|write|flush|seek|tell)o?(64)?"
            r"|f?sync|fdatasync|l?f?stat(64|x|at)?|unlink(at)?|rename(at)?|mkdir(at)?|mmap(64)?"
            r"|(__)?v?[fs]?n?printf(_chk)?|puts|f?putc|putchar|std(in|out|err)|std::filesystem::.*"
            r"|std::(c(out|in|err|log)|ios_base.*|basic_\w*(stream|filebuf).*))$",
    "socket": r"(socket(pair)?|connect|bind|listen|accept4?|(send|recv)(to|from|m?msg)?|p?poll|p?select"
              r"|epoll_\w+|getaddrinfo)$",
    "thread": r"(pthread_\w+|__gthr\w*|sem_\w+|futex|syscall|std::(jthread|thread|mutex|condition_variable).*"
              r"|std::__once.*)$",
    "thread-local state": r"(__tls_get_addr|TLS .*)$",
    "locale": r"(setlocale|localeconv|std::locale.*|strto\w+|ato[fil]+|(is|to)(alpha|digit|upper|lower|space)"
              r"|__ctype_\w+)$",
    "environment": r"((secure_)?getenv|environ|getpid|gethostname|uname|sysconf|__cpu_\w+)$",
    "exception": r"(__cxa_(throw|begin_catch|end_catch|rethrow|allocate_exception)|_Unwind_\w+"
                 r"|__gxx_personality_v0)$",
    "global destructor": r"(__cxa_atexit|__dso_handle|atexit)$",
    "arithmetic that differs between libraries in the last bit":
        r"(pow|exp(2|10|m1)?|log(2|10|1p)?|a?(sin|cos|tan)h?|atan2|sincos|cbrt|hypot|[lt]gamma)[fl]?$",
    "impure folder of ours": r".*\bholdfast::",
}.items()]

SYMBOL = re.compile(r"[0-9a-f]+ (.{7}) (\S+)\t[0-9a-f]+ +(?:\.hidden )?(.+)")
MEMBER = re.compile(r"(\S+):\s+file format ")


def read_symbols(archive):
    """Yields (object, flags, section, name); a section of *UND* marks an import."""
    listing = subprocess.run(["objdump", "-t", archive], check=True, text=True, capture_output=True)
    member = ""
    for line in listing.stdout.splitlines():
        if match := MEMBER.match(line):
            member = match.group(1)
        elif match := SYMBOL.match(line):
            yield member, *match.groups()


def demangle(names):
    names = sorted(names)
    out = subprocess.run(["c++filt"], check=True, text=True, input="\n".join(names), capture_output=True)
    return dict(zip(names, out.stdout.splitlines()))


def kind_of(symbol):
    return next((kind for kind, pattern in KINDS if pattern.match(symbol)), "not on the allow-list")


def is_writable(section):
    return (section == "*COM*" or re.match(r"\.(bss|data|tbss|tdata)\b", section)
            and not section.startswith(".data.rel.ro"))


def check_archive(archive):
    symbols = list(read_symbols(archive))
    if not symbols:
        return [f"{archive}: has no symbols"]
    demangled = demangle({name for *_, name in symbols})
    if any(re.match(r"__(asan|tsan|ubsan|sanitizer)_", name) for *_, name in symbols):
        return [f"{archive}: is built with a sanitizer; check the archives of the release build"]
    defined = {name for _, _, section, name in symbols if section != "*UND*"}

    findings = set()
    for member, flags, section, name in symbols:
        symbol = demangled[name]
        if section == "*UND*":
            if name not in defined and not ALLOWED.fullmatch(symbol):
                findings.add(f"{archive}({member}): imports {symbol} [{kind_of(symbol)}]")
        elif is_writable(section) and "d" not in flags:  # d: the name of the section itself
            if symbol not in CONSTANTS and not symbol.startswith(("guard variable for ", "DW.ref.")):
                findings.add(f"{archive}({member}): holds the writable global {symbol} [{section}]")
    return sorted(findings)


def main(archives):
    if not archives:
        print("usage: check_purity.py ARCHIVE...", file=sys.stderr)
        return 2
    findings = [finding for archive in archives for finding in check_archive(archive)]
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
