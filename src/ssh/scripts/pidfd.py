# The same as pidfd.pl, word for word in what it takes and says, for hosts without perl. Needs Python 3.9.
import os, re, signal, sys

checks, words = sys.argv[1], sys.argv[2:]
common, words = words[:7], words[7:]
limit = (int(common[0]), int(common[1]))
nonce = sys.stdin.readline().strip()
try:
    os.close(os.pidfd_open(os.getpid()))
    send = signal.pidfd_send_signal
except (AttributeError, OSError):
    sys.exit(75)


def check(order):
    out, into = os.pipe()
    argv = ["sh", "-c", checks + '\ncheck_and_say "$@"', "sh"] + common + order
    child = os.posix_spawnp("sh", argv, os.environ, file_actions=[(os.POSIX_SPAWN_DUP2, into, 1)])
    os.close(into)
    with os.fdopen(out) as said:
        line = said.readline()
    os.waitpid(child, 0)
    match = re.fullmatch(r"([a-z-]+) (\S+)\n", line)
    return match.groups() if match else ("failed", "check-did-not-run")


def refusal(errno):
    return {3: ("gone", "-"), 1: ("not-permitted", "-")}.get(errno, ("failed", "errno-%d" % errno))


def uptime():
    with open("/proc/uptime") as file:
        return tuple(file.read().split()[0].split("."))


def say_line(words):
    try:
        os.write(1, ("@@%s e %s\n" % (nonce, words)).encode())
    except OSError:
        os._exit(98)


sent = False
for at in range(0, len(words), 6):
    order = words[at : at + 6]
    pid, name = int(order[0]), order[4]
    handle, errno = -1, 0
    try:
        handle = os.pidfd_open(pid)
    except OSError as error:
        errno = error.errno
    verdict, detail = check(order)
    now = uptime()
    if verdict == "go":
        # Is anybody still there to hear of it? The limit is looked at after this write, which may have had to wait.
        say_line("heartbeat %s%s0" % now)
        now = uptime()
        if (int(now[0]), int(now[1])) >= limit:
            verdict = "late"
        elif handle < 0:
            verdict, detail = refusal(errno)
        else:
            try:
                send(handle, getattr(signal, name))
                verdict, sent = "sent", True
            except OSError as error:
                verdict, detail = refusal(error.errno)
    say_line("order %d %s %s %s%s0 pidfd %s" % (pid, name, verdict, now[0], now[1], detail))
    if handle >= 0:
        os.close(handle)
sys.exit(0 if sent else 3)
