import { rename, rm, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type KubeadmAuthority, ownAuthority, RENEWED_NAMES } from '../certificates/authorities.value.ts';
import { authorityChangeRefusals } from '../certificates/authority-change.refusal.ts';
import { AUTHORITY_FILES } from '../certificates/certificates.facts.ts';
import { asked, type Due, nearItsEnd } from '../certificates/expiry.ts';
import { renewalsOf } from '../certificates/renew-ca.step.ts';
import { observedLinux } from '../cluster/fleet/fleet.ts';
import { refuseNoCluster } from '../cluster/live.ts';
import { restartsOf } from '../engine/restarts.ts';
import type { Phase } from '../engine/step.ts';
import { mostSerious, throwAll, UsageError, worstExitCode } from '../errors.ts';
import { controlPlanes, selects } from '../inventory/hosts.ts';
import { certificatesMetrics, certificatesText, certificatesView, hasExpired } from '../report/certificates.ts';
import { unreachableText } from '../report/failure.ts';
import { jsonDocument } from '../report/json.ts';
import { carryOut, type Work } from '../session/carry-out.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { firstPlan } from '../session/as-told.ts';
import { confirmed, partOf, reportLeftOut, reportNothingToDo, type Run, showPlan } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { systemText } from '../shell/text.ts';
import { changeAuthorities, refuseAbsentHosts } from './authority-run.ts';
import type { CertsOptions, RecoverCertsOptions, RenewCaOptions, RenewCertsOptions } from './certs.command.ts';
import { recoverCertificatesPhases, renewAuthorityPhases, renewCertificatesPhases } from './certs.phases.ts';
import { checkKubeconfigPath, kubeconfigPath, writeKubeconfig } from './kubeconfig.ts';
import { isSpecial } from './own-file.ts';
import { keptBefore } from './snapshots.ts';

const NAMES = Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[];

/** @throws UsageError for a name that is no authority's */
function checkAuthorities(operands: readonly string[]): void {
  const unknown = operands.find((one) => !NAMES.some((name) => name === one));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is no authority`, { remedy: `one of ${NAMES.join(', ')}` });
}

/** The authorities that are meant: those named, or all that kbuild can renew. */
function meant({ inventory, connected }: Run, operands: readonly string[]): readonly KubeadmAuthority[] {
  if (operands.length > 0) return NAMES.filter((name) => operands.includes(name));
  const [first] = controlPlanes(inventory);
  const observed = connected.observations.fleet().hosts.find(({ host }) => host.name === first?.name);
  if (observed?.os !== 'linux') return NAMES;
  const { files } = observed.facts.authorities;
  return NAMES.filter((name) => files[name].keys.current !== undefined || ownAuthority(inventory, name) !== undefined);
}

/** `kbuild certs renew-ca [NAME…]`: authorities with a new end and the same key. */
export const runRenewCa = (outer: Context, flags: RenewCaOptions, operands: readonly string[]): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'certs renew-ca',
      json: flags.plan === true ? 'document' : 'events',
      reportsUnreachable: true,
      checkInventory: () => checkAuthorities(operands),
    },
    async (run) => {
      const { inventory, connected } = run;
      const fleet = connected.observations.fleet();
      const names = meant(run, operands);
      const refuse = (): void => {
        refuseAbsentHosts(run);
        refuseForeign(
          run,
          inventory.hosts.map(({ name }) => name),
        );
        const now = connected.observations.fleet();
        throwAll(authorityChangeRefusals({ inventory, fleet: now, names, command: 'certs renew-ca' }));
      };
      refuse();
      const keep = keptBefore(run, (what) => `before ${what}`);
      const renewals = renewalsOf(fleet, names, { nowMs: run.context.nowMs(), again: flags.again });
      const isAway = fleet.cluster.state !== 'up';
      return changeAuthorities(run, flags, {
        refuse,
        parts: [
          {
            phases: () =>
              renewAuthorityPhases(
                inventory,
                renewals,
                (on, host) => keep(on, host, 'authorities were renewed'),
                isAway ? 'is away' : 'answers',
              ),
            question: 'Renew these authorities?',
          },
        ],
        end: () =>
          isAway
            ? 'the hosts have the renewed authorities. Run `kbuild certs recover` now, and then this command ' +
              'once more: it tells pods and joining hosts\n'
            : '',
      });
    },
  );

/** @throws UsageError for a name that kubeadm does not renew, and for names beside --all */
function checkCertificates(names: readonly string[], { all }: RenewCertsOptions): void {
  if (names.length > 0 && all === true) throw new UsageError('name certificates, or pass --all: not both');
  const unknown = names.find((name) => !RENEWED_NAMES.some((one) => one === name));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is no certificate that kubeadm renews`, {
      remedy: `one of ${RENEWED_NAMES.join(', ')}`,
    });
}

