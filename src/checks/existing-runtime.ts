import { containerRuntime, otherRuntime, RUNTIME_TITLES } from '../components/runtimes/index.ts';
import { runtimeMove } from '../cluster/other-runtime.ts';
import { hasKubelet } from '../facts/joined.ts';
import { foreignUnits, moveUnit } from '../resources/programs.ts';
import { inventoryOn } from '../model/inventory-on.ts';
import type { Inventory, LinuxHost } from '../model/inventory.ts';
import type { HostFinding } from './each-host.ts';
import { eachHost } from './each-host.ts';

/** A runtime that kbuild does not know, it cannot change to another one. The pods of one that it knows, `up` moves, or refuses to. */
function unknownRuntime(inventory: Inventory, host: LinuxHost, endpoint: string): readonly HostFinding[] {
  const found = otherRuntime(inventory, host, endpoint);
  if (typeof found !== 'string') return [];
  const { title } = containerRuntime(inventoryOn(inventory, host));
  return [
    {
      severity: 'error',
      message: `has joined with ${found}, and the inventory asks for ${title}: kbuild does not know the runtime of this host`,
      remedy: `take the host out with \`kbuild remove\`; \`kbuild up\` adds it again with ${title}`,
    },
  ];
}

export const existingRuntime = eachHost(
  {
    name: 'existing-runtime',
    title: 'no containers of Docker or others run, and there is no second runtime',
    why: `kbuild configures and restarts ${RUNTIME_TITLES}, and other programs on the host may use the same one. Move those containers away, or ignore this check when they may be restarted. A second CRI runtime does no harm: kbuild always names the socket of the inventory's runtime. A joined host whose kubelet uses a runtime that kbuild does not know keeps it: to change it, remove the host, edit \`runtime.name\`, and add it again.`,
    severities: ['error', 'warning'],
  },
  ({ inventory, host, facts }): readonly HostFinding[] => {
    const { title, socket: own, otherSockets = [], ownerOf } = containerRuntime(inventory);
    // The operator decided about other containers when the host joined, or will when it changes to this runtime.
    const isMoving = runtimeMove(inventory, host, facts) !== undefined;
    if (hasKubelet(facts) && !isMoving) return unknownRuntime(inventory, host, facts.kubeletRuntime);
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
      ...foreignUnits({ inventory, facts }).map((path) => ({
        severity: 'error' as const,
        message: `has ${path}, which kbuild did not write and would have to overwrite`,
        remedy: moveUnit(path),
      })),
      ...(isMoving ? [] : facts.criSockets)
        .filter((socket) => socket !== own && !otherSockets.includes(socket))
        .map((socket) => ({
          severity: 'warning' as const,
          message: `has another container runtime (${socket}); Kubernetes will use ${title}`,
        })),
    ];
  },
);
