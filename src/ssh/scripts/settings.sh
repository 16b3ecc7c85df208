# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What somebody may have set on the GPUs and forgotten: clocks for applications, power limit, modes, and what ECC counted.
# Read-only.
#
# Contract:
#   settings      prints the sections `host` and `settings` (the shape of `gpus` in smi.sh), neither BEGIN nor END. Needs
#                 frame.sh, side.sh, scan.sh, smi.sh, facts.sh, probe.sh (p_host) and NONCE.

settings_main() {
  frame_open settings 1
  settings
  frame_close 0
}

settings() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  p_read_status self
  p_euid=$p_uid
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_host
  p_may_ask
  p_start 3 settings -- p_read_settings
  return 0
)

p_read_settings() { p_read_smi 3; }

p_side_settings() {
  frame_begin settings
  [ -z "$p_refusal" ] || say "$p_refusal"
  if [ -z "$p_refusal" ]; then
    p_ask_smi query-gpu "$p_settings_fields"
    [ "$p_rc" != 2 ] || p_ask_smi query-gpu "$p_settings_fields_old"
  fi
  frame_end settings "$p_rc"
}
