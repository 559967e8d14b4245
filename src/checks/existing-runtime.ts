import { hasKubelet } from '../facts/joined.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

const OURS = '/run/containerd/containerd.sock';

/** Nobody else's containers run on the containerd that kbuild would configure. */
export const existingRuntime = eachHost(
  {
    name: 'existing-runtime',
    title: 'no containers of Docker or others run, and there is no second runtime',
    why: "kbuild configures and restarts containerd, and Docker uses the same one. Move those containers away, or ignore this check when they may be restarted. A second CRI runtime does no harm: kbuild always names containerd's socket.",
    severities: ['error', 'warning'],
  },
  ({ facts }): readonly HostFinding[] => {
    // Whoever let the host join has decided.
    if (hasKubelet(facts)) return [];
    const others = [...facts.containers].filter(([namespace]) => namespace !== 'k8s.io');
    const sockets = facts.criSockets.filter((socket) => socket !== OURS);
    return [
      ...others.map(([namespace, count]) => ({
        severity: 'error' as const,
        message: `${String(count)} containers of ${namespace === 'moby' ? 'Docker' : namespace} run on the containerd that up would configure and restart`,
        remedy: 'move them to another machine, or --ignore-check existing-runtime when they may be restarted',
      })),
      ...sockets.map((socket) => ({
        severity: 'warning' as const,
        message: `has another container runtime (${socket}); Kubernetes will use containerd`,
      })),
    ];
  },
);
