
# Computes cases: see the type language in foreign.go. The rules are above.
import sys


def name_of(word):
    kind, n = word[0], int(word[1:])
    if kind == "f":
        return struct.unpack("<d", struct.pack("<q", n))[0]
    return texts[n] if kind == "t" else n != 0 if kind == "b" else n


def brackets(numbers):
    return "[%s]" % " ".join(map(str, numbers or []))


def show_value(v):
    return "x" + v.hex() if isinstance(v, bytes) else "%d bytes" % v.bytes if isinstance(v, LocalMemory) else str(v)


def launches_of(rules, names):
    buffers = {name: i for i, name in enumerate(rules.buffers)}
    try:
        launches = nd_launches(rules, names, buffers)
    except ValueError:
        assert list(buffers.values()) == list(range(len(buffers)))
        raise
    text = "".join(
        "%d%s%s %s %s " % (l.kernel, l.name, brackets(l.global_size), brackets(l.local_size), brackets(l.offset)) +
        "".join("%s=%s " % (a.name, show_value(a.value)) for a in l.arguments) + "; " for l in launches)
    return text + "".join("%d " % buffers[name] for name in rules.buffers)


def compute(rules, how, names):
    names = names + [0] * 8  # indices of loops
    if how == "r":
        return " ".join(map(brackets, nd_ndrange(rules, rules.steps[0], names)))
    if how == "l":
        return launches_of(rules, names)
    if how == "s":
        known = nd_buffers_bytes(rules, names)
        return brackets([known.get(name, 0) for name in rules.buffers])
    v = nd_evaluate(rules, 0, names)
    assert type(v) is {"i": int, "f": float, "b": bool, "t": str}[how], (how, v)
    if how == "b":
        return "true" if v else "false"
    if how == "f":
        return "nan" if v != v else "%016x" % struct.unpack("<Q", struct.pack("<d", v))
    return str(v)


for line in sys.stdin:
    number, how, _, *words = line.split()
    try:
        print(compute(cases[int(number)], how, [name_of(word) for word in words]))
    except ValueError:
        print("!")
