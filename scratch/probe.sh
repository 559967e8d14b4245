PATHS='/etc/hosts
/etc/systemd/system/kubelet.service
/etc/systemd/system/kubelet.service.d/10-kubeadm.conf
/etc/apt/sources.list.d/x
/etc/apt/keyrings/x
/etc/modules-load.d/kbuild.conf
/etc/sysctl.d/99
/etc/containerd/config.toml
/etc/crictl.yaml
/var/lib/kbuild/trusted-cas
/etc/kubernetes/pki/etcd/ca.key
/etc/kubernetes/manifests/etcd.yaml
/etc/resolv.conf
/lib/systemd/system/ssh.service
/etc/kubernetes/f0
/etc/kubernetes/f1
/etc/kubernetes/f2
/etc/kubernetes/f3
/etc/kubernetes/f4
/etc/kubernetes/f5
/etc/kubernetes/f6
/etc/kubernetes/f7
/etc/kubernetes/f8
/etc/kubernetes/f9
/etc/kubernetes/f10
/etc/kubernetes/f11
/etc/kubernetes/f12
/etc/kubernetes/f13
/etc/kubernetes/f14
/etc/kubernetes/f15
/etc/kubernetes/f16
/etc/kubernetes/f17
/etc/kubernetes/f18
/etc/kubernetes/f19
/etc/kubernetes/f20
/etc/kubernetes/f21
/etc/kubernetes/f22
/etc/kubernetes/f23
/etc/kubernetes/f24
/etc/kubernetes/f25
/etc/kubernetes/f26
/etc/kubernetes/f27
/etc/kubernetes/f28
/etc/kubernetes/f29
/etc/kubernetes/f30
/etc/kubernetes/f31
/etc/kubernetes/f32
/etc/kubernetes/f33
/etc/kubernetes/f34
/etc/kubernetes/f35
/etc/kubernetes/f36
/etc/kubernetes/f37
/etc/kubernetes/f38
/etc/kubernetes/f39'
TREES=/etc/apt
IFS='
'
set -f
set --
for path in $PATHS; do
  if [ -f "$path" ]; then
    set -- "$@" "$path"
  elif [ -d "$path" ]; then
    stat -L -c 'folder %.Y %n' -- "$path"
  elif [ -e "$path" ]; then
    echo "other $path"
  else echo "absent $path"; fi
done
found=$(for tree in $TREES; do if [ -d "$tree" ]; then find "$tree" -type f; fi; done)
set -- "$@" $found
if [ $# -gt 0 ]; then
  stat -L -c 'stat %a %U:%G %.Y %n' -- "$@"
  sha256sum -- "$@"
fi
