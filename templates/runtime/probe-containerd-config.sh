# shellcheck shell=sh
# Prints containerd's effective configuration, `# absent` without containerd, and ends with `# invalid` if containerd
# rejects its file. Runs the program of the packages' unit, even if another one precedes it in PATH.
containerd=/usr/bin/containerd
if ! [ -x $containerd ]; then
  containerd=
  if command -v containerd >/dev/null; then containerd=containerd; fi
fi
if [ -n "$containerd" ]; then "$containerd" config dump || echo '# invalid'; else echo '# absent'; fi
