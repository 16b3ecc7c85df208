# shellcheck shell=sh disable=SC2030,SC2031,SC2034,SC2154 # one text with the files beside it: variables are shared
# The deeper read-only look at one host, for what the probe left unexplained or alive. Writes no file.
#
# Contract:
#   deep DEVICE_FOLDER SINCE pid…
#       prints the sections, as `probe` does; SINCE is a host uptime in ms or `-`; the PIDs are those whose kernel side is
#       wanted. The words come from `deepWords()` of ../deep-script.ts. Needs all files that `probe` needs,
#       identity.sh, deep-holders.sh and deep-kernel.sh; and sed. Uses the names and the descriptors that `probe` uses.
#
# Whatever may hang runs as a side with a deadline. What is listed is listed before its owners are looked for: a file that
# comes later is in no list, so nobody in use is called ownerless.

deep_main() {
  frame_open deep 1
  deep "$@"
  frame_close 0
}

deep() (
  exec </dev/null
  unset IFS
  export LC_ALL=C
  p_dev=$1 p_since=$2
  shift 2
  p_wanted=$*
  p_read_status self
  p_euid=$p_uid
  read -r p_began_at _ </proc/uptime
  p_began=${p_began_at%%.*}
  p_find_majors
  p_find_shm
  p_find_leaders
  p_find_far
  p_start 3 even_files 4 odd_files 5 mapped 6 queue 7 kernel 8 log 9 mps -- p_look_deep
  return 0
)

p_look_deep() {
  p_host
  frame_begin own
  p_own
  frame_end own 0
  p_put majors "$p_majors_said"
  p_put zombies "$p_zombies_said"
  p_put shm "$p_shm_said"
  p_put segments "$(grep -as '' /proc/sysvipc/shm | head -c 40000)$p_nl@now $(date +%s)$p_nl@rc $p_segments_rc"
  p_put listening "$(p_listening)"
  p_put modules "$(p_modules)"

  p_numbered=''
  for p_fd in 3 4 5; do
    p_text=$(p_read "$p_fd" 8 120000)
    say "$p_text"
    p_numbered=$p_numbered$p_nl$p_text
  done
  p_queued=$(p_read 6 8 120000)
  say "$p_queued"
  p_read 8 8 60000
  p_mps=$(p_read 9 8 30000)
  say "$p_mps"
  # The one that may wait for a dead network mount, so it is read last.
  p_kernel=$(p_read 7 8 160000)
  say "$p_kernel"
  p_network=${p_kernel##*" begin network"}
  [ "$p_network" != "$p_kernel" ] || p_network=''
  p_numbered=$p_numbered$p_nl$p_network
  p_print_links "$p_numbered"

  p_all=' ' p_room=256 p_left_out=0 p_uids=' ' p_live=' '
  p_note_threads "$p_numbered$p_nl$p_queued"
  p_add $$
  for p_pid in $p_wanted; do p_add "$p_pid"; done
  p_add_lines "$p_numbered$p_nl$p_queued"
  set -f
  for p_pid in $p_mps; do p_add "$p_pid"; done
  set +f
  p_add_kin
  # shellcheck disable=SC2086
  p_facts $p_all
  frame_begin limits
  echo "left_out $p_left_out"
  frame_end limits 0
}

# "195 nvidia" a line, as in /proc/devices, and "@rc N"; p_majors: the same numbers as "c3|ee", as stat(1) spells them.
p_find_majors() {
  p_majors=''
  p_majors_said=$(grep -as -e '^ *[0-9]* nvidia' /proc/devices)
  p_majors_rc=$?
  set -f
  for p_word in $p_majors_said; do
    case $p_word in *[!0-9]*) continue ;; esac
    p_majors=$p_majors${p_majors:+|}$(printf %x "$p_word")
  done
  set +f
  p_majors_said=$p_majors_said$p_nl@rc\ $p_majors_rc
}

# "DEVICE:INODE KIB UID MTIME NAME" a line for each file below /dev/shm, a newline in a name as `?`. p_shm: the decimal
# device number as stat(1) has it, empty where no file is; p_shm_hex: the same as in /proc/PID/maps.
p_find_shm() {
  p_shm='' p_shm_hex=''
  [ -r /proc/sysvipc/shm ]
  p_segments_rc=$(($? * 2))
  p_shm_said=$(
    {
      find /dev/shm -xdev -type f -printf '%D:%i %k %U %T@ %P\0' 2>/dev/null
      echo "@rc $?"
    } | tr '\n\0' '?\n' | head -c 60000
  )
  # tr made our own newline a `?` too.
  p_shm_said=$(say "$p_shm_said" | sed 's/^\(@rc [0-9]*\)?$/\1/')
  case $p_shm_said in @*) return ;; esac
  p_shm=$(stat -c %d /dev/shm)
  # New encoding of dev_t (include/linux/kdev_t.h).
  p_shm_hex=$(printf '%02x:%02x' $((p_shm >> 8 & 4095)) $((p_shm & 255 | p_shm >> 12 & 1048320)))
} 2>/dev/null

# Of our own network namespace. Column 4 is the state, 0A is TCP_LISTEN (include/net/tcp_states.h).
p_listening() {
  for p_file in /proc/net/tcp /proc/net/tcp6; do
    # Without IPv6 there is no such file.
    [ -e "$p_file" ] || [ "$p_file" = /proc/net/tcp ] || continue
    grep -ahos '^ *[0-9]*: [0-9A-F]*:[0-9A-F]* [0-9A-F]*:0000 0A ' "$p_file"
    p_rc=$?
    [ "$p_rc" -le 1 ] || break
  done | cut -d: -f3 | cut -d' ' -f1 | sort -u | head -c 20000
  [ -r /proc/net/tcp ]
  echo "@rc $(($? * 2))"
}

# Lines of /proc/modules: name, size, use count, users.
p_modules() {
  grep -as -e '^nvidia' -e '^gdrdrv ' -e '^[^ ]*peer_\{0,1\}mem ' /proc/modules
  echo "@rc $?"
}
