/** The arguments in kubeadm-flags.env (`--name=value`), which may be empty; `absent`. Throws on another form. */
export function kubeletFlagsOf(text: string): readonly string[] | 'absent' {
  if (text.trim() === 'absent') return 'absent';
  const [, flags] = /^KUBELET_KUBEADM_ARGS="?(.*?)"?\r?$/m.exec(text) ?? [];
  if (flags === undefined) throw new Error('no KUBELET_KUBEADM_ARGS in kubeadm-flags.env');
  return flags.split(/\s+/).filter((flag) => flag !== '');
}
