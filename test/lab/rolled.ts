/** A change that went node by node: in what order, and that nothing of it is left. */
import { expect } from 'vitest';
import { eventsOf, type Ran } from './kbuild.ts';
import { kubectl, nodes } from './pods.ts';
import { leftOnNodes } from './upgraded.ts';

/** The changes of a step, begun and ended, as `changing HOST`, `changed HOST`. */
export const spans = (ran: Ran, step: string): readonly string[] =>
  eventsOf(ran).flatMap((event) =>
    (event.kind === 'changing' || event.kind === 'changed') && event.step === step
      ? [`${event.kind} ${event.host}`]
      : [],
  );

/** The spans of hosts of which none began before the one before it had ended. */
export const oneAfterAnother = (hosts: readonly string[]): readonly string[] =>
  hosts.flatMap((host) => [`changing ${host}`, `changed ${host}`]);

/** The runtime that each of these nodes reports, e.g. `cri-o`. */
export async function reportedRuntimes(controlPlane: string, hosts: readonly string[]): Promise<readonly string[]> {
  const text = await kubectl(
    controlPlane,
    `get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.nodeInfo.containerRuntimeVersion}{"\\n"}{end}'`,
  );
  const found = new Map(text.trim().split('\n').map((line) => line.split(' ') as [string, string])); // prettier-ignore
  return hosts.map((host) => found.get(host)!.replace(/:.*/, ''));
}

/** Expects all nodes Ready and without a note or taint of kbuild's, and the workload of `startWorkload` whole. */
export async function expectWholeNodes(controlPlane: string, hosts: readonly string[]): Promise<void> {
  expect(await nodes(controlPlane)).toEqual(Object.fromEntries(hosts.map((host) => [host, true])));
  expect(await leftOnNodes(controlPlane)).toEqual([]);
  expect(await kubectl(controlPlane, "get deployment web -o jsonpath='{.status.readyReplicas}'")).toBe('2');
  const notes = await kubectl(controlPlane, "get nodes -o jsonpath='{.items[*].metadata.annotations}'");
  expect(notes).not.toContain('kbuild.dev/');
}
