import { authorityChangeRefusals } from '../certificates/authority-change.refusal.ts';
import { ROTATED_FILES, type RotatedName } from '../certificates/certificates.facts.ts';
import { readersLeft } from '../certificates/rotation-4-restart-pods.step.ts';
import { rotationReasons } from '../certificates/rotation.refusal.ts';
import { nounOf, type Rotating } from '../certificates/rotation.step.ts';
import { endOf, isDropping, rotationOf, stageOf } from '../certificates/rotation.ts';
import type { TokenUse } from '../certificates/token-use.facts.ts';
import { namedObjects, tokensStillUsed } from '../certificates/token-use.ts';
import { observedLinux } from '../cluster/fleet/fleet.ts';
import { tokenUseProbe } from '../cluster/fleet/probes.ts';
import type { ClusterView } from '../cluster/fleet/view.ts';
import { acting } from '../cluster/live.ts';
import { refusedFor } from '../cluster/reasons.ts';
import { Refused, throwAll, UsageError } from '../errors.ts';
import { type Context, stamp } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import { reportNothingToDo, type Run } from '../session/run.ts';
import { withRun } from '../session/with-run.ts';
import { changeAuthorities, type Part, refuseAbsentHosts } from './authority-run.ts';
import type { RotateCaOptions } from './certs.command.ts';
import { rotateAuthorityPhases, ROTATION_PARTS, type RotationPart } from './certs.phases.ts';
import { keptBefore } from './snapshots.ts';

const NAMES = Object.keys(ROTATED_FILES) as readonly RotatedName[];

/** The authority that is meant. @throws UsageError */
function meant(operands: readonly string[]): RotatedName {
  const [operand = 'ca', ...more] = operands;
  const found = NAMES.find((name) => name === operand);
  if (found === undefined || more.length > 0)
    throw new UsageError(`"${operands.join(' ')}" is not one authority`, { remedy: `one of ${NAMES.join(', ')}` });
  return found;
}

/** What begins the common name of each authority that kbuild makes, and the name of each key. */
const SUBJECTS: Readonly<Record<RotatedName, string>> = {
  ca: 'kubernetes',
  'front-proxy-ca': 'front-proxy-ca',
  'etcd-ca': 'etcd-ca',
  sa: 'sa',
};

/** The rotation that this run carries out, as far as it does not depend on how far it is. */
function rotatingOf(run: Run, flags: RotateCaOptions, name: RotatedName): Omit<Rotating, 'when'> {
  const keep = keptBefore(run, (what) => `before ${what}`);
  return {
    name,
    direction: flags.rollback === true ? 'back' : 'forward',
    subject: `${SUBJECTS[name]}-${stamp(run.context.nowMs()).slice(0, 15).toLowerCase()}z`,
    keep: (on, host) => keep(on, host, `the ${nounOf(name)} was rotated`),
    workloads: flags.leaveWorkloads === true ? 'leave' : 'restart',
    secretTokens: flags.leaveTokens === true ? 'leave' : 'refuse',
  };
}

/** Who holds service account tokens that this run does not replace, as a note below the plan. */
function leftTokensText(cluster: ClusterView, { workloads, secretTokens }: Omit<Rotating, 'when'>): string {
  if (cluster.state !== 'up') return '';
  const { pods, secrets } = cluster.tokenUse;
  const left = pods.filter(({ workload }) => workloads === 'leave' || workload === 'none');
  const before =
    secretTokens === 'leave'
      ? 'those of the key that goes will be refused'
      : 'have them signed again before the key goes';
  return [
    left.length === 0
      ? ''
      : '\npods that this run does not restart (their kubelets renew the files of their tokens; restart those ' +
        `that read theirs only once): ${namedObjects(left)}\n`,
    secrets.length === 0 ? '' : `\nSecrets with tokens that nothing renews (${before}): ${namedObjects(secrets)}\n`,
  ].join('');
}

