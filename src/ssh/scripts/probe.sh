# shellcheck shell=sh
# The read-only look at one host. Needs sh, coreutils, findutils, grep and, for the GPUs, nvidia-smi. Writes no file.
#
# Contract:
#   probe DEVICE_FOLDER N_LITERALS literal… pid…
#       prints the sections (frame_begin/frame_end), neither BEGIN nor END; always returns 0, each section carries its own
#       exit code. Needs frame.sh and NONCE; reads nothing from stdin. The words come from `probeWords()` of
#       ../probe-script.ts, already checked and quoted: DEVICE_FOLDER of [A-Za-z0-9._/-], literals as basic regular
#       expressions (blanks as `.`, because words of a command line are separated by NUL).
#       A script that calls it as its closing probe is concatenated as `probeFunctions()` (all files that it needs, frame.sh
#       first) + its own text.
#   Variables and functions that begin with p_ or smi_ belong to it, and so do the file descriptors 3 to 9 while it runs
#   (inside its own subshell; nothing of the caller's is changed).
