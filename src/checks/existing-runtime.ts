import { containerRuntime, CONTAINER_RUNTIMES } from '../components/runtimes/index.ts';
import { hasKubelet } from '../facts/joined.ts';
import type { Inventory } from '../model/inventory.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

const TITLES = CONTAINER_RUNTIMES.map(({ title }) => title).join(' or ');

/** The path of an endpoint, with and without a scheme, and where /var/run leads to. */
const pathOf = (endpoint: string): string => endpoint.replace(/^unix:\/\//, '').replace(/^\/var\/run\//, '/run/');

/** kbuild does not change the runtime of a joined host: its pods would be left to a runtime that nobody asks any more. */
function otherRuntime(endpoint: string, inventory: Inventory): readonly HostFinding[] {
  const { title, socket } = containerRuntime(inventory);
  const found = pathOf(endpoint);
  if (found === '' || found === socket) return [];
  const there = CONTAINER_RUNTIMES.find((runtime) => runtime.socket === found)?.title ?? found;
  return [
    {
      severity: 'error',
      message: `has joined with ${there}, and the inventory asks for ${title}: kbuild does not change the runtime of a joined host`,
      remedy: `put runtime.name back; to change it, take the host out with \`kbuild remove\` before you edit it, and \`up\` adds it again with ${title}`,
    },
  ];
}

export const existingRuntime = eachHost(
  {
    name: 'existing-runtime',
    title: 'no containers of Docker or others run, and there is no second runtime',
    why: `kbuild configures and restarts ${TITLES}, and Docker uses the same one. Move those containers away, or ignore this check when they may be restarted. A second CRI runtime does no harm: kbuild always names ${TITLES}'s socket. A host that has joined keeps its runtime: to change it, remove the host, edit \`runtime.name\`, and add it again.`,
    severities: ['error', 'warning'],
  },
  ({ inventory, facts }): readonly HostFinding[] => {
    const { title, socket: own, ownerOf } = containerRuntime(inventory);
    // The operator decided about other containers when the host joined.
    if (hasKubelet(facts)) return otherRuntime(facts.kubeletRuntime, inventory);
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