/** Pods that may know the old CA alone and that nothing restarts, as a note below the plan. */
function leftReadersText({ connected }: Run, rotating: Omit<Rotating, 'when'>): string {
  const left = readersLeft(connected.observations.fleet().cluster, rotating);
  if (rotating.name === 'sa') return leftTokensText(connected.observations.fleet().cluster, rotating);
  if (rotating.name !== 'ca' || rotating.direction === 'back' || left.length === 0) return '';
  const shown = left.slice(0, 20).join(', ');
  return (
    '\npods that may know the old CA alone, and that this run does not restart (restart them before you go on, ' +
    `if they use the API): ${shown}${left.length > 20 ? ` and ${String(left.length - 20)} more` : ''}\n`
  );
}

/** @throws Refused if kubernetes.adopt would no longer be this cluster's CA */
function refuseAdopted({ inventory, connected }: Run, { name, direction }: Pick<Rotating, 'name' | 'direction'>): void {
  const rotation = rotationOf(connected.observations.fleet(), name);
  const { adopt } = inventory.kubernetes;
  if (rotation === undefined || name !== 'ca' || adopt === undefined) return;
  const { survivor } = endOf(rotation, direction);
  if (adopt === survivor.fingerprint) return;
  throw new Refused(
    'adopted-ca',
    inventory.name,
    `kubernetes.adopt names the CA that goes, ${adopt}`,
    `set kubernetes.adopt: ${survivor.fingerprint} in the inventory, and run the same command again`,
  );
}

/** What the operator agrees to before each part. */
function questionsOf(name: RotatedName, isBack: boolean): Readonly<Record<RotationPart, string>> {
  if (name === 'sa')
    return {
      trust: 'Have the API servers accept tokens of a new key beside those of the old one?',
      sign: isBack
        ? 'Sign service account tokens with the old key again, and restart workloads with tokens of the new one?'
        : 'Sign service account tokens with the new key, and restart workloads with tokens of the old one?',
      drop: isBack
        ? 'Take the new key out? Tokens that it has signed are refused from then on.'
        : 'Take the old key out? There is no way back, and tokens that it has signed are refused from then on, ' +
          'also those that people and CI hold.',
    };
  return {
    trust: 'Have everything trust a new authority beside the old one?',
    sign: isBack
      ? 'Sign everything with the old authority again?'
      : 'Sign everything with the new authority? Clients whose kubeconfigs know the old one alone lose the API.',
    drop: isBack
      ? 'Take the new authority out?'
      : 'Take the old authority out? There is no way back, and kubeconfigs that it has signed are refused from ' +
        'then on.',
  };
}

/** @throws Refused while something may use a token of the key of service accounts that is about to go */
function refuseUsedTokens({ inventory, connected }: Run, rotating: Omit<Rotating, 'when'>): void {
  const fleet = connected.observations.fleet();
  const rotation = rotating.name === 'sa' ? rotationOf(fleet, 'sa') : undefined;
  if (rotation === undefined || isDropping(fleet, 'sa', rotation)) return;
  throwAll(tokensStillUsed(inventory, fleet, rotation, rotating));
}

/** The parts that this run carries out. */
function partsOf(run: Run, flags: RotateCaOptions, rotating: Omit<Rotating, 'when'>): readonly Part[] {
  const isBack = rotating.direction === 'back';
  const last = ROTATION_PARTS.indexOf(flags.until ?? 'drop');
  const wanted = ROTATION_PARTS.filter((part, at) => at <= last && !(isBack && part === 'trust'));
  const questions = questionsOf(rotating.name, isBack);
  return wanted.map((part) => ({
    phases: (when) => rotateAuthorityPhases(run.inventory, { ...rotating, when }, part),
    question: questions[part],
    notes: () => (part === 'sign' ? leftReadersText(run, rotating) : ''),
    refuse: () => {
      if (part !== 'drop') return;
      refuseAdopted(run, rotating);
      refuseUsedTokens(run, rotating);
    },
  }));
}

