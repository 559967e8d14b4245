import { when, where } from '../engine/combinators.ts';
import { manifest, type Manifest } from '../engine/objects.ts';
import type { Step, Target, Unobserved } from '../engine/step.ts';
import { fileChanges } from '../host/file.step.ts';
import { handlerPackage } from '../host/packages/installer.value.ts';
import { packages } from '../host/packages/packages.step.ts';
import { packageRepository } from '../host/packages/repository.step.ts';
import { inventoryOn, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import {
  HANDLER_LABEL_VALUE,
  type HandlerKind,
  handlerLabel,
  type RuntimeHandler,
} from '../inventory/runtime-handlers.ts';
import type { JsonObject } from '../shell/decode.ts';
import { type HandlerPackage, HANDLERS } from './handlers.value.ts';
import { CONTAINER_RUNTIMES, containerRuntime } from './runtimes.value.ts';

/** True if the inventory wants the package of this kind on the host. */
const isWanted = ({ inventory }: Unobserved, kind: HandlerKind): boolean =>
  inventory.runtime.handlers.some((handler) => handler.kind === kind && handler.from === 'package');

/** A step for hosts that get this package. The check runtime-handlers reports hosts for which no package exists. */
const onlyWithPackage = (kind: HandlerKind, step: Step): Step =>
  where(
    (about) => isWanted(about, kind),
    when((target) => handlerPackage(target, kind) !== undefined, step),
  );

/** The repository of a kind's project, and its package, which upgrades of the system may change. */
const packageSteps = (kind: HandlerKind, { id, name, repository }: HandlerPackage): readonly Step[] =>
  [
    ...packageRepository(id, () => repository),
    packages(`${id}-package`, () => ({ [name]: 'any' }), { sources: [id] }),
  ].map((step) => onlyWithPackage(kind, step));

const allPackages = Object.entries(HANDLERS).flatMap(([kind, { packaged }]) =>
  packaged === undefined ? [] : packageSteps(kind as HandlerKind, packaged),
);

/** True while an earlier step must still install the package with the programs. */
const isPackagePending = (target: Target, { kind, from }: RuntimeHandler): boolean => {
  const wanted = from === 'package' ? handlerPackage(target, kind) : undefined;
  return wanted !== undefined && target.facts.packages.get(wanted.name)?.state !== 'installed';
};

/** The programs of a handler that the host lacks, though no package is pending that brings them. */
const missingPrograms = (target: Target, handler: RuntimeHandler): readonly string[] =>
  isPackagePending(target, handler)
    ? []
    : HANDLERS[handler.kind].programs(handler.path).filter((program) => !target.facts.handlerPrograms.has(program));

/**
 * Stops a host whose handler lacks a program: the runtime's configuration must only name handlers whose programs exist.
 */
const programsThere: Step = {
  name: 'handler-programs',
  diff: (target) =>
    target.inventory.runtime.handlers.flatMap((handler) =>
      missingPrograms(target, handler).map((path) => ({
        summary: `have ${path}, which the handler ${handler.name} of the runtime needs (found none)`,
      })),
    ),
};

/**
 * The configuration file that handlers of one kind read themselves. kbuild removes it when no handler of the host reads
 * it.
 */
const ownFile: Step = {
  name: 'handler-config',
  watches: { files: CONTAINER_RUNTIMES.flatMap(({ handlers }) => handlers?.file?.path ?? []) },
  diff: (target) => {
    const { inventory } = target;
    const file = containerRuntime(inventory).handlers?.file;
    if (file === undefined) return [];
    const reader = inventory.runtime.handlers.find(({ kind }) => kind === file.kind);
    return fileChanges(target, {
      path: file.path,
      content: reader === undefined ? undefined : file.content(reader, inventory),
    });
  },
};

/**
 * Installs the programs and files of the runtime's further handlers, before the runtime's configuration names the
 * handlers.
 */
export const handlerSteps: readonly Step[] = [...allPackages, programsThere, ownFile];

const runtimeClass = ({ name, overhead }: RuntimeHandler): JsonObject => ({
  apiVersion: 'node.k8s.io/v1',
  kind: 'RuntimeClass',
  metadata: { name },
  handler: name,
  ...(Object.keys(overhead).length === 0 ? {} : { overhead: { podFixed: overhead } }),
  // Not every node has the handler, and one that joins later may not.
  scheduling: { nodeSelector: { [handlerLabel(name)]: HANDLER_LABEL_VALUE } },
});

/** A RuntimeClass for each handler that some Linux node has; undefined without handlers. */
export function handlerManifest(inventory: Inventory): Manifest | undefined {
  const all = linuxNodes(inventory).flatMap((host) => inventoryOn(inventory, host).runtime.handlers);
  const byName = new Map(all.map((handler) => [handler.name, handler]));
  if (byName.size === 0) return undefined;
  return {
    title: 'RuntimeClasses',
    // The API may write a quantity in another way.
    compare: 'hash',
    objects: [...byName.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1)).map(runtimeClass),
  };
}

/** Applies the RuntimeClasses of the runtimes' further handlers. */
export const handlerClasses = manifest('handler-classes', handlerManifest);
