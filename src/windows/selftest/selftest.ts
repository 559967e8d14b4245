import type { NodeView } from '../../facts/cluster.ts';
import { podsStarted, type Patience } from '../../surveys/pods-seen.ts';
import type { Bench } from './bench.ts';
import { flows, trialOf, type Flow, type Trial } from './flows.ts';
import { podsOf, selftestObjects } from './objects.ts';
import { fail, type Outcome, type Row } from './outcome.ts';
import type { SelftestPlan } from './plan.ts';

/** What a selftest is told. */
export interface SelftestOptions extends Patience {
  readonly image: string;
  readonly dnsDomain: string;
  /** `host:port` outside the network of pods, for the flow `outbound by TCP`. */
  readonly outside: string;
  /** How long one flow may take until it passes, milliseconds: kube-proxy writes its rules a moment later. */
  readonly flowMs: number;
}

const LOOK_MS = 1000;

/** Tries until it passes, or is no matter of waiting, or the time is over. */
async function tried(flow: Flow, trial: Trial, { nowMs, sleep, flowMs, signal }: SelftestOptions): Promise<Outcome> {
  const deadline = nowMs() + flowMs;
  for (;;) {
    const outcome = await flow
      .attempt(trial)
      .catch((error: unknown) => fail((error instanceof Error ? error.message : String(error)).split('\n')[0]!));
    signal.throwIfAborted();
    if (outcome.result !== 'fail' || nowMs() >= deadline) return outcome;
    await sleep(LOOK_MS);
  }
}

/**
 * Runs every flow on every group, and cleans up whatever happens.
 * @throws CommandError, ConnectError when the cluster cannot be asked at all; the signal's reason when it was aborted.
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
    const pods = new Map((await podsStarted(() => bench.pods(), options)).map((pod) => [pod.name, pod]));
    const rows: Row[] = [];
    for (const group of plan.groups) {
      const trial = trialOf({
        bench,
        group,
        pods,
        nodeAddresses: new Map(nodes.map(({ name, internalAddress }) => [name, internalAddress])),
        linuxNodes: nodes.filter(({ labels }) => labels['kubernetes.io/os'] === 'linux').map(({ name }) => name),
        dnsDomain: options.dnsDomain,
        outside: options.outside,
      });
      const main = pods.get(podsOf(group).main);
      for (const flow of flows) {
        say(`${group.about}: ${flow.title}`);
        const outcome =
          main?.ready === true
            ? await tried(flow, trial, options)
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
