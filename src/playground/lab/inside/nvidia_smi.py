"""A stand-in for nvidia-smi on lab hosts. It says so in its names, and reads every figure of memory from the kernel:

used MiB and charged PIDs are the open-file-description locks on the device files, as /proc/locks lists them. Whom it
names in a row, and whom not, is what nvidia-smi was seen to do on an H200. The one thing that it keeps is what can be set
on a GPU (clocks for applications, power limit, modes), in run/settings.json: nothing real runs faster or slower for it.
"""
import json
import os
import sys
import time

LAB = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESERVED_MIB = 616
DRIVER = "lab-stand-in"
ALIASES = {
    "gpu_name": "name",
    "gpu_uuid": "uuid",
    "gpu_bus_id": "pci.bus_id",
    "process_name": "name",
    "used_gpu_memory": "used_memory",
}
UNITS = {"memory.total": "MiB", "memory.reserved": "MiB", "memory.used": "MiB", "memory.free": "MiB", "used_memory": "MiB"}
UNITS["utilization.gpu"] = "%"
SETTINGS = LAB + "/run/settings.json"
# As an H200 comes (driver 580.159.04).
AS_NEW = {
    "clocks.applications.graphics": "1980",
    "clocks.applications.memory": "3201",
    "power.limit": "700.00",
    "persistence_mode": "Enabled",
    "compute_mode": "Default",
}
COMPUTE_MODES = {"0": "Default", "2": "Prohibited", "3": "Exclusive_Process"}
UNITS.update({"clocks.%sapplications.%s" % (kind, clock): "MHz" for kind in ("", "default_") for clock in ("graphics", "memory")})
UNITS.update({field: "W" for field in ("power.limit", "power.default_limit", "enforced.power.limit")})


def main():
    fault, _, detail = read(LAB + "/control/smi").strip().partition(" ")
    if fault == "hung":
        hang()
    if fault == "garbage":
        sys.stdout.buffer.write(b"\x00\xff\xfe{]] 17,, MiB\n\x1b[2Jnot, a, row\n,,,,,,,\n")
        return 0
    if fault == "failed":
        print("Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 0.0 (lab stand-in)")
        return 18
    if fault == "no-devices":
        print("No devices were found")
        return 6
    options = dict(argument.lstrip("-").partition("=")[::2] for argument in sys.argv[1:])
    gpus = [line.split("\t") for line in read(LAB + "/run/gpus.tsv").splitlines()]
    held = locks(gpus, read(LAB + "/run/control-key"))
    if CHANGES & set(options):
        return change(gpus, sys.argv[1:])
    if "query-gpu" in options:
        broken, _, text = detail.partition(" ") if fault == "gpu-fault" else ("", "", "")
        return table(options, options["query-gpu"], gpu_rows(gpus, held, broken, text))
    if "query-compute-apps" in options:
        return table(options, options["query-compute-apps"], app_rows(gpus, held))
    if "L" in options:
        for gpu in gpus:
            print("GPU %s: %s (UUID: %s)" % (gpu[0], gpu[3], gpu[1]))
        return 0
    print("nvidia-smi: lab stand-in; figures are locks on the device files")
    for row in gpu_rows(gpus, held, "", ""):
        print("%(index)s  %(name)s  %(memory.used)s / %(memory.total)s MiB" % row)
    return 0


def locks(gpus, control):
    """GPU index -> locks (key, start, pid, MiB, exported): start >> 20 is the PID that took the memory, the length its MiB.

    Exported memory hangs on nvidiactl, with the GPU in the bits from 44 on.
    """
    held = {gpu[0]: [] for gpu in gpus}
    index_of = {key: gpu[0] for gpu in gpus for key in gpu[5].split(",")}
    known = set(index_of) | {control}
    for _, _, _, _, key, first, last in listed(known):
        start, end = int(first), int(last)
        exported = key == control
        index = str(start >> 44) if exported else index_of[key]
        if index in held:
            held[index].append((key, start, start >> 20 & 0xFFFFFF, end - start + 1, exported))
    return held


