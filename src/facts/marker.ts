/** What kbuild wrote before it let kubeadm change the host. It only explains; facts decide. */
export interface Marker {
  readonly cluster: string;
  readonly action: 'init' | 'join' | 'reset';
  readonly job: string;
}

/** A marker as it was written; `absent`, or `unreadable` when it is corrupt or from a newer kbuild. */
export function markerOf(text: string): Marker | 'absent' | 'unreadable' {
  if (text.trim() === 'absent') return 'absent';
  try {
    const { cluster, action, job } = JSON.parse(text) as Partial<Marker>;
    if (typeof cluster !== 'string' || typeof job !== 'string') return 'unreadable';
    return action === 'init' || action === 'join' || action === 'reset' ? { cluster, action, job } : 'unreadable';
  } catch {
    return 'unreadable';
  }
}
