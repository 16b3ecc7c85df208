# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154 # one text with the files beside it: variables are shared
# The lightest look there is, for the middle of a measurement: memory and load of each GPU, and whom the driver bills. Two
# calls of nvidia-smi side by side, no process is read. Read-only.
#
# Contract:
#   sample   prints the sections `usage` and `bills` (as `gpus` and `charges` in smi.sh) and `sample`: "boot_id X", and
#            "took FROM TO", the host's uptime before and after. Needs frame.sh, side.sh, facts.sh, smi.sh and NONCE.

sample_main() {
  frame_open sample 1
  sample
  frame_close 0
}

sample() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  p_read_status self
  p_euid=$p_uid
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_may_ask
  p_start 3 usage 4 bills -- p_end_sample
  return 0
)

p_end_sample() {
  p_read_smi 3
  p_read_smi 4
  frame_begin sample
  read -r p_boot </proc/sys/kernel/random/boot_id
  read -r p_now _ </proc/uptime
  echo "boot_id $p_boot"
  echo "took $p_began_at $p_now"
  frame_end sample 0
} 2>/dev/null

p_side_usage() {
  frame_begin usage
  [ -z "$p_refusal" ] || say "$p_refusal"
  [ -n "$p_refusal" ] || p_ask_smi query-gpu "$p_usage_fields"
  frame_end usage "$p_rc"
}

p_side_bills() {
  frame_begin bills
  [ -z "$p_refusal" ] || say "$p_refusal"
  [ -n "$p_refusal" ] || p_ask_smi query-compute-apps "$p_charge_fields"
  frame_end bills "$p_rc"
}
