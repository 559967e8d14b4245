import { HANDLERS } from '../../components/runtimes/handlers.ts';
import { containerRuntime } from '../../components/runtimes/index.ts';
import { HANDLER_KINDS, HANDLER_LABEL_PREFIX } from '../../model/runtime-handlers.ts';
import { kindOf, runtimeFileOf } from '../levels.ts';
import type { Path } from '../path.ts';
import type { InventoryFile } from '../schema.ts';
import { problem, type Rule, type Violation } from './rule.ts';

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
