# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# What single processes, and those below them, have open for writing: two looks, half a second apart. Writes no file.
#
# Contract:
#   writes PID…     prints the sections `below`, then for N = 1 and 2 `open.N`, `place.N`, `clock.N` and `size.N`, neither
#                   BEGIN nor END. Needs frame.sh, side.sh, facts.sh and NONCE. PIDs are digits, already checked.
#
# Each look is a side of its own (side.sh): a file on a mount that does not answer costs its own mount the size, and the
# other look nothing. Links of /proc/PID/fd are read, and followed only by stat: that asks the open file itself, whatever
# namespace its name is from.

writes_main() {
  frame_open writes 1
  writes "$@"
  frame_close 0
}

writes() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_below "$@"
  p_start 3 first_writes 4 second_writes -- p_read_writes
  return 0
)

p_read_writes() {
  p_read 3 5 400000
  p_read 4 6 400000
}

p_side_first_writes() { p_look_at_writes 1; }

p_side_second_writes() {
  # Where sleep takes no fractions (an old busybox), a whole second.
  sleep 0.5 2>/dev/null || sleep 1
  p_look_at_writes 2
}

# p_below PID…: sets p_asked to these and three generations below them: a profiler's report is written by a child of it.
# Section `below`: "/proc/PID/task/TID/children:CHILD CHILD …" a line. Kernels without CONFIG_PROC_CHILDREN have no such file.
p_below() {
  p_asked=" $* " p_room=128 p_next=$*
  frame_begin below
  for p_generation in 1 2 3; do
    [ -n "$p_next" ] || break
    set --
    for p_pid in $p_next; do set -- "$@" "/proc/$p_pid/task"; done
    p_text=$(find "$@" -maxdepth 2 -name children -exec grep -asH '[0-9]' {} + 2>/dev/null | head -c 30000)
    say "$p_text"
    p_next=''
    for p_word in $p_text; do
      p_pid=${p_word##*:}
      case $p_pid in '' | *[!0-9]*) continue ;; esac
      case $p_asked in *" $p_pid "*) continue ;; esac
      [ "$p_room" -gt 0 ] || break
      p_asked="$p_asked$p_pid " p_next="$p_next $p_pid" p_room=$((p_room - 1))
    done
  done
  frame_end below 0
}

# p_look_at_writes N: the open files, where each stands, and how large each is.
p_look_at_writes() {
  p_open=$(p_find_written)
  p_put "open.$1" "$p_open"
  p_list_written "$p_open"
  p_place=''
  # shellcheck disable=SC2086 # paths of ours, without blanks
  [ -z "$p_list" ] || p_place=$(grep -asH -e '^pos:' -e '^mnt_id:' $p_list)
  p_put "place.$1" "$p_place$p_nl@rc 0"
  frame_begin "clock.$1"
  cat /proc/uptime
  frame_end "clock.$1" 0
  # Without its end this section was cut: what is not in it could not be asked.
  frame_begin "size.$1"
  p_sizes
  frame_end "size.$1" 0
}

# "/proc/PID/fd/N MODE NAME" for each file that is open for writing, then "find: …" complaints and "@find RC". The link's
# mode says how the file is open (proc(5), /proc/PID/fd). Names may hold newlines: records end in NUL until they are cut.
p_find_written() {
  set --
  for p_pid in $p_asked; do set -- "$@" "/proc/$p_pid/fd"; done
  {
    p_troubles=$(
      {
        find "$@" -maxdepth 1 -perm -0200 -lname '/*' ! -lname '/proc/*' ! -lname '/sys/*' \
          \( ! -lname '/dev/*' -o -lname '/dev/shm/*' \) -printf '%p %m %l\0' 2>&1 >&8
        echo "@find $?"
      } | grep -av 'No such ' | cut -c1-160
    )
    say "$p_troubles" | tr '\n' '\0' >&8
  } 8>&1 | tr '\n\0' '?\n' | head -c 200000
  echo "@rc $?"
}

# p_list_written TEXT: sets p_list to the fdinfo files of its first 400 records.
p_list_written() {
  p_list='' p_room=400
  set -f
  IFS=$p_nl
  for p_line in $1; do
    case $p_line in /proc/*/fd/*) ;; *) continue ;; esac
    [ "$p_room" -gt 0 ] || break
    p_line=${p_line%%' '*} p_room=$((p_room - 1))
    p_list="$p_list ${p_line%/fd/*}/fdinfo/${p_line##*/}"
  done
  unset IFS
  set +f
}

# "/proc/PID/fd/N MODE SIZE" a line, MODE in hexadecimal (stat(2)). One stat for each mount, all at once.
p_sizes() {
  p_mounts=' '
  for p_word in $(p_of_mount '*'); do
    p_mount=${p_word##*:}
    case $p_mounts in *" $p_mount "*) ;; *) p_mounts="$p_mounts$p_mount " ;; esac
  done
  for p_mount in $p_mounts; do
    set --
    for p_word in $(p_of_mount "$p_mount"); do
      set -- "$@" "${p_word%:*}"
      # So few that what one stat prints is written at once, and never mixed with another's.
      [ $# -ge 50 ] || continue
      stat -L --printf '%n %f %s\n' "$@" 2>/dev/null &
      set --
    done
    [ $# -eq 0 ] || stat -L --printf '%n %f %s\n' "$@" 2>/dev/null &
  done
  wait
}

# p_of_mount ID: "/proc/PID/fd/N:ID" for each file of p_place on that mount; `*` for all.
p_of_mount() {
  set -f
  IFS=$p_nl
  for p_line in $p_place; do
    # shellcheck disable=SC2254 # a star is meant to match
    case $p_line in
    /proc/*/fdinfo/*:mnt_id:*[!0-9]$1)
      p_file=${p_line%%:*}
      echo "${p_file%/fdinfo/*}/fd/${p_file##*/}:${p_line##*[!0-9]}"
      ;;
    esac
  done
  unset IFS
  set +f
}
