# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154 # one text with the files beside it: variables are shared
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
#   Variables and functions that begin with p_ belong to it, and so do the file descriptors 3 to 9 while it runs (inside
#   its own subshell; nothing of the caller's is changed).
#
# Everything runs at once (side.sh). The facts of the holders are read while nvidia-smi is still at work.

probe_main() {
  frame_open probe 1
  probe "$@"
  frame_close 0
}

probe() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  p_dev=$1 p_count=$2 p_patterns=
  shift 2
  while [ "$p_count" -gt 0 ]; do
    p_patterns="$p_patterns${p_patterns:+$p_nl}$1" p_count=$((p_count - 1))
    shift
  done
  p_wanted=$*
  p_read_status self
  p_euid=$p_uid
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_start 3 even 4 odd 5 maps 6 matches 7 zombies -- p_start_smi
  return 0
)

p_start_smi() {
  p_may_ask
  p_start 8 gpus 9 charges -- p_look
}

p_look() {
  p_host
  frame_begin own
  p_own
  frame_end own 0
  p_holders=''
  for p_fd in 5 7 3 4; do
    p_text=$(p_read "$p_fd" 8 300000)
    say "$p_text"
    p_holders="$p_holders$p_text"
  done
  p_matches=$(p_read 6 8 200000)
  say "$p_matches"

  p_all=' ' p_room=256 p_left_out=0 p_uids=' ' p_live=' '
  p_note_threads "$p_holders"
  p_add $$
  for p_pid in $p_wanted; do p_add "$p_pid"; done
  p_add_lines "$p_holders"
  p_add_kin
  p_left_out_holders=$p_left_out
  # A literal may be in half of all command lines: that costs no holder its facts, and leaves room for the charged.
  p_room=$((p_room / 2))
  p_spare=$p_room
  p_add_lines "$p_matches"
  p_add_kin
  p_left_out_matches=$((p_left_out - p_left_out_holders)) p_left_out=$p_left_out_holders
  p_known=$p_all
  # While nvidia-smi is at work: its two sides keep 8 and 9, so this runs with 3 and 4, read to their end above.
  # shellcheck disable=SC2086
  p_facts $p_known

  p_read_smi 8
  p_charges=$(p_read_smi 9)
  say "$p_charges"
  p_all=$p_known p_room=$((p_room + p_spare))
  p_add_charged "$p_charges"
  p_add_kin
  # shellcheck disable=SC2086
  p_facts ${p_all#"$p_known"}
  frame_begin limits
  echo "left_out $p_left_out"
  echo "left_out_matches $p_left_out_matches"
  frame_end limits 0
}

p_host() {
  frame_begin host
  read -r p_boot </proc/sys/kernel/random/boot_id
  read -r p_kernel </proc/sys/kernel/osrelease
  echo "boot_id $p_boot"
  echo "uptime $p_began_at"
  echo "clock_ticks $(getconf CLK_TCK || echo 100 assumed)"
  echo "euid $p_euid"
  echo "kernel $p_kernel"
  readlink /proc/self/ns/pid
  # The daemons live where PID 1 does; a login may have a mount namespace of its own (pam_namespace(8)).
  readlink /proc/1/ns/mnt || readlink /proc/self/ns/mnt
  grep -as ' /proc proc ' /proc/mounts
  frame_end host 0
} 2>/dev/null
