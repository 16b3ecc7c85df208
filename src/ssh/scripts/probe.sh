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
# Everything runs at once: what takes long stands on the left of a pipe, in the background, so that a child that can't be
# killed never holds us; the right side reads each pipe to a deadline.

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
  p_ticks=$(getconf CLK_TCK 2>/dev/null) || p_ticks=''
  p_read_status self
  p_euid=$p_uid
  read -r p_began _ </proc/uptime
  p_host "$p_began"
  p_began=${p_began%%.*} p_ticks=${p_ticks:-100}
  { p_scan_fds even 2>/dev/null & } | {
    exec 3<&0 </dev/null
    { p_scan_fds odd 2>/dev/null & } | {
      exec 4<&0 </dev/null
      p_may_ask 2>/dev/null
      { p_smi gpus 2>/dev/null & } | {
        exec 5<&0 </dev/null
        { p_smi charges 2>/dev/null & } | {
          exec 6<&0 </dev/null
          { p_minors 2>/dev/null & } | {
            exec 7<&0 </dev/null
            p_look "$@"
          }
        }
      }
    }
  }
  return 0
)

p_host() {
  frame_begin host
  read -r p_boot </proc/sys/kernel/random/boot_id
  read -r p_kernel </proc/sys/kernel/osrelease
  echo "boot_id $p_boot"
  echo "uptime $1"
  echo "clock_ticks ${p_ticks:-100 assumed}"
  echo "euid $p_euid"
  echo "kernel $p_kernel"
  readlink /proc/self/ns/pid /proc/self/ns/mnt
  grep -as ' /proc proc ' /proc/mounts
  frame_end host 0
}

p_minors() {
  grep -asH -e '^GPU UUID:' -e '^Device Minor:' -e '^Bus Location:' /proc/driver/nvidia/gpus/*/information
  echo "@rc $?"
}

# p_put NAME TEXT: a section whose exit code is the last "@rc" of its text; 124 without one.
p_put() {
  p_rc=124
  case $p_nl$2 in *"$p_nl@rc "*) p_rc=${2##*"@rc "} ;; esac
  frame_begin "$1"
  say "$2"
  frame_end "$1" "$p_rc"
}

p_look() {
  p_maps=$(p_scan_maps 2>/dev/null)
  p_matches=$(p_scan_matches "$p_patterns" 2>/dev/null)
  p_zombies=$(p_scan_zombies 2>/dev/null)
  p_put maps "$p_maps"
  p_put matches "$p_matches"
  p_put zombies "$p_zombies"
  frame_begin own
  p_own
  frame_end own 0

  p_all=' ' p_room=512 p_left_out=0
  p_add_zombie_leaders "$p_zombies"
  # shellcheck disable=SC2086
  p_threads=$(p_scan_threads $p_all 2>/dev/null)
  p_put threads "$p_threads"

  p_gpus=$(p_read_smi <&5)
  p_put gpus "$p_gpus"
  p_charges=$(p_read_smi <&6)
  p_put charges "$p_charges"
  p_put minors "$(timeout 1 cat <&7 | head -c 60000)"
  p_even=$(timeout 8 cat <&3 | head -c 300000)
  p_odd=$(timeout 8 cat <&4 | head -c 300000)
  p_put fds "$p_even"
  p_put fds "$p_odd"

  p_all=' ' p_room=256 p_left_out=0
  p_add $$
  for p_pid; do p_add "$p_pid"; done
  p_add_lines "$p_even"
  p_add_lines "$p_odd"
  p_add_lines "$p_maps"
  p_add_lines "$p_threads"
  p_add_charged "$p_charges"
  p_add_kin
  p_left_out_holders=$p_left_out
  # A literal may be in half of all command lines: that costs no holder its facts.
  p_add_lines "$p_matches"
  p_add_kin
  # shellcheck disable=SC2086
  p_facts $p_all
  frame_begin limits
  echo "left_out $p_left_out_holders"
  echo "left_out_matches $((p_left_out - p_left_out_holders))"
  frame_end limits 0
}

# Zombies with more than one thread, from "/proc/PID/status:Threads:<tab>N" lines.
p_add_zombie_leaders() {
  for p_line in $1; do
    case $p_line in
    */status:Threads:) p_pid=${p_line#/proc/} p_pid=${p_pid%%/*} ;;
    [2-9] | [1-9][0-9]*) p_add "$p_pid" ;;
    esac
  done
}

p_facts() {
  { p_plain_facts "$@" 2>/dev/null & } | {
    exec 8<&0 </dev/null
    { p_slow_facts "$@" 2>/dev/null & } | {
      exec 9<&0 </dev/null
      p_words "$@" 2>/dev/null
      timeout 4 cat <&8 | head -c 400000
      timeout 3 cat <&9 | head -c 100000
    }
  }
}
