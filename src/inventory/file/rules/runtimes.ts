import { HANDLERS } from '../../../runtime/handlers.value.ts';
import type { ContainerRuntime } from '../../../runtime/runtime.value.ts';
import { containerRuntime } from '../../../runtime/runtimes.value.ts';
import { minorOf } from '../../../versions.ts';
import type { Download } from '../../inventory.ts';
import { HANDLER_KINDS, HANDLER_LABEL_PREFIX } from '../../runtime-handlers.ts';
import { type Path, problem, type Rule, type Violation, warning } from '../../schema/rule.ts';
import type { InventoryFile } from '../../schema/schema.ts';
import { kindOf, runtimeFileOf } from '../levels.ts';

type RuntimeFile = InventoryFile['runtime'];
type HandlerFile = RuntimeFile['handlers'][string];

/** A handler of a host, and the nearest place that describes it. */
interface Placed {
  readonly at: Path;
  readonly name: string;
  readonly handler: HandlerFile;
  readonly runtime: RuntimeFile;
}

/** The nearest level of a host that describes a handler. */
function placeOf({ groups, hosts, roles }: InventoryFile, index: number, name: string): Path {
  const host = hosts[index]!;
  const tail = ['runtime', 'handlers', name] as const;
  if (host.runtime?.handlers[name] !== undefined) return ['hosts', index, ...tail];
  const group = host.groups.findLast((one) => groups[one]?.runtime?.handlers[name] !== undefined);
  if (group !== undefined) return ['groups', group, ...tail];
  const role = host.role === 'worker' || host.role === 'control-plane' ? roles[host.role] : undefined;
  return role?.runtime?.handlers[name] === undefined ? tail : ['roles', host.role, ...tail];
}

/** The handlers of all Linux hosts. */
const placed = (file: InventoryFile): readonly Placed[] =>
  file.hosts.flatMap((host, i) => {
    if (host.os === 'windows' || host.role === 'load-balancer') return [];
    const runtime = runtimeFileOf(file, host);
    return Object.entries(runtime.handlers).map(([name, handler]) => ({
      at: placeOf(file, i, name),
      name,
      handler,
      runtime,
    }));
  });

/** What is wrong with one handler on a host with this runtime. */
function wrong({ at, name, handler, runtime }: Placed): readonly Violation[] {
  const kind = kindOf(name, handler);
  if (kind === undefined)
    return [problem([...at, 'kind'], `is required, because ${name} is none: one of ${HANDLER_KINDS.join(', ')}`)];
  const { title, handlers } = containerRuntime({ runtime });
  if (handlers?.tables[kind] === undefined)
    return [problem(at, `${title} is not set up for ${kind} by kbuild: give these hosts another runtime.name`)];
  if (name.startsWith('windows-'))
    return [problem(at, 'has a name that RuntimeClasses of Windows hosts have: use another name')];
  if (handlers.reserved.includes(name))
    return [problem(at, `${title} has a handler of this name itself, which kbuild never replaces: use another name`)];
  const { packaged, takesConfig } = HANDLERS[kind];
  return [
    ...(handler.path === undefined && packaged === undefined
      ? [problem([...at, 'path'], `is required: kbuild has no package of ${kind}`)]
      : []),
    ...(handler.config !== undefined && !takesConfig
      ? [problem([...at, 'config'], `is of no use with ${kind}; remove it`)]
      : []),
  ];
}

/** Two handlers that read the same file of settings cannot be on one host. */
const twice = (file: InventoryFile): readonly Violation[] =>
  file.hosts.flatMap((host, i) => {
    if (host.os === 'windows') return [];
    const runtime = runtimeFileOf(file, host);
    const shared = containerRuntime({ runtime }).handlers?.file?.kind;
    const names = Object.entries(runtime.handlers).flatMap(([name, handler]) =>
      shared !== undefined && kindOf(name, handler) === shared ? [name] : [],
    );
    return names
      .slice(1)
      .map((name) =>
        problem(placeOf(file, i, name), `${host.name} has ${names[0]!} of the same kind; kbuild sets up one of a host`),
      );
  });

