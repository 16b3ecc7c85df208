# shellcheck shell=sh disable=SC2034,SC2154 # one text with the files beside it: variables are shared
# Who holds a device, whatever its name: by number, by mapping, in a socket's queue, in a ring.
#
# A line is "COUNT NAME FOLDER NUMBER": so many entries of that folder of /proc, NAME one of them. Or "COUNT 0 dev-shm
# DEVICE:INODE": an open file of /dev/shm's file system. Or "COUNT @ WORD DETAIL" of our own: refused PID, trouble TEXT, and
# ~find RC, which sorts last: a list that was cut lacks it.

# p_leaders: the fd folders of the threads of zombie leaders; the leader's own went with it. See p_side_zombies.
p_find_leaders() {
  p_leaders='' p_said=''
  p_list=$(grep -las ') Z ' /proc/[0-9]*/stat)
  p_rc=$?
  if [ -n "$p_list" ]; then
    set --
    for p_file in $p_list; do set -- "$@" "${p_file%stat}status"; done
    p_said=$(grep -asH -e '^State:' -e '^Threads:' "$@")
  fi
  for p_word in $p_said; do
    case $p_word in
    */status:Threads:) p_pid=${p_word#/proc/} p_pid=${p_pid%%/*} ;;
    [2-9] | [1-9][0-9]*) p_leaders="$p_leaders /proc/$p_pid/task/[0-9]*/fd" ;;
    esac
  done
  p_zombies_said=$p_said$p_nl@rc\ $p_rc
}

# p_far: mount points of network file systems, of every mount namespace, each read once (far_mounts of identity.sh).
p_find_far() {
  # shellcheck disable=SC2046
  p_far=$(far_mounts /proc/self/mountinfo $(
    find /proc/[0-9]*/ns/mnt -maxdepth 0 -printf '%l %p\n' | sort -u -k1,1 | sed 's,.* \(.*\)/ns/mnt$,\1/mountinfo,'
  ))
} 2>/dev/null

p_side_even_files() { p_put_files '/proc/[2468]/fd /proc/[0-9]*[02468]/fd'; }
p_side_odd_files() { p_put_files "/proc/[13579]/fd /proc/[0-9]*[13579]/fd $p_leaders"; }

p_put_files() {
  p_where=$1 p_sought=$p_majors$p_shm
  set -f
  IFS=$p_nl
  set --
  for p_line in $p_far; do set -- "$@" ! -lname "$p_line" ! -lname "$p_line/*"; done
  unset IFS
  set +f
  p_put numbers "$(p_numbers 1 "$@")"
}

# What is below network mounts, alone: where one is dead this stands still until its limit, and nothing else does.
p_put_network() {
  p_where="/proc/[0-9]*/fd $p_leaders" p_sought=$p_majors
  set -f
  IFS=$p_nl
  set -- '(' -false
  for p_line in $p_far; do set -- "$@" -o -lname "$p_line/*"; done
  unset IFS
  set +f
  frame_begin network
  p_text=$(p_numbers 1 "$@" ')')
  say "$p_text"
  frame_end network "${p_text##*"@rc "}"
}

# p_numbers DEPTH find-words…: in p_where, the links that the words let through, followed: character devices of p_majors, and
# ordinary files on p_shm. Nothing is followed before its own text was tested, sockets and pipes never. No -xtype here: find
# moves it in front of -lname, as the cheaper one, and then stands still at a dead mount.
p_numbers() {
  p_depth=$1 p_keep='/^@ /p' p_any=''
  shift
  [ -n "$p_sought" ] || p_any=-false
  [ -z "$p_shm" ] || p_keep="$p_keep;s,^.* 8[0-9a-f]{3} ($p_shm:[0-9]+) [^ ]*\$,0 dev-shm \\1,p"
  [ -z "$p_majors" ] || p_keep="$p_keep;s,^(/proc/.*)/([^/ ]*) 2[0-9a-f]{3} [^ ]* (($p_majors):[0-9a-f]+)\$,\\2 \\1 \\3,p"
  {
    p_troubles=$(
      {
        # shellcheck disable=SC2086
        timeout 4 find $p_where -maxdepth "$p_depth" -lname '/*' "$@" $p_any -exec stat -L --printf '%n %f %d:%i %t:%T\n' {} + 2>&1 >&8
        echo "@ ~find $?"
      } | grep -av 'No such ' |
        sed -E -e 's,^[a-z]+: [^/]*/proc/([0-9]+)(/.*)?$,@ refused \1,' -e '/^@ /!s,[^A-Za-z0-9/:.]+,_,g' -e '/^@ /!s,^,@ trouble ,' |
        sort -u | cut -c1-160
    )
    say "$p_troubles" >&8
  } 8>&1 | sed -nE "$p_keep" | sort -k2,3 | uniq -c -f1 | head -c 100000
  echo "@rc $?"
}

