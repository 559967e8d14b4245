import type { PodSeen } from '../../network/pods.survey.ts';
import type { Bench } from './bench.ts';
import { type GroupPods, HOST_POD, LINUX_POD, WEB_PORT, WINDOWS_HOST_PROGRAM } from './objects.ts';
import type { Outside, Place } from './outside.ts';
import { fail, type Group, notTried, type Outcome, pass } from './plan.ts';

/** The inputs of all flows of one group. */
export interface Trial {
  readonly bench: Bench;
  readonly group: Group;
  readonly names: GroupPods;
  readonly pods: ReadonlyMap<string, PodSeen>;
  /** Names of the pods behind the group's Service. */
  readonly behind: readonly string[];
  readonly nodeAddresses: ReadonlyMap<string, string>;
  readonly linuxNodes: readonly string[];
  readonly dnsDomain: string;
  /** What lies outside the cluster. */
  readonly outside: Outside;
}

/** Why a flow that needs a Linux node is not tried. */
export const NO_LINUX = 'no Linux node takes pods';
/** Passes if one of the expected pods answered. */
export const answers = async (answered: Promise<string>, expected: readonly string[]): Promise<Outcome> => {
  const answer = await answered;
  return expected.includes(answer) ? pass : fail(`${answer === '' ? 'nothing' : answer} answered`);
};

/** Address of a pod; empty if it has none. */
export const ipOf = ({ pods }: Trial, name: string): string => pods.get(name)?.ip ?? '';

/** A pod connects by TCP to a place, or says why there is none. */
export const toPlace = async ({ bench, names }: Trial, place: Place): Promise<Outcome> => {
  if ('none' in place) return notTried(place.none);
  await bench.exec(names.main, ['/agnhost', 'connect', place.target, '--timeout=5s']);
  return pass;
};

/** Ports of a node that pods may have to reach: the kubelet and the health of kube-proxy. */
const NODE_PORTS = [10_250, 10_256];

/** A pod connects to its own node, to another of its group, and to a Linux node. */
export async function toNodes({ bench, group, names, nodeAddresses, linuxNodes }: Trial): Promise<Outcome> {
  const nodes = new Set([...group.nodes.map(({ name }) => name), ...linuxNodes.slice(0, 1)]);
  for (const node of nodes) {
    for (const port of NODE_PORTS) {
      const target = `${nodeAddresses.get(node) ?? ''}:${String(port)}`;
      await bench.exec(names.main, ['/agnhost', 'connect', target, '--timeout=5s']).catch((error: unknown) => {
        throw new Error(`${target} of ${node}: ${(error as Error).message.split('\n')[0]!}`);
      });
    }
  }
  return pass;
}

/** A node connects to a pod that runs on another node. */
export async function nodeToOtherNode(trial: Trial): Promise<Outcome> {
  const { bench, group, names, pods } = trial;
  const source = group.os === 'windows' ? names.host! : HOST_POD;
  const own = pods.get(source)?.node;
  if (own === undefined) return notTried(NO_LINUX);
  const target = [...trial.behind, LINUX_POD].find((name) => pods.has(name) && pods.get(name)!.node !== own);
  if (target === undefined) return notTried('there is only one node that takes pods');
  if (group.os === 'linux') return answers(bench.dial(source, ipOf(trial, target), WEB_PORT), [target]);
  const seen = pods.get(source)!;
  if (!seen.ready) return fail(`its HostProcess pod does not run: ${seen.reason}`);
  const place = `${ipOf(trial, target)}:${String(WEB_PORT)}`;
  await bench.exec(source, [WINDOWS_HOST_PROGRAM, 'connect', place, '--timeout=5s']);
  return pass;
}
