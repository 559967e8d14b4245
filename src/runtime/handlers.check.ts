import type { Fleet } from '../cluster/fleet/fleet.ts';
import { OWNER_LABEL } from '../cluster/fleet/ownership.ts';
import { objectKey } from '../cluster/fleet/view.ts';
import {
  type Check,
  type CheckGroup,
  type CheckPage,
  eachHost,
  type Finding,
  type HostFinding,
  type HostSeen,
} from '../engine/check.ts';
import { knownDistribution } from '../host/packages/distributions.value.ts';
import { handlerPackage } from '../host/packages/installer.value.ts';
import { inventoryOn, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import type { RuntimeHandler } from '../inventory/runtime-handlers.ts';
import type { JsonObject } from '../shell/decode.ts';
import { HANDLERS } from './handlers.value.ts';

const page: CheckPage = {
  name: 'runtime-handlers',
  title: 'the programs of runtime.handlers are on the hosts, and no other program owns their RuntimeClasses',
  why:
    'A handler without its program fails when a pod needs it, long after the change. kbuild installs gVisor and ' +
    'the NVIDIA Container Toolkit where their projects have packages for the system; everything else you put on ' +
    'the host yourself ([runtimes](runtimes.md#further-handlers)). kbuild never takes over a RuntimeClass that ' +
    'it did not make.',
  severities: ['error', 'warning'],
};

/** Findings about the missing programs of a handler on a host. */
function missing({ host, facts }: HostSeen, { name, kind, path, from }: RuntimeHandler): readonly HostFinding[] {
  const { title, programs, device } = HANDLERS[kind];
  const absent = programs(path).filter((program) => !facts.handlerPrograms.has(program));
  if (absent.length > 0 && from === 'package' && handlerPackage({ host, facts }, kind) === undefined)
    return [
      {
        severity: 'error',
        message:
          `handler ${name}: there is no package of ${title} for ` +
          `${knownDistribution(facts)?.name ?? facts.osRelease.prettyName}, or the host gets binaries; found ` +
          `no ${absent.join(', ')}`,
        remedy:
          `put the programs on the host and name them: runtime.handlers.${name}.path; or let only groups of ` +
          'other hosts have the handler',
      },
    ];
  return [
    ...(absent.length > 0 && from === 'host'
      ? [
          {
            severity: 'error' as const,
            message: `handler ${name}: there is no program ${absent.join(', ')}`,
            remedy: `put it there, executable, or let only groups of other hosts have runtime.handlers.${name}`,
          },
        ]
      : []),
    ...(device === undefined || facts.handlerPrograms.has(device.path)
      ? []
      : [
          {
            severity: 'warning' as const,
            message:
              `handler ${name}: there is no ${device.path}, which comes from ${device.by}; pods of ${title} may ` +
              'not start here',
            remedy: `see to it, or let only groups of other hosts have runtime.handlers.${name}`,
          },
        ]),
  ];
}

const ofHosts = eachHost(page, (seen) =>
  // A host of role etcd has a runtime, too, which gets the same settings.
  seen.host.role === 'load-balancer'
    ? []
    : seen.inventory.runtime.handlers.flatMap((handler) => missing(seen, handler)),
);

const classOf = (name: string): JsonObject => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
});

const labelsOf = (object: JsonObject): Readonly<Record<string, unknown>> =>
  (object['metadata'] as { readonly labels?: Readonly<Record<string, unknown>> } | undefined)?.labels ?? {};

/**
 * Findings about RuntimeClasses with the name of a handler that kbuild did not make, or that the inventory's manifests
 * define too.
 */
function foreignClasses(inventory: Inventory, { cluster }: Fleet): readonly Finding[] {
  const handlers = linuxNodes(inventory).flatMap((host) => inventoryOn(inventory, host).runtime.handlers);
  return [...new Set(handlers.map(({ name }) => name))].flatMap((name): readonly Finding[] => {
    const key = objectKey(classOf(name));
    const twice = inventory.manifests.find(({ objects }) => objects.some((object) => objectKey(object) === key));
    if (twice !== undefined)
      return [
        {
          severity: 'error',
          message: `RuntimeClass ${name} stands in ${twice.source} too, and kbuild makes it for the handler ${name}`,
          remedy: 'take it out of that file, or give the handler another name',
        },
      ];
    const live = cluster.state === 'up' ? cluster.objects.get(key) : undefined;
    if (live === undefined || labelsOf(live)[OWNER_LABEL.name] === OWNER_LABEL.value) return [];
    return [
      {
        severity: 'error',
        message: `RuntimeClass ${name} is in the cluster, and kbuild did not make it`,
        remedy:
          `give the handler another name, or hand it over: kubectl label runtimeclass ${name} --overwrite ` +
          `${OWNER_LABEL.name}=${OWNER_LABEL.value}`,
      },
    ];
  });
}

const runtimeHandlers: Check = {
  ...page,
  test: (seen) => [...ofHosts.test(seen), ...foreignClasses(seen.inventory, seen.fleet)],
};

export const handlerChecks: CheckGroup = { fleet: [runtimeHandlers] };