/** What the operator should know in the end. */
function endText(run: Run, flags: RotateCaOptions, name: RotatedName): string {
  const fleet = run.connected.observations.fleet();
  const stage = stageOf(fleet, name);
  if (flags.until === undefined || stage === 'none') return '';
  const command = `kbuild certs rotate-ca${name === 'ca' ? '' : ` ${name}`}`;
  if (flags.until !== 'trust')
    return `${name}: ${stage}. Run \`${command}\` to take the old one out, or with --rollback to go back\n`;
  return name === 'sa'
    ? `${name}: ${stage}. Run \`${command}\` to go on, or with --rollback to go back\n`
    : `${name}: ${stage}. Give clients outside the cluster the new kubeconfig, then run \`${command}\` to go on, ` +
        'or with --rollback to go back\n';
}

/** Who holds service account tokens, before their key is rotated. */
async function tokensNow({ inventory, connected }: Run): Promise<TokenUse> {
  const control = acting(connected.observations.fleet());
  const { command, parse } = tokenUseProbe(inventory, control, true);
  const middleMs = 0;
  return parse(await connected.on(control).run(command), { middleMs });
}

/** @throws Refused where this authority may not be rotated, or its rotation not be taken back, now */
function refuseRotation(run: Run, { rollback }: RotateCaOptions, name: RotatedName): void {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  refuseAbsentHosts(run);
  refuseForeign(
    run,
    inventory.hosts.map((host) => host.name),
  );
  throwAll([
    ...authorityChangeRefusals({ inventory, fleet, names: [name], command: 'certs rotate-ca' }),
    ...refusedFor(rotationReasons, { inventory, fleet, name, rollback }),
  ]);
}

async function rotate(run: Run, flags: RotateCaOptions, name: RotatedName): Promise<number> {
  const refuse = (): void => refuseRotation(run, flags, name);
  refuse();
  const rotation = rotationOf(run.connected.observations.fleet(), name);
  if (flags.rollback === true && rotation === undefined) return reportNothingToDo(run);
  const ended = rotation === undefined && flags.again !== true ? justRotated(run, name) : undefined;
  if (ended !== undefined) {
    run.context.err(`${ended} is from a rotation of ${name} that has ended; --again begins another\n`);
    return reportNothingToDo(run);
  }
  const rotating = {
    ...rotatingOf(run, flags, name),
    tokensBefore: name === 'sa' && rotation === undefined ? await tokensNow(run) : undefined,
  };
  return changeAuthorities(run, flags, {
    refuse,
    parts: partsOf(run, flags, rotating),
    hasBegun: rotation !== undefined,
    end: () => endText(run, flags, name),
  });
}

const DAY_MS = 24 * 60 * 60_000;

/**
 * The authority, if it is from a rotation of the last day: a run that was cut off at its very end leaves nothing to go
 * on with.
 */
function justRotated({ connected, context }: Run, name: RotatedName): string | undefined {
  const made = new RegExp(`^${SUBJECTS[name]}-\\d{8}t\\d{6}z$`);
  return observedLinux(connected.observations.fleet())
    .filter(({ host }) => host.role === 'control-plane')
    .flatMap(({ facts }) => facts.authorities.files[name].bundle)
    .find(({ subject, beginsMs }) => made.test(subject) && context.nowMs() - beginsMs < DAY_MS)?.subject;
}

/** `kbuild certs rotate-ca [AUTHORITY]`: an authority with a new key. */
export const runRotateCa = (outer: Context, flags: RotateCaOptions, operands: readonly string[]): Promise<number> =>
  withRun(
    outer,
    flags,
    {
      command: 'certs rotate-ca',
      json: flags.plan === true ? 'document' : 'events',
      reportsUnreachable: true,
      checkInventory: () => void meant(operands),
    },
    (run) => rotate(run, flags, meant(operands)),
  );