def listed(known):
    """The locks of these files, in order of their places.

    The kernel lists a page at a time and finds its place again by counting: a lock that comes or goes anywhere on the
    machine meanwhile shows another twice, or hides it. So it is read until two readings say the same.
    """
    now = []
    for reading in range(8):
        last = now
        with open("/proc/locks") as file:
            rows = [line.split()[1:8] for line in file]
        now = sorted(row for row in rows if row[0] == "OFDLCK" and row[4] in known)
        if reading and now == last:
            return now
    # Never the same: what was hidden from one of them must not look free.
    return now + [row for nth, row in enumerate(last) if last[: nth + 1].count(row) > now.count(row)]


def gpu_rows(gpus, held, broken, text):
    utilization = dict(line.split() for line in read(LAB + "/control/utilization").splitlines())
    for index, uuid, bus, name, total, _, _ in gpus:
        used = sum(lock[3] for lock in held[index])
        row = {
            "index": index,
            "uuid": uuid,
            "pci.bus_id": bus,
            "name": name,
            "memory.total": total,
            "memory.reserved": str(RESERVED_MIB),
            "memory.used": str(used),
            "memory.free": str(int(total) - RESERVED_MIB - used),
            "utilization.gpu": utilization.get(index, "0"),
            "clocks.default_applications.graphics": AS_NEW["clocks.applications.graphics"],
            "clocks.default_applications.memory": AS_NEW["clocks.applications.memory"],
            "power.default_limit": AS_NEW["power.limit"],
            **settings_of(uuid),
            "enforced.power.limit": settings_of(uuid)["power.limit"],
            "mig.mode.current": "Disabled",
            "ecc.mode.current": "Enabled",
            "ecc.errors.uncorrected.aggregate.total": "0",
            "display_active": "Disabled",
            "driver_version": DRIVER,
            "ecc.errors.uncorrected.volatile.total": "0",
            "gpu_recovery_action": "None",
            "count": str(len(gpus)),
            "serial": "[N/A]",
            "timestamp": time.strftime("%Y/%m/%d %H:%M:%S.000"),
        }
        if index == broken:
            kept = ("index", "uuid", "pci.bus_id", "name", "driver_version")
            row = {field: value if field in kept else text for field, value in row.items()}
        yield row


CHANGES = {"pm", "pl", "ac", "rac", "c", "lgc", "lmc", "rgc", "rmc"}


def settings_of(uuid):
    return {**AS_NEW, **json.loads(read(SETTINGS) or "{}").get(uuid, {})}


def change(gpus, words):
    """`-i ID[,ID…]` (index, UUID or bus id) and one change with its value, as nvidia-smi takes them. Locked clocks are taken and, as there, told by no field."""
    options = {words[at].lstrip("-"): (words + [""])[at + 1] for at in range(len(words)) if words[at].startswith("-")}
    wanted = options.pop("i", None)
    named = wanted.split(",") if wanted is not None else None
    chosen = [gpu for gpu in gpus if named is None or {gpu[0], gpu[1], gpu[2]} & set(named)]
    if not chosen or (named is not None and len(chosen) < len(set(named))):
        print("No devices were found")
        return 6
    if len(options) != 1 or not CHANGES & set(options):
        print("Invalid combination of input arguments. (lab stand-in)")
        return 2
    [(what, value)] = options.items()
    changes = changes_of(what, value)
    if changes is None:
        print("Invalid value for %s: %s (lab stand-in)" % (what, value))
        return 2
    kept = json.loads(read(SETTINGS) or "{}")
    for gpu in chosen:
        kept[gpu[1]] = {**kept.get(gpu[1], {}), **changes}
        print("%s set for GPU %s. (lab stand-in)" % (what, gpu[2]))
    with open(SETTINGS + ".new", "w") as file:
        json.dump(kept, file)
    os.replace(SETTINGS + ".new", SETTINGS)
    print("All done.")
    return 0