/** One RuntimeClass stands for the handler on all hosts. */
function differing(all: readonly Placed[]): readonly Violation[] {
  const first = new Map<string, HandlerFile>();
  return all.flatMap(({ at, name, handler }) => {
    const other = first.get(name) ?? handler;
    first.set(name, other);
    const isSame =
      kindOf(name, other) === kindOf(name, handler) &&
      other.overhead.cpu === handler.overhead.cpu &&
      other.overhead.memory === handler.overhead.memory;
    return isSame ? [] : [problem(at, `differs from ${name} of another host in kind or overhead: use another name`)];
  });
}

/** Each violation once, though many hosts may share the level in which it stands. */
const once = (all: readonly Violation[]): readonly Violation[] => [
  ...new Map(all.map((one) => [JSON.stringify([one.path, one.message]), one])).values(),
];

/** The handlers of every host fit its runtime, and each other. */
export const runtimeHandlers: Rule = (file) => {
  const all = placed(file);
  return once([...all.flatMap(wrong), ...twice(file), ...differing(all)]);
};

/** The RuntimeClass of a handler is kbuild's alone, and the label of its nodes too. */
export const ownedHandlers: Rule = (file) => {
  const labelled = [
    ...Object.entries(file.roles).map(([role, level]) => [['roles', role] as Path, level.labels] as const),
    ...Object.entries(file.groups).map(([name, level]) => [['groups', name] as Path, level.labels] as const),
    ...file.hosts.map((host, i) => [['hosts', i] as Path, host.labels] as const),
  ];
  return labelled.flatMap(([at, labels]) =>
    Object.keys(labels)
      .filter((key) => key.startsWith(HANDLER_LABEL_PREFIX))
      .map((key) => problem([...at, 'labels', key], 'is set by kbuild: use runtime.handlers')),
  );
};

/** Architectures of hosts, as releases name them. */
const ARCHITECTURES = ['amd64', 'arm64'] as const;

/** The runtimes that hosts of the file have, each once. */
function runtimesOf(file: InventoryFile): readonly ContainerRuntime[] {
  const hosts = file.hosts.filter(({ os, role }) => os !== 'windows' && role !== 'load-balancer');
  const names = new Set(hosts.map((host) => runtimeFileOf(file, host).name));
  return [...names].map((name) => containerRuntime({ runtime: { name } }));
}

/** Every runtime can reach the registries in the way that is described. */
export const runtimeRegistries: Rule = (file) =>
  file.runtime.registries.flatMap(({ host, mirrors, username }, i) =>
    runtimesOf(file).flatMap(({ cannotReach }) => {
      const way = { host, mirrors, ...(username === undefined ? {} : { username }) };
      const reason = cannotReach?.(way);
      return reason === undefined ? [] : [problem(['runtime', 'registries', i], reason)];
    }),
  );

/**
 * The programs that a runtime needs beside its packages fit Kubernetes, and the SHA-256 of each is known for some
 * architecture: which one a host has is not known here.
 */
export const runtimePrograms: Rule = (file) =>
  runtimesOf(file).flatMap(({ title, programs = [] }) =>
    programs.flatMap(({ name, from, version: preset, misfit }) => {
      const { url, checksums, version = preset }: Download = file.downloads[from];
      const why = misfit(minorOf(file.kubernetes.version), version);
      const urls = ARCHITECTURES.map((arch) => url.replaceAll('{version}', version).replaceAll('{arch}', arch));
      return [
        ...(why === undefined
          ? []
          : [(why.severity === 'error' ? problem : warning)(['downloads', from, 'version'], why.message)]),
        ...(checksums !== undefined || urls.some((one) => file.downloads.sha256[one] !== undefined)
          ? []
          : [
              problem(
                ['downloads', 'sha256'],
                `${title} needs ${name}, whose project publishes no checksums: name the SHA-256 of ` +
                  `${urls.join(' or of ')}, as your hosts are, or set downloads.${from}.checksums`,
              ),
            ]),
      ];
    }),
  );

/** A file into which kbuild merges its settings is not distributed by `files`. */
export const runtimeSharedFiles: Rule = (file) =>
  runtimesOf(file).flatMap(({ shared }) =>
    file.files.flatMap(({ path }, i) =>
      path === shared?.path
        ? [problem(['files', i, 'path'], 'kbuild merges settings into this file: put yours into runtime.config')]
        : [],
    ),
  );
