import { observedLinux, type Surveys } from '../cluster/fleet/fleet.ts';
import type { NodeView } from '../cluster/fleet/view.ts';
import { changeRefusals } from '../cluster/host.refusal.ts';
import { acting } from '../cluster/live.ts';
import { type CheckedFinding, stops } from '../engine/check.ts';
import { type KbuildError, worstExitCode } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import { reasonOf } from '../host/surveyor.survey.ts';
import { kubectl } from '../inventory/api-server.ts';
import { selects } from '../inventory/hosts.ts';
import { firstServiceAddress } from '../inventory/addresses.ts';
import { podNetwork } from '../network/pod-network.survey.ts';
import { podSpace } from '../network/pods.survey.ts';
import { checkVerdict, findingsText, junit } from '../report/findings.ts';
import { jsonDocument } from '../report/json.ts';
import { checkMarkdown } from '../report/markdown.ts';
import type { Context } from '../session/context.ts';
import { placedFindings, placedRefusal, reportToPipeline } from '../session/inventory.ts';
import { checkOutputFiles, writeOutputFile } from '../session/output.ts';
import { findings, leaveOutRefused, obstacles, survey, withoutNamed } from '../session/preflight.ts';
import type { Run } from '../session/run.ts';
import { sameCommand } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { checks } from './every.checks.ts';
import type { CheckOptions } from './up.command.ts';

/** An image may have to be pulled by every node. */
const START_MS = 3 * 60_000;
/** Longer than the survey ever takes. */
const LIFE_SECONDS = 15 * 60;

const bracketed = (address: string): string => (address.includes(':') ? `[${address}]` : address);

const isWindows = ({ labels }: NodeView): boolean => labels['kubernetes.io/os'] === 'windows';

/**
 * Tests the network of the live cluster from pods on its Linux nodes. undefined if there is no cluster. Makes no pods
 * in a foreign cluster. @throws the reason of the run's signal when it was interrupted, after the pods are removed
 */
async function surveyPods({ connected, context, flags, inventory, runId, signal }: Run): Promise<Surveys['pods']> {
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

/** What `check` prints on a terminal: the findings, the verdict, and what to do next. */
function checkText(
  run: Run,
  hosts: number,
  found: readonly CheckedFinding[],
  obstacle: KbuildError | undefined,
): string {
  // Then the error is the verdict.
  if (obstacle !== undefined && obstacle.exitCode !== EXIT.checks) return findingsText(found);
  const explain = found.length === 0 ? '' : '\n`kbuild explain check NAME` explains a check\n';
  const next = found.some(stops) ? sameCommand(run, 'check') : sameCommand(run, 'plan');
  return (
    `${findingsText(found)}${explain}${checkVerdict(hosts, found)}\nnext: ` +
    `${found.some(stops) ? 'mend them, then ' : ''}${next}\n`
  );
}

/** `kbuild check`: every preflight check, all findings at once. Reads only. */
export async function runCheck(outer: Context, flags: CheckOptions): Promise<number> {
  await checkOutputFiles(outer, [flags.junit, flags.codeQuality]);
  return withRun(outer, flags, { command: 'check', json: 'document', reportsUnreachable: true }, async (run) => {
    const { context } = run;
    leaveOutRefused(run);
    const fleet = run.connected.observations.fleet();
    const meant = fleet.hosts.filter(({ host }) => selects(run.flags.hosts, host.name));
    const hosts = meant.map(({ host }) => host.name);
    const about = observedLinux(fleet).filter(({ host }) => hosts.includes(host.name));
    const surveys = flags.active === true ? { ...(await survey(run, about)), pods: await surveyPods(run) } : undefined;
    const all = findings(run, surveys);
    const found = all.filter(({ host }) => host === undefined || selects(run.flags.hosts, host));
    if (flags.junit !== undefined) {
      const names = checks.map(({ name }) => name);
      await writeOutputFile(context, flags.junit, junit(run.inventory.name, names, hosts, run.mask.value(found)));
    }
    if (flags.json === true)
      context.out(jsonDocument<'check'>({ cluster: run.inventory.name, hosts, findings: found }));
    const obstacle = obstacles(run, found);
    if (flags.json !== true) context.out(checkText(run, hosts.length, withoutNamed(found, obstacle), obstacle));
    await reportToPipeline(
      context,
      flags,
      () => [...placedRefusal(run, obstacle), ...placedFindings(run, run.mask.value(found))],
      () => checkMarkdown(run.inventory.name, hosts.length, run.mask.value(found)),
    );
    if (obstacle !== undefined && obstacle.exitCode !== EXIT.checks) throw obstacle;
    return Promise.resolve(obstacle?.exitCode ?? worstExitCode(fleet.unreachable.map(({ error }) => error)));
  });
}
