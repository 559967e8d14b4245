import { containerRuntime, SUPPORTED_RUNTIMES } from '../components/runtimes/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

const TITLES = SUPPORTED_RUNTIMES.map(({ title }) => title).join(' or ');

export const existingRuntime = eachHost(
  {
    name: 'existing-runtime',
    title: 'no containers of Docker or others run, and there is no second runtime',
    why: `kbuild configures and restarts ${TITLES}, and Docker uses the same one. Move those containers away, or ignore this check when they may be restarted. A second CRI runtime does no harm: kbuild always names ${TITLES}'s socket.`,
    severities: ['error', 'warning'],
  },
  ({ inventory, facts }): readonly HostFinding[] => {
    // The operator decided when the host joined.
    if (hasKubelet(facts)) return [];
    const { title, socket: own, ownerOf } = containerRuntime(inventory);
    return [
      ...[...facts.containers].flatMap(([namespace, count]): readonly HostFinding[] => {
        const owner = ownerOf(namespace);
        if (owner === undefined) return [];
        return [
          {
            severity: 'error',
            message: `${String(count)} containers of ${owner} run on the ${title} that up would configure and restart`,
            remedy: 'move them to another machine, or --ignore-check existing-runtime when they may be restarted',
          },
        ];
      }),
      ...facts.criSockets
        .filter((socket) => socket !== own)
        .map((socket) => ({
          severity: 'warning' as const,
          message: `has another container runtime (${socket}); Kubernetes will use ${title}`,
        })),
    ];
  },
);
