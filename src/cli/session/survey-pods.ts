import { acting } from '../../cluster/acting.ts';
import { kubectl } from '../../configuration/kubectl.ts';
import { changeRefusals } from '../../cluster/change-refusals.ts';
import type { NodeView } from '../../facts/cluster.ts';
import { firstServiceAddress } from '../../topology/subnets.ts';
import { podNetwork } from '../../surveys/pod-network.ts';
import { podSpace } from '../../surveys/pod-space.ts';
import { reasonOf } from '../../surveys/surveyed.ts';
import type { Surveys } from '../../surveys/surveys.ts';
import type { Run } from './run.ts';

/** An image may have to be pulled by every node. */
const START_MS = 3 * 60_000;
/** Longer than the survey ever takes. */
const LIFE_SECONDS = 15 * 60;

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

const isWindows = ({ labels }: NodeView): boolean => labels['kubernetes.io/os'] === 'windows';

/**
 * Tests the network of the live cluster from pods on its Linux nodes. undefined if there is no cluster. Makes no pods in a
 * foreign cluster. @throws the reason of the run's signal when it was interrupted, after the pods are removed
 */
export async function surveyPods({
  connected,
  context,
  flags,
  inventory,
  runId,
  signal,
}: Run): Promise<Surveys['pods']> {
  const fleet = connected.observations.fleet();
  const { cluster } = fleet;
  if (cluster.state === 'absent') return undefined;
  if (cluster.state === 'down') return { failed: `the cluster does not answer: ${cluster.reason}` };
  const [refused] = changeRefusals(inventory, fleet, [cluster.via], 'moves runtimes');
  if (refused !== undefined) return { failed: `kbuild makes no pods there: ${refused.message}` };
  const linux = cluster.nodes.filter((node) => !isWindows(node));
  const nodes = linux.flatMap(({ name, ready }) => (ready ? [name] : []));
  const notReady = linux.flatMap(({ name: node, ready, reason }) =>
    ready ? [] : [{ node, reason: `it is not Ready${reason === '' ? '' : `: ${reason}`}` }],
  );
  const untried = cluster.nodes
    .filter(isWindows)
    .map(({ name: node }) => ({ node, reason: 'its pods are tried by `kbuild windows selftest`' }));
  if (nodes.length === 0) return { found: { tried: 0, blocked: [], failed: notReady, untried } };
  const host = acting(fleet);
  const space = podSpace({
    kubectl: kubectl(inventory, host),
    remote: connected.on(host),
    namespace: `kbuild-check-${runId.slice(-8)}`,
    security: 'restricted',
    lifeSeconds: LIFE_SECONDS,
  });
  try {
    const found = await podNetwork(space, nodes, {
      image: inventory.network.testImage,
      api: `${bracketed(firstServiceAddress(inventory))}:443`,
      startMs: START_MS,
      nowMs: context.nowMs,
      sleep: context.sleep,
      say: (text) => {
        if (flags.quiet !== true) context.err(`${text}\n`);
      },
      signal,
    });
    return { found: { ...found, failed: [...notReady, ...found.failed], untried } };
  } catch (error) {
    signal.throwIfAborted();
    return { failed: reasonOf(error) };
  }
}
