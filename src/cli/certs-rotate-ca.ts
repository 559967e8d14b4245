import { authorityChangeRefusals } from '../cluster/authority-changes.ts';
import { rotationRefusals } from '../cluster/rotation-refusals.ts';
import { endOf, isDropping, rotationOf, stageOf } from '../cluster/rotation.ts';
import { combined, Refused, UsageError } from '../errors.ts';
import { observedLinux } from '../facts/fleet.ts';
import { AUTHORITY_FILES, type AuthorityName } from '../facts/linux/authorities.ts';
import type { Rotating } from '../kubeadm/authority/rotating.ts';
import { readersLeft } from '../kubeadm/authority/workloads.ts';
import { ROTATION_PARTS, rotateAuthorityPhases, type RotationPart } from '../phases/rotate-authority.ts';
import { changeAuthorities, refuseAbsentHosts, type Part } from './authority-run.ts';
import type { RotateCaOptions } from './commands/certs-rotate-ca.ts';
import type { Context } from './context.ts';
import { refuseForeign } from './session/preflight.ts';
import { reportNothingToDo } from './session/run-plan.ts';
import type { Run } from './session/run.ts';
import { keptBefore } from './session/snapshots.ts';
import { stamp } from './session/state-folder.ts';
import { withRun } from './session/with-run.ts';

const NAMES = Object.keys(AUTHORITY_FILES) as readonly AuthorityName[];

/** The authority that is meant. @throws UsageError */
function meant(operands: readonly string[]): AuthorityName {
  const [operand = 'ca', ...more] = operands;
  const found = NAMES.find((name) => name === operand);
  if (found === undefined || more.length > 0)
    throw new UsageError(`"${operands.join(' ')}" is not one authority`, { remedy: `one of ${NAMES.join(', ')}` });
  return found;
}

/** What begins the common name of each authority that kbuild makes. */
const SUBJECTS: Readonly<Record<AuthorityName, string>> = {
  ca: 'kubernetes',
  'front-proxy-ca': 'front-proxy-ca',
  'etcd-ca': 'etcd-ca',
};

/** The rotation that this run carries out, as far as it does not depend on how far it is. */
function rotatingOf(run: Run, flags: RotateCaOptions, name: AuthorityName): Omit<Rotating, 'when'> {
  const keep = keptBefore(run, (what) => `before ${what}`);
  return {
    name,
    direction: flags.rollback === true ? 'back' : 'forward',
    subject: `${SUBJECTS[name]}-${stamp(run.context.nowMs()).slice(0, 15).toLowerCase()}z`,
    keep: (on, host) => keep(on, host, `the authority ${name} was rotated`),
    workloads: flags.leaveWorkloads === true ? 'leave' : 'restart',
  };
}

/** Pods that may know the old CA alone and that nothing restarts, as a note below the plan. */
function leftReadersText({ connected }: Run, rotating: Omit<Rotating, 'when'>): string {
  const left = readersLeft(connected.observations.fleet().cluster, rotating);
  if (rotating.name !== 'ca' || rotating.direction === 'back' || left.length === 0) return '';
  const shown = left.slice(0, 20).join(', ');
  return `\npods that may know the old CA alone, and that this run does not restart (restart them before you go on, if they use the API): ${shown}${left.length > 20 ? ` and ${String(left.length - 20)} more` : ''}\n`;
}

/** @throws Refused if kubernetes.adopt would no longer be this cluster's CA */
function refuseAdopted({ inventory, connected }: Run, { name, direction }: Pick<Rotating, 'name' | 'direction'>): void {
  const rotation = rotationOf(connected.observations.fleet(), name);
  const { adopt } = inventory.kubernetes;
  if (rotation === undefined || name !== 'ca' || adopt === undefined) return;
  const { survivor } = endOf(rotation, direction);
  if (adopt === survivor.fingerprint) return;
  throw new Refused(
    inventory.name,
    `kubernetes.adopt names the CA that goes, ${adopt}`,
    `set kubernetes.adopt: ${survivor.fingerprint} in the inventory, and run the same command again`,
  );
}

