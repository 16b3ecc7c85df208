# shellcheck shell=sh
# The marker lines that turn one exec's output into named sections. Sourced as text in front of every other script.
#
# Contract:
#   NONCE                       32 hex digits, set by the caller (`NONCE=…` in the stdin text, never in argv or environment:
#                               /proc/PID/cmdline is open to all, and who knows the nonce can forge a section)
#   frame_open KIND VERSION     prints "\n@@NONCE BEGIN KIND VERSION\n", once, first
#   frame_begin NAME            prints "\n@@NONCE begin NAME\n"; the section's body follows, raw bytes allowed
#   frame_end NAME RC           prints "\n@@NONCE end NAME RC\n"; a section without it is incomplete, never empty
#   frame_close RC              prints "\n@@NONCE END RC\n", once, last; without it the whole answer is incomplete
# NAME and KIND are [A-Za-z0-9._-]+, RC and VERSION are digits. A NAME may come more than once: bodies are then read in order.
# The newline in front of each marker belongs to the marker: text that lacks a final newline can't hide it.
#
# `echo`, not `printf`: mksh has no printf of its own, and the nonce must not stand in the argv of /usr/bin/printf.

frame_open() { echo && echo "@@$NONCE BEGIN $1 $2"; }
frame_begin() { echo && echo "@@$NONCE begin $1"; }
frame_end() { echo && echo "@@$NONCE end $1 $2"; }
frame_close() { echo && echo "@@$NONCE END $1"; }

# Text of any kind, one newline at its end, by a builtin: it may be longer than one argument may be.
say() {
  if [ -n "${KSH_VERSION-}" ]; then
    # shellcheck disable=SC3061
    print -r -- "$1"
  else
    printf '%s\n' "$1"
  fi
}
