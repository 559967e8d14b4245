import { inventoryOn, linuxNodes } from '../inventory/hosts.ts';
import type { Inventory } from '../inventory/inventory.ts';
import { HANDLER_LABEL_PREFIX, handlerLabel } from '../inventory/runtime-handlers.ts';
import { lines, probe, probeInPlace, type Probe } from '../shell/probe.ts';
import { script } from '../templates.ts';
import { HANDLERS } from './handlers.value.ts';

/** A pod whose containers start by a further handler of its node's runtime. */
export interface HandlerPod {
  readonly namespace: string;
  readonly name: string;
  readonly node: string;
  /** Name of the runtime's handler. The pod's RuntimeClass may have another name. */
  readonly handler: string;
}

/** Reads what handler-pods.sh prints. If a pod's RuntimeClass no longer exists, its name counts as the handler. */
function parseHandlerPods(out: string): readonly HandlerPod[] {
  const rows = lines(out).map((line) => line.split('\t'));
  const handlers = new Map(
    rows.flatMap(([what, name, handler]) => (what === 'class' ? [[name!, handler!] as const] : [])),
  );
  return rows.flatMap(([what, namespace = '', name = '', node = '', runtimeClass = '']) =>
    what === 'pod' ? [{ namespace, name, node, handler: handlers.get(runtimeClass) ?? runtimeClass }] : [],
  );
}

/** The names of the handlers that the inventory gives a node; empty if the inventory does not name the node. */
export function handlersOf(inventory: Inventory, node: string): readonly string[] {
  const host = linuxNodes(inventory).find(({ name }) => name === node);
  return host === undefined ? [] : inventoryOn(inventory, host).runtime.handlers.map(({ name }) => name);
}

/** The handlers that a node has by its labels, and that the inventory does not give it. */
export const lostHandlers = (
  inventory: Inventory,
  { name, labels }: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): readonly string[] => {
  const kept = new Set(handlersOf(inventory, name).map(handlerLabel));
  return Object.keys(labels)
    .filter((label) => label.startsWith(HANDLER_LABEL_PREFIX) && !kept.has(label))
    .map((label) => label.slice(HANDLER_LABEL_PREFIX.length));
};

/** `NODE HANDLER` of the inventory. */
export const keptHandlers = (inventory: Inventory): readonly string[] =>
  linuxNodes(inventory).flatMap(({ name }) => handlersOf(inventory, name).map((handler) => `${name} ${handler}`));

/** The pods with further handlers on nodes that lose one. No pod is read while no node loses any. */
export const handlerPodsProbe = (inventory: Inventory, kubectl: readonly string[]): Probe<readonly HandlerPod[]> =>
  probe(
    script('runtime/handler-pods.sh', {
      KUBECTL: kubectl,
      PREFIX: HANDLER_LABEL_PREFIX,
      KEPT: keptHandlers(inventory),
    }),
    parseHandlerPods,
  );

/** The existing paths among the programs and devices that the inventory's handlers need on the host. */
export const handlerPrograms = ({ runtime: { handlers } }: Inventory) =>
  probeInPlace(
    script('runtime/probe-handler-programs.sh', {
      PROGRAMS: handlers.flatMap(({ kind, path }) => HANDLERS[kind].programs(path)),
      DEVICES: handlers.flatMap(({ kind }) => HANDLERS[kind].device?.path ?? []),
    }),
    (out): ReadonlySet<string> => new Set(lines(out)),
  );