# Shared mappings of files, from maps; then each such inode once through map_files, whose links can be followed: a name in
# maps says nothing of the number. NVIDIA's drivers are mapped shared. map_files needs CAP_CHECKPOINT_RESTORE or CAP_SYS_ADMIN.
p_side_mapped() {
  p_text="1 @ ~find 0$p_nl@rc 0"
  [ -z "$p_majors" ] || p_text=$(p_find_mapped)
  p_put mapped "$p_text"
  p_text='@rc 0'
  [ -z "$p_shm" ] || p_text=$(p_scan lines -oh " $p_shm_hex [1-9][0-9]*" /proc/[0-9]*/maps)
  p_put shm.mapped "$p_text"
}

p_find_mapped() {
  p_shared='^[0-9a-f-]* ...s [0-9a-f]* [^ ]* [1-9]'
  p_found=$(p_scan lines -l "$p_shared" /proc/[0-9]*/maps)
  say "$p_found" | grep -a -e '^@stuck ' -e '^@rc '
  p_list_maps "$p_found"
  [ -n "$p_list" ] || { echo "1 @ ~find 0" && return; }
  # maps pads its addresses to 8 digits, map_files does not. A whole argument list is 2 MiB at least.
  p_where=$(
    {
      # shellcheck disable=SC2086
      timeout 3 grep -asHo "${p_shared}[0-9]*" $p_list
      echo "@rc $?"
    } |
      sed -E 's,^(/proc/[0-9]+)/maps:0*([0-9a-f]+)-0*([0-9a-f]+) .* ([^ ]+ [0-9]+)$,\1/map_files \4 \1/map_files/\2-\3,' |
      sort -u -k1,3 | head -n 6000
  )
  # Sorted, its "@rc" comes last: missing where there was too much.
  case $p_where in
  *"$p_nl@rc "[0-2] | "@rc "[0-2]) ;;
  *) echo '1 @ trouble not_all_shared_mappings' ;;
  esac
  p_where=$(say "$p_where" | cut -sd' ' -f4)
  p_sought=$p_majors p_shm=''
  set -f
  IFS=$p_nl
  set --
  for p_line in $p_far; do set -- "$@" ! -lname "$p_line" ! -lname "$p_line/*"; done
  unset IFS
  set +f
  [ -z "$p_where" ] || p_numbers 0 "$@"
}

# Lines of fdinfo, their path in front: sockets with descriptors that nobody has received, rings with registered files, and
# those of the files that have a device's name. Then of each such ring one letter of its first name, if the kernel prints any.
p_side_queue() {
  p_text=$(
    {
      {
        # shellcheck disable=SC2086
        timeout 4 find /proc/[0-9]*/fd $p_leaders -maxdepth 1 '(' -lname 'socket:*' -o -lname 'anon_inode:?io_uring?' ')' -printf '%hinfo/%f\0'
        echo "@find $?" >&9
      } | {
        timeout 4 xargs -0 -r grep -asH -e '^scm_fds:[[:blank:]]*[1-9]' -e '^UserFiles:[[:blank:]]*[1-9]' -e "^ *[0-9]*: \($p_dev/\)\{0,1\}nvidia"
        echo "@grep $?"
      }
    } 9>&1 | head -c 100000
    echo '@rc 0'
  ) 2>/dev/null
  p_put queue "$p_text"
  set --
  set -f
  IFS=$p_nl
  for p_line in $p_text; do
    case $p_line in */fdinfo/*:UserFiles:*) set -- "$@" "${p_line%%:*}" ;; esac
  done
  unset IFS
  set +f
  p_text=''
  # Entries of the ring begin with "opcode", buffers with "0x".
  [ $# -eq 0 ] || p_text=$(timeout 2 grep -asHom1 '^ *[0-9][0-9]*: [^o0]' "$@")
  p_put names "$p_text$p_nl@rc 0"
}

# p_print_links TEXT: section links, "PATH TARGET" and NUL, for the NAMEs of all lines. Names of files may hold anything.
p_print_links() {
  p_list=''
  set -f
  IFS=$p_nl
  for p_line in $1; do
    case $p_line in *" /proc/"*:*) ;; *) continue ;; esac
    p_folder=/proc/${p_line##*" /proc/"} p_name=${p_line%%" /proc/"*}
    p_list="$p_list ${p_folder%% *}/${p_name##* }"
  done
  unset IFS
  set +f
  frame_begin links
  # shellcheck disable=SC2086
  [ -z "$p_list" ] || find $p_list -maxdepth 0 -printf '%p %l\0' 2>/dev/null | head -c 80000
  frame_end links 0
}