/** Which certificates are meant. */
function dueOf({ connected }: Run, names: readonly string[], { all }: RenewCertsOptions): Due {
  if (names.length === 0 && all !== true) return nearItsEnd;
  return asked(observedLinux(connected.observations.fleet()), all === true ? undefined : names);
}

/**
 * Plans these phases, asks, carries them out, and writes the administrator's kubeconfig again, which is a copy of the
 * old admin.conf.
 */
async function renewed(
  run: Run,
  flags: { readonly kubeconfig?: string | undefined },
  { all, question }: { readonly all: readonly Phase[]; readonly question: string },
): Promise<number> {
  const { inventory } = run;
  const phases = () => partOf(run, all).phases;
  const hosts = () => phases().flatMap((phase) => phase.hosts.map(({ name }) => name));
  const work: Work = { phases, refuse: () => refuseForeign(run, [...new Set(hosts())]) };
  const plan = await firstPlan(run, work);
  const { waiting } = partOf(run, all);
  const kubeconfig = kubeconfigPath(run, flags.kubeconfig);
  if (plan.changes.length === 0) {
    // A run that was cut off at its very end may not have written it.
    await writeKubeconfig(run, kubeconfig, 'if-due');
    reportNothingToDo(run);
    return mostSerious([0, ...reportLeftOut(run, waiting)]);
  }
  await checkKubeconfigPath(kubeconfig);
  showPlan(run, plan, { restarts: restartsOf(inventory, plan.changes) });
  if (!(await confirmed(run, question))) return 0;
  const { code, isDone } = await carryOut(run, work, plan);
  if (isDone) await writeKubeconfig(run, kubeconfig, 'always');
  return mostSerious([code, ...reportLeftOut(run, waiting)]);
}

/** `kbuild certs renew [NAME…]`: new certificates for the control planes, and for etcd on hosts of its own. */
export const runRenewCerts = (outer: Context, flags: RenewCertsOptions, names: readonly string[]): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'certs renew',
      json: 'events',
      checkInventory: () => checkCertificates(names, flags),
    },
    (run) =>
      renewed(run, flags, {
        all: renewCertificatesPhases(run.inventory, dueOf(run, names, flags)),
        question: 'Renew these certificates?',
      }),
  );

/** `kbuild certs recover`: a cluster whose certificates have expired is brought back. */
export const runRecoverCerts = (outer: Context, flags: RecoverCertsOptions): Promise<number> =>
  withRun(outer, flags, { command: 'certs recover', json: 'events' }, (run) => {
    const { connected, inventory } = run;
    refuseNoCluster({ inventory, fleet: connected.observations.fleet() });
    return renewed(run, flags, {
      all: recoverCertificatesPhases(inventory),
      question: 'Bring the cluster back with new certificates?',
    });
  });

const NOT_HEALTHY = 5;
const NOT_READ = 3;

/** Replaces a file whole, so that no reader sees half of it. @throws UsageError if it cannot be written */
async function replaceFile(path: string, content: string): Promise<void> {
  // node_exporter reads every file that ends with .prom.
  const temporary = `${path}.${String(process.pid)}.tmp`;
  try {
    if (isSpecial(path)) {
      await writeFile(path, content);
      return;
    }
    await writeFile(temporary, content, { mode: 0o644, flag: 'wx' });
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw new UsageError(`the metrics cannot be written: ${systemText(error)}`, {
      remedy: 'name another file with --metrics FILE',
      cause: error,
    });
  }
}

/** `kbuild certs`: every certificate on every host. Reads only. */
export const runCerts = (outer: Context, flags: CertsOptions): Promise<number> =>
  withRun(outer, flags, { command: 'certs', json: 'document', reportsUnreachable: true }, async (run) => {
    const { context, inventory, connected } = run;
    const fleet = connected.observations.fleet();
    const view = certificatesView(inventory, fleet, (host) => selects(run.flags.hosts, host));
    if (flags.metrics !== undefined)
      await replaceFile(resolve(context.cwd, flags.metrics), certificatesMetrics(view, context.nowMs()));
    const missing = fleet.unreachable.filter(({ host }) => selects(run.flags.hosts, host.name));
    if (flags.json === true) context.out(jsonDocument<'certs'>(view));
    else {
      const named = new Set(missing.map(({ host }) => host.name));
      context.out(certificatesText({ ...view, unknown: view.unknown.filter(({ host }) => !named.has(host)) }));
      context.err(unreachableText(missing));
    }
    return mostSerious([
      worstExitCode(missing.map(({ error }) => error)),
      view.unknown.length > 0 ? NOT_READ : 0,
      hasExpired(view) ? NOT_HEALTHY : 0,
    ]);
  });
