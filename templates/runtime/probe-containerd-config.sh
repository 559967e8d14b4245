# shellcheck shell=sh disable=SC2154  # parameters come from outside
# Prints containerd's effective configuration, `# absent` without containerd, and ends with `# invalid` if containerd
# rejects its file. Runs the program of the packages' unit, even if another one precedes it in PATH.
#
# `containerd config dump` takes a sixth of the CPU of all probes. So the file itself is printed where it says as much:
# kbuild wrote it (HEADER), it sets what kbuild reads of the dump, nothing is imported, and containerd has accepted it.
containerd=/usr/bin/containerd
if ! [ -x $containerd ]; then containerd=$(command -v containerd) || containerd=; fi
config_file=/etc/containerd/config.toml
config_text=
if [ -n "$containerd" ] && [ -f $config_file ]; then
  while IFS= read -r config_line || [ -n "$config_line" ]; do
    config_text="$config_text$config_line
"
  done <$config_file
fi

config_is_whole() {
  case $config_text in *imports*) return 1 ;; "$HEADER"*) ;; *) return 1 ;; esac
  case $config_text in *'
sandbox = "'* | *'
sandbox_image = "'*) ;; *) return 1 ;; esac
  config_options=${config_text#*.containerd.runtimes.runc.options]}
  case ${config_options%%\[*} in *'
SystemdCgroup = '*) ;; *) return 1 ;; esac
  # Newer versions import this folder unless they are told otherwise.
  for config_part in /etc/containerd/conf.d/*.toml; do
    if [ -e "$config_part" ]; then return 1; fi
  done
}

# True if a process of this very program made its socket after the file was written: it ends at a file that it rejects.
config_is_accepted() {
  [ $config_file -ot /run/containerd/containerd.sock ] || return 1
  # Of cgroup v2 and v1. The shims are in it too.
  for config_group in /sys/fs/cgroup /sys/fs/cgroup/systemd; do
    config_group=$config_group/system.slice/containerd.service/cgroup.procs
    [ -r "$config_group" ] || continue
    while read -r config_process; do
      if [ "/proc/$config_process/exe" -ef "$containerd" ]; then return 0; fi
    done <"$config_group"
  done
  return 1
}

if [ -z "$containerd" ]; then
  echo '# absent'
elif config_is_whole && config_is_accepted; then
  printf '%s' "$config_text"
else
  "$containerd" config dump || echo '# invalid'
fi
