import type { NodeView } from '../../cluster/fleet/view.ts';
import { type PodSeen, podsStarted, type PodWait } from '../../network/pods.survey.ts';
import type { Bench, Outside, Trial } from './bench.ts';
import { type Flow, flows, trialOf } from './flows.ts';
import { PLAIN_POD, podsOf, selftestObjects } from './objects.ts';
import { fail, type Outcome, type Row, type SelftestPlan } from './plan.ts';

/** Options of a selftest. */
interface SelftestOptions extends PodWait {
  readonly image: string;
  readonly dnsDomain: string;
  readonly nodeLimit: string | undefined;
  readonly outside: Outside;
  /** Time limit for one flow to pass, in milliseconds. kube-proxy needs some time to write its rules. */
  readonly flowMs: number;
}

/** The pods. One that no scheduler needs to place counts as started: with taints on every node it stays without one. */
const placed = async (bench: Bench): Promise<readonly PodSeen[]> =>
  (await bench.pods()).map((pod) => (pod.name === PLAIN_POD && pod.node === '' ? { ...pod, ready: true } : pod));

const RETRY_MS = 1000;

/** Attempts a flow until the outcome is not `fail`, or until `flowMs` is over. */
async function outcomeOf(
  flow: Flow,
  trial: Trial,
  { nowMs, sleep, flowMs, signal }: SelftestOptions,
): Promise<Outcome> {
  const deadline = nowMs() + flowMs;
  for (;;) {
    const outcome = await flow
      .attempt(trial)
      .catch((error: unknown) => fail((error instanceof Error ? error.message : String(error)).split('\n')[0]!));
    signal.throwIfAborted();
    if (outcome.result !== 'fail' || nowMs() >= deadline) return outcome;
    await sleep(RETRY_MS);
  }
}

/**
 * Runs every flow on every group. Always deletes its namespace at the end.
 * @throws CommandError, ConnectError if the cluster does not answer; the signal's reason if it was aborted.
 */
export async function selftest(
  bench: Bench,
  plan: SelftestPlan,
  nodes: readonly NodeView[],
  options: SelftestOptions,
): Promise<readonly Row[]> {
  const { say } = options;
  await bench.begin();
  try {
    await bench.apply(selftestObjects(plan, options.image));
    const pods = new Map((await podsStarted(() => placed(bench), options)).map((pod) => [pod.name, pod]));
    const rows: Row[] = [];
    for (const group of plan.groups) {
      const trial = trialOf({
        bench,
        group,
        pods,
        nodeAddresses: new Map(nodes.map(({ name, internalAddress }) => [name, internalAddress])),
        linuxNodes: nodes.filter(({ labels }) => labels['kubernetes.io/os'] === 'linux').map(({ name }) => name),
        dnsDomain: options.dnsDomain,
        nodeLimit: options.nodeLimit,
        outside: options.outside,
      });
      const main = pods.get(podsOf(group).main);
      for (const flow of flows) {
        say(`${group.about}: ${flow.title}`);
        const outcome =
          main?.ready === true
            ? await outcomeOf(flow, trial, options)
            : fail(`its pod does not run: ${main?.reason ?? 'it is not there'}`);
        rows.push({ about: group.about, flow: flow.title, ...outcome });
      }
    }
    return rows;
  } finally {
    say(`deleting namespace ${bench.namespace}`);
    await bench.end();
  }
}
