import { lowestApiServer } from '../cluster/api-versions.ts';
import { acting, liveCluster, refuseNoCluster } from '../cluster/live.ts';
import { controlPlaneNodes } from '../cluster/nodes.ts';
import { onlyHosts } from '../engine/phases.ts';
import { changesIn } from '../engine/plan.ts';
import { restartsOf } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { mostSerious, Refused, throwAll, UsageError } from '../errors.ts';
import { controlPlanes, linuxWorkers, selects, windowsHosts } from '../inventory/hosts.ts';
import { carryOut, type Outcome, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { findings, leaveOutRefused, refuseAsUp, refuseObstacles } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import {
  asked,
  confirmed,
  partOf,
  type Plannable,
  reportLeftOut,
  reportNothingToDo,
  type Run,
  type RunPlan,
  showPlan,
} from '../session/run.ts';
import { refuseWithoutApi } from '../session/selection.ts';
import { withRun } from '../session/with-run.ts';
import { begunVersions, type IsChosen, laterAddonsText, withoutEarlyAddons } from '../upgrade/begun.ts';
import type { KeepBefore } from '../upgrade/control-plane.step.ts';
import { type Hop, hopsOf, hopsThrough, newestPatch } from '../upgrade/hop.ts';
import { upgradeRefusals } from '../upgrade/upgrade.refusal.ts';
import { oldPods } from '../upgrade/versions.ts';
import { until } from '../wait.ts';
import { awayAtOnce, rollingDrain } from './drain-options.ts';
import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig.ts';
import { keptBefore } from './snapshots.ts';
import type { UpgradeOptions } from './up.command.ts';
import { hopsText, showOnly, viewOf } from './upgrade-plan.ts';
import { repairPhases, upgrade } from './upgrade.phases.ts';

/** How long the API may take after its host has booted, in ms: static pods started again within 40 s to 90 s. */
const PATIENCE_MS = 3 * 60_000;
const EVERY_MS = 5_000;

/**
 * Waits for an API that does not answer: a control plane may be booting after a power cut. Says so once. Returns when
 * it answers, or when it has not for 3 minutes; the command then tells why.
 */
export async function waitForApi({ connected, context, signal }: Run): Promise<void> {
  const reason = (): string | undefined => {
    const { cluster } = connected.observations.fleet();
    return cluster.state === 'down' ? cluster.reason : undefined;
  };
  const first = reason();
  if (first === undefined) return;
  context.err(`the API does not answer (${first}): waiting for it, at most ${String(PATIENCE_MS / 60_000)} minutes\n`);
  await until(
    async () => {
      await connected.observeAgain();
      return reason() === undefined ? true : undefined;
    },
    context.nowMs() + PATIENCE_MS,
    { pause: context.sleep, nowMs: context.nowMs, everyMs: EVERY_MS, signal },
  );
}

/**
 * What an operator is told who stops an upgrade after its first worker. `hosts`: the workers that are left; `version`:
 * the desired one.
 */
export const pausedText = (hosts: readonly string[], version: string): string =>
  [
    `stopped after the first worker; still with an older kubelet: ${hosts.join(', ')}. Pods stay there; new ones ` +
      'prefer upgraded workers',
    `  → \`kbuild upgrade\` with the same inventory goes on to ${version}; until then \`kbuild up\` changes no kubelet`,
    '',
  ].join('\n');

/**
 * The hops from the running version to the inventory's. A cluster that has it already gets one hop to it: workers may
 * be older.
 */
async function hopsOfRun({ inventory, connected }: Run): Promise<readonly Hop[]> {
  const fleet = connected.observations.fleet();
  const from = lowestApiServer(liveCluster(fleet));
  const to = inventory.kubernetes.version;
  const begun = begunVersions(inventory, fleet);
  const { hops, missing } = hopsOf(from, to, inventory.kubernetes.via, begun);
  const found = await Promise.all(
    missing.map((minor) => newestPatch(inventory, fleet, acting(fleet), minor, connected.on)),
  );
  const all = missing.length === 0 ? hops : hopsOf(from, to, [...inventory.kubernetes.via, ...found], begun).hops;
  return hopsThrough(from, all.length === 0 ? [to] : all);
}

/** What was cut off between two renames of kubeadm comes first: without it the API may be down. */
async function repaired(run: Run): Promise<number> {
  const work: Work = { phases: () => partOf(run, repairPhases(run.inventory)).phases, refuse: () => refuseAsUp(run) };
  const plan = await firstPlan(run, work);
  if (changesIn(plan.changes).length === 0) return 0;
  showPlan(run, plan);
  if (!(await confirmed(run, 'Put these back first?'))) return 0;
  const { code } = await carryOut(run, work, plan);
  if (code === 0) await run.connected.observeAgain();
  return code;
}

const isOfControlPlane = ({ name }: Pick<Phase, 'name'>): boolean => /^(?:etcd|control-plane|addons)-/.test(name);
const isOfWorkers = ({ name }: Pick<Phase, 'name'>): boolean =>
  /^(?:old-workers$|(?:windows-)?(?:canary$|cordon-|workers-)|windows-kube-proxy$)/.test(name);

/** The hosts that the flags of a run have it upgrade. */
const chosenBy =
  ({ inventory }: Pick<Run, 'inventory'>, { hosts, workersOnly }: UpgradeOptions): IsChosen =>
  (name) =>
    selects(hosts, name) && !(workersOnly === true && controlPlanes(inventory).some((host) => host.name === name));

/** What the run says of addons that wait for control planes which it leaves as they are. */
const laterAddons = (run: Run, flags: UpgradeOptions, hops: readonly Hop[]): string =>
  laterAddonsText(liveCluster(run.connected.observations.fleet()), hops, chosenBy(run, flags));

/** The phases of the run, limited by its flags. */
function phasesOf(
  run: Run,
  flags: UpgradeOptions,
  { hops, keep }: { readonly hops: readonly Hop[]; readonly keep: KeepBefore },
): ReturnType<typeof partOf> {
  const { inventory, connected } = run;
  const all: readonly Phase[] = upgrade(inventory, connected.observations.fleet(), {
    hops,
    keep,
    ...rollingDrain(inventory, flags),
    atOnce: awayAtOnce(inventory, linuxWorkers(inventory), flags),
    windowsAtOnce: awayAtOnce(inventory, windowsHosts(inventory), flags),
  });
  // Nothing is downloaded to workers that is not installed.
  const some = flags.controlPlaneOnly === true ? onlyHosts(all, ({ role }) => role !== 'worker') : all;
  const cluster = liveCluster(connected.observations.fleet());
  return partOf(
    run,
    withoutEarlyAddons(some, cluster, hops, chosenBy(run, flags)).filter(
      (phase) => !(flags.workersOnly === true && isOfControlPlane(phase)),
    ),
  );
}

/**
 * No kubelet may be newer than an API server: workers wait for every control plane of the cluster.
 * @throws Refused where the flags of the run, or an absent host, leave a control plane as it is
 */
function refuseWorkersFirst({ inventory, connected }: Run, { changes }: RunPlan): void {
  const cluster = liveCluster(connected.observations.fleet());
  const to = inventory.kubernetes.version;
  const workers = changes.filter(({ phase, step }) => isOfWorkers({ name: phase }) && step === 'kubelet-upgraded');
  const last = `control-plane-${inventory.kubernetes.minor}`;
  const due = new Set(
    changes.flatMap(({ phase, host, step }) => (phase === last && step === 'control-plane-upgraded' ? [host] : [])),
  );
  const left = controlPlaneNodes(cluster).filter(({ name }) => oldPods(cluster, name, to).length > 0 && !due.has(name));
  if (workers.length === 0 || left.length === 0) return;
  throw new Refused(
    'minors-apart',
    inventory.name,
    `${left.map(({ name }) => name).join(', ')} would stay older than the kubelets of ` +
      `${workers.map(({ host }) => host).join(', ')}, which Kubernetes does not support`,
    'upgrade every control plane first: `kbuild upgrade --control-plane-only`',
  );
}

/** @throws Refused where this cluster may not be upgraded by these hops now */
function refuseUpgrade(run: Run, flags: UpgradeOptions, hops: readonly Hop[]): void {
  refuseAsUp(run);
  const fleet = run.connected.observations.fleet();
  throwAll(
    upgradeRefusals(
      run.inventory,
      fleet,
      hops.map(({ version }) => version),
      chosenBy(run, flags),
    ),
  );
}

/**
 * True for the phases that come after the first worker: the first Linux one, or the first Windows one where no Linux
 * worker is due.
 */
function isAfterCanary({ changes }: RunPlan): (phase: Pick<Phase, 'name'>) => boolean {
  const canary = changes.find(({ phase }) => phase !== 'old-workers' && isOfWorkers({ name: phase }))?.phase;
  return (phase) =>
    (phase.name !== 'old-workers' && isOfWorkers(phase) && phase.name !== canary) ||
    /^(?:windows-)?settle$/.test(phase.name);
}

/**
 * Carries the plan out. With --pause-after-canary, the operator is asked when the first worker is through; no lock is
 * held then.
 */
async function carriedOut(run: Run, flags: UpgradeOptions, all: Plannable, plan: RunPlan): Promise<Outcome> {
  const isAfter = isAfterCanary(plan);
  const rest = plan.changes.filter(({ phase }) => isOfWorkers({ name: phase }) && isAfter({ name: phase }));
  // One of them at a time: Linux workers are through before the first Windows worker.
  const workersAtOnce = Math.max(
    ...[linuxWorkers, windowsHosts].map((of) => awayAtOnce(run.inventory, of(run.inventory), flags)),
  );
  const work: Work = { ...all, workersAtOnce };
  if (flags.pauseAfterCanary !== true || rest.length === 0) return carryOut(run, work, plan);
  const isFirst = (phase: Phase): boolean => !isAfter(phase);
  const first = await carryOut(
    run,
    { ...work, phases: () => work.phases().filter(isFirst) },
    {
      phases: plan.phases.filter(isFirst),
      changes: plan.changes.filter(({ phase }) => !isAfter({ name: phase })),
    },
  );
  if (!first.isDone) return first;
  if (!(await asked(run, 'The first worker is upgraded. Go on with the others?'))) {
    run.context.err(pausedText([...new Set(rest.map(({ host }) => host))], run.inventory.kubernetes.version));
    return { code: 0, isDone: false };
  }
  await run.connected.observeAgain();
  return carryOut(run, work, await firstPlan(run, work));
}

/** `kbuild upgrade`: makes every component the version of the inventory. */
export const runUpgrade = (outer: Context, flags: UpgradeOptions): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'upgrade',
      json: flags.plan === true ? 'document' : 'events',
      reportsUnreachable: true,
      changesVersion: true,
    },
    async (run) => {
      const { inventory, connected } = run;
      if (flags.pauseAfterCanary === true && !run.context.canAsk)
        throw new UsageError('--pause-after-canary asks a question, and there is no terminal to ask on', {
          remedy: 'leave it out, or upgrade a first worker with --workers-only --hosts NAME',
        });
      refuseNoCluster({ inventory, fleet: connected.observations.fleet() });
      leaveOutRefused(run);
      refuseObstacles(run, findings(run));
      const before = flags.plan === true ? 0 : await repaired(run);
      if (before !== 0) return before;
      await refuseWithoutApi(run);
      await waitForApi(run);
      const hops = await hopsOfRun(run);
      const way = { hops, keep: keptBefore(run) };
      const part = () => phasesOf(run, flags, way);
      const work: Plannable = {
        phases: () => part().phases,
        refuse: () => refuseUpgrade(run, flags, hops),
        refusePlan: (planned) => refuseWorkersFirst(run, planned),
      };
      const plan = await firstPlan(run, work);
      const { waiting } = part();
      if (flags.plan === true) return showOnly(run, hops, plan);
      const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
      if (plan.changes.length === 0) {
        reportNothingToDo(run);
        return mostSerious(reportLeftOut(run, waiting));
      }
      await checkKubeconfigPath(kubeconfig);
      const { text } = await viewOf(run, plan, 'before an upgrade');
      showPlan(run, plan, {
        restarts: restartsOf(inventory, plan.changes),
        notes: `${hopsText(hops)}${laterAddons(run, flags, hops)}${text}`,
      });
      if (changesIn(plan.changes).length > 0 && !(await confirmed(run, 'Carry out this upgrade?'))) return 0;
      const { code, isDone } = await carriedOut(run, flags, work, plan);
      if (isDone) {
        await writeKubeconfig(run, kubeconfig, 'always');
        run.context.err(laterAddons(run, flags, hops));
      }
      return mostSerious([code, ...reportLeftOut(run, waiting)]);
    },
  );