def changes_of(what, value):
    """Field -> value; None for a value that does not read."""
    try:
        if what == "pl":
            return {"power.limit": "%.2f" % float(value)} if 200 <= float(value) <= 700 else None
        if what == "pm":
            return {"persistence_mode": {"0": "Disabled", "1": "Enabled"}[value]}
        if what == "c":
            return {"compute_mode": COMPUTE_MODES.get(value) or {name.upper(): name for name in COMPUTE_MODES.values()}[value]}
        if what == "ac":
            memory, graphics = (str(int(part)) for part in value.split(","))
            return {"clocks.applications.memory": memory, "clocks.applications.graphics": graphics}
    except (KeyError, ValueError):
        return None
    return {field: AS_NEW[field] for field in AS_NEW if field.startswith("clocks.")} if what == "rac" else {}


def app_rows(gpus, held):
    for index, uuid, bus, gpu_name, _, _, device in gpus:
        for pid, mib in sorted(bills(held[index]).items()):
            name = process_name(pid, device)
            if name is not None:
                yield {"uuid": uuid, "pid": str(pid), "name": name, "used_memory": str(mib), "pci.bus_id": bus, "gpu_name": gpu_name}


def bills(taken):
    """pid -> MiB of one GPU: whoever took it; after its death who imported it; and nobody for exported memory without its maker."""
    users = {pid for _, _, pid, _, exported in taken if not exported and os.path.exists("/proc/%d" % pid)}
    billed = {}
    for key, start, pid, mib, exported in taken:
        if exported and pid not in users:
            continue
        if pid not in users:
            pid = next((user for user in sorted(users) if keeps(user, key, start)), pid)
        billed[pid] = billed.get(pid, 0) + mib
    return billed


def keeps(pid, key, start):
    """True if one of the open files of this process carries that lock (proc_pid_fdinfo(5), lines "lock:")."""
    folder = "/proc/%d/fdinfo/" % pid
    try:
        for fd in os.listdir(folder):
            for line in read(folder + fd).splitlines():
                if line.startswith("lock:") and line.split()[6:8] == [key, str(start)]:
                    return True
    except OSError:
        pass
    return False


def process_name(pid, device):
    """As the driver was seen to name it; None for a process that has only a mapping left, which gets no row."""
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            state = file.read().rsplit(b")", 1)[1].split()[0]
        if state == b"Z":
            return "[No data]"
        if only_mapped(pid, device):
            return None
        with open("/proc/%d/cmdline" % pid, "rb") as file:
            return file.read().split(b"\0")[0].decode("utf-8", "replace")
    except OSError:
        return "[Not Found]"


def only_mapped(pid, device):
    folder = "/proc/%d/fd/" % pid
    try:
        for fd in os.listdir(folder):
            try:
                if os.readlink(folder + fd) == device:
                    return False
            except FileNotFoundError:
                continue
        with open("/proc/%d/maps" % pid) as file:
            return any(line.rstrip().endswith(device) for line in file)
    except PermissionError:
        return False


def table(options, fields, rows):
    wanted = fields.split(",")
    form = options.get("format", "")
    known = list(rows)
    names = [ALIASES.get(field.strip(), field.strip()) for field in wanted]
    if "query-compute-apps" in options:
        names = ["gpu_name" if field.strip() == "gpu_name" else name for field, name in zip(wanted, names)]
        valid = {"timestamp", "gpu_name", "pci.bus_id", "uuid", "pid", "name", "used_memory"}
    else:
        valid = set(next(iter(known), {}))
    for field, name in zip(wanted, names):
        if name not in valid:
            print('Field "%s" is not a valid field to query.\n' % field.strip())
            return 2
    if "noheader" not in form:
        print(", ".join(w.strip() + (" [%s]" % UNITS[n] if n in UNITS else "") for w, n in zip(wanted, names)))
    for row in known:
        print(", ".join(shown(row.get(name, "[N/A]"), name, form) for name in names))
    return 0


def shown(value, name, form):
    return value + " " + UNITS[name] if name in UNITS and "nounits" not in form and value[:1].isdigit() else value


def hang():
    """Until the fault is taken back or the lab is gone; like a call stuck in a driver it does not hear TERM."""
    import signal

    for name in ("TERM", "INT", "HUP", "PIPE"):
        signal.signal(getattr(signal, "SIG" + name), signal.SIG_IGN)
    while read(LAB + "/control/smi").startswith("hung"):
        time.sleep(0.05)


def read(path):
    try:
        with open(path) as file:
            return file.read()
    except OSError:
        return ""


sys.exit(main())