/** The parts that this run carries out. */
function partsOf(run: Run, flags: RotateCaOptions, rotating: Omit<Rotating, 'when'>): readonly Part[] {
  const isBack = rotating.direction === 'back';
  const last = ROTATION_PARTS.indexOf(flags.until ?? 'drop');
  const wanted = ROTATION_PARTS.filter((part, at) => at <= last && !(isBack && part === 'trust'));
  const questions: Readonly<Record<RotationPart, string>> = {
    trust: 'Have everything trust a new authority beside the old one?',
    sign: isBack
      ? 'Sign everything with the old authority again?'
      : 'Sign everything with the new authority? Clients whose kubeconfigs know the old one alone lose the API.',
    drop: isBack
      ? 'Take the new authority out?'
      : 'Take the old authority out? There is no way back, and kubeconfigs that it has signed are refused from then on.',
  };
  return wanted.map((part) => ({
    phases: (when) => rotateAuthorityPhases(run.inventory, { ...rotating, when }, part),
    question: questions[part],
    before: () => {
      if (part === 'drop') refuseAdopted(run, rotating);
      return part === 'sign' ? leftReadersText(run, rotating) : '';
    },
  }));
}

/** What the operator should know in the end. */
function endText(run: Run, flags: RotateCaOptions, name: AuthorityName): string {
  const fleet = run.connected.observations.fleet();
  const stage = stageOf(fleet, name);
  if (flags.until === undefined || stage === 'none') return '';
  return flags.until === 'trust'
    ? `${name}: ${stage}. Give clients outside the cluster the new kubeconfig, then run \`kbuild certs rotate-ca\` to go on, or with --rollback to go back\n`
    : `${name}: ${stage}. Run \`kbuild certs rotate-ca\` to take the old one out, or with --rollback to go back\n`;
}

async function rotate(run: Run, flags: RotateCaOptions, name: AuthorityName): Promise<number> {
  const { inventory, connected } = run;
  const fleet = connected.observations.fleet();
  refuseAbsentHosts(run);
  refuseForeign(
    run,
    inventory.hosts.map((host) => host.name),
  );
  const refused = [
    ...authorityChangeRefusals(inventory, fleet, { names: [name], command: 'certs rotate-ca' }),
    ...rotationRefusals(inventory, fleet, name),
  ];
  if (refused.length > 0) throw combined(refused);
  const rotation = rotationOf(fleet, name);
  if (flags.rollback === true) {
    if (rotation === undefined) return reportNothingToDo(run);
    if (isDropping(fleet, name, rotation))
      throw new Refused(
        inventory.name,
        `${rotation.old.subject} is no longer trusted everywhere: there is no way back`,
        'run `kbuild certs rotate-ca` to end the rotation; if you need another authority, rotate again afterwards',
      );
  }
  const ended = rotation === undefined && flags.again !== true ? justRotated(run, name) : undefined;
  if (ended !== undefined) {
    run.context.err(`${ended} is from a rotation of ${name} that has ended; --again begins another\n`);
    return reportNothingToDo(run);
  }
  const rotating = rotatingOf(run, flags, name);
  return changeAuthorities(run, flags, {
    parts: partsOf(run, flags, rotating),
    hasBegun: rotation !== undefined,
    end: () => endText(run, flags, name),
  });
}

const DAY_MS = 24 * 60 * 60_000;

/** The authority, if it is from a rotation of the last day: a run that was cut off at its very end leaves nothing to go on with. */
function justRotated({ connected, context }: Run, name: AuthorityName): string | undefined {
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
    { command: 'certs rotate-ca', json: flags.plan === true ? 'document' : 'events', reportsUnreachable: true },
    (run) => rotate(run, flags, meant(operands)),
  );
