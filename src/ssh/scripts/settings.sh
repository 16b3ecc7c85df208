# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154 # one text with the files beside it: variables are shared
# What a profiling campaign leaves behind beside memory: clocks for applications, power limits, modes, what ECC counted;
# profilers that still run, and their reports. Read-only.
#
# Contract:
#   settings FOLDER…   prints the sections `host`, `profilers`, `files` and `settings` (that one as `gpus` in smi.sh), neither
#                      BEGIN nor END. Reports are sought in these folders, where profilers work, and where they have files open, for two seconds in all,
#                      never on another file system than the folder's own. Needs frame.sh, side.sh, scan.sh, smi.sh, facts.sh,
#                      probe.sh (p_host) and NONCE. The folders come from ../settings-script.ts: absolute, on one line.

settings_main() {
  frame_open settings 1
  settings "$@"
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
  p_folders=''
  for p_folder in "$@"; do p_folders="$p_folders$p_folder$p_nl"; done
  p_host
  p_find_profilers
  p_may_ask
  p_start 3 settings 4 files -- p_read_settings
  return 0
)

p_read_settings() {
  p_read 4 4 60000
  p_read_smi 3
} 2>/dev/null

# "stat LINE" and "cwd FOLDER" for each, a newline in either as `?`. By their short names: what nsys and ncu start to watch
# a program is called after them.
p_find_profilers() {
  frame_begin profilers
  p_profilers='' p_opened='' p_count=0
  # shellcheck disable=SC2013
  for p_file in $(grep -lasE -e '^(nsys|ncu)(-|$)' -e '^(nv-)?nsight' -e '^dcgmproftester' /proc/[0-9]*/comm); do
    p_pid=${p_file#/proc/} p_pid=${p_pid%/comm}
    [ "$p_count" -lt 16 ] || break
    p_count=$((p_count + 1)) p_profilers="$p_profilers $p_pid"
    say "stat $(tr '\n' '?' <"/proc/$p_pid/stat")"
    say "cwd $(readlink -n "/proc/$p_pid/cwd" | tr '\n' '?')"
    p_note_opened
  done
  frame_end profilers 0
} 2>/dev/null

# Adds "PID FOLDER" to p_opened for the folders of the files that $p_pid has open, a few, a newline in either as `?`: such a
# folder is then not found, and said so. What the kernel makes up is no file.
p_note_opened() {
  p_folder_list=$(timeout 1 find "/proc/$p_pid/fd" -maxdepth 1 -type l -printf '%l\0' | head -c 60000 | tr '\n\0' '?\n' |
    sed -n -e '/^\/\(proc\|sys\|dev\)\//d' -e 's|^\(/.*\)/[^/]*$|\1|p' | sort -u | head -n 8)
  set -f
  IFS=$p_nl
  for p_folder in $p_folder_list; do p_opened="$p_opened$p_pid $p_folder$p_nl"; done
  unset IFS
  set +f
}

p_side_files() {
  frame_begin files
  set -f
  IFS=$p_nl
  for p_folder in $p_folders; do p_seek "$p_folder" "$p_folder"; done
  unset IFS
  # By way of the process: its folder is that of its own mounts.
  for p_pid in $p_profilers; do p_seek "/proc/$p_pid/cwd/." "@$p_pid"; done
  IFS=$p_nl
  for p_entry in $p_opened; do p_seek "/proc/${p_entry%% *}/root${p_entry#* }/." "${p_entry#* }"; done
  unset IFS
  set +f
  frame_end files 0
}

# p_seek FOLDER NAME: "@in NAME", then "MTIME BYTES PATH" a line, a newline in a path as `?`, and "@rc N".
p_seek() {
  say "@in $2"
  read -r p_now _ </proc/uptime
  if [ "${p_now%%.*}" -gt $((p_began + 2)) ]; then
    echo '@rc 124'
    return
  fi
  {
    timeout 2 find "$1" -xdev -type f \( -name '*.nsys-rep' -o -name '*.ncu-rep' -o -name '*.qdrep' \
      -o -name '*trace*.json' -o -name '*trace*.json.gz' \) -printf '%T@ %s %P\0'
    echo "@rc $?"
  } 2>/dev/null | tr '\n\0' '?\n' | sed 's/^\(@rc [0-9]*\)?$/\1/' | head -c 20000
  echo
}

p_side_settings() {
  frame_begin settings
  [ -z "$p_refusal" ] || say "$p_refusal"
  if [ -z "$p_refusal" ]; then
    p_ask_smi query-gpu "$p_settings_fields"
    [ "$p_rc" != 2 ] || p_ask_smi query-gpu "$p_settings_fields_old"
  fi
  frame_end settings "$p_rc"
}
