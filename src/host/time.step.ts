import { runs } from '../engine/combinators.ts';
import { type Change, type Step, type Target, watchesOf } from '../engine/step.ts';
import { Refused } from '../errors.ts';
import type { TimeSync } from '../inventory/host-settings.ts';
import { OWN_HEADER } from '../paths.ts';
import { sh } from '../shell/sh.ts';
import { united } from '../shell/watched.ts';
import { script } from '../templates.ts';
import { fileChanges, fileState } from './file.step.ts';
import { CHRONY } from './packages/chrony.value.ts';
import type { ChronyPackaging } from './packages/distribution.value.ts';
import { chronyFiles, chronyUnits, knownDistribution } from './packages/distributions.value.ts';
import { packages } from './packages/packages.step.ts';
import { isSwitchedOn } from './services.facts.ts';

/** The time service of systemd, which many systems run unless another is installed. chrony takes its place. */
export const SYSTEMD_TIME = 'systemd-timesyncd';

/** Time services that an operator has chosen: kbuild stops none of them, and two cannot both keep a clock. */
const OF_OPERATORS: ReadonlySet<string> = new Set(['ntp', 'ntpd', 'ntpsec', 'openntpd']);

/** Of the time services that run on a host, those in whose place kbuild does not put chrony. */
export const timeServicesOfOperators = (running: readonly string[]): readonly string[] =>
  running.filter((unit) => OF_OPERATORS.has(unit));

const installed: Step = packages('chrony-package', ({ host }) =>
  host.timeSync === undefined ? {} : { [CHRONY]: 'any' },
);

/** `iburst`: a clock that is wrong at the start is right within seconds. */
const linesOf = ({ servers }: TimeSync): readonly string[] => servers.map((server) => `server ${server} iburst`);

const refusal = (reason: Refused, summary: string): Change => ({ summary, apply: () => Promise.reject(reason) });

/** Why kbuild does not put chrony on the host; undefined if it does. */
function refused({ host, facts }: Target): Change | undefined {
  const summary = 'run chrony';
  const distribution = knownDistribution(facts);
  if (distribution?.chrony === undefined) {
    const { prettyName } = facts.osRelease;
    const why = distribution === undefined ? `${prettyName} is not yet supported` : `${prettyName} has no packages`;
    const way = `give it timeSync: unmanaged, and run its own time service: systemctl enable --now ${SYSTEMD_TIME}`;
    return refusal(new Refused('no-chrony', host.name, `timeSync: chrony is not possible: ${why}`, way), summary);
  }
  const others = timeServicesOfOperators(facts.timeServices);
  if (others.length === 0) return undefined;
  const names = others.join(', ');
  const way = `switch it off (systemctl disable --now ${others.join(' ')}), or give the host timeSync: unmanaged`;
  return refusal(
    new Refused('other-time-service', host.name, `${names} keeps the clock, and chrony would take its place`, way),
    `${summary} (found ${names})`,
  );
}

/** kbuild's time servers in a file that the configuration of the operator reads. */
function serversWritten(target: Target, chrony: ChronyPackaging, lines: readonly string[]): readonly Change[] {
  const { host, facts } = target;
  const { file, unit, config, directive, made = '' } = chrony;
  const content = `${OWN_HEADER}: time servers of the inventory.\n${chrony.content(lines)}`;
  const read = script('host/time-servers.sh', {
    FILE: file,
    MADE: made,
    PROOF: chrony.proof(lines),
    CONFIG: config,
    DIRECTIVE: directive,
    UNIT: unit,
  });
  const written = fileChanges(target, { path: file, content });
  if (written.length > 0)
    return written.map((change) => ({
      ...change,
      apply: async (on) => {
        await change.apply?.(on);
        await on(host).run(read);
      },
    }));
  // A run that was cut off may have written the file and not had it read.
  const state = fileState(target, file);
  const service = facts.services.get(unit);
  const isStale =
    state.kind === 'file' && service?.active === 'active' && service.startedMs > 0 && state.mtimeMs > service.startedMs;
  return isStale ? [{ summary: `restart ${unit} (${file} is newer)`, apply: runs(host, read) }] : [];
}

/** Takes kbuild's time servers away. chrony itself stays: the host needs a right clock without kbuild, too. */
function serversRemoved(target: Target): readonly Change[] {
  if (chronyFiles.every((file) => fileState(target, file).kind === 'absent')) return [];
  const chrony = knownDistribution(target.facts)?.chrony;
  if (chrony === undefined || fileState(target, chrony.file).kind === 'absent') return [];
  const { file, unit, made = '' } = chrony;
  const files = made === '' ? [file] : [file, made];
  return [
    {
      summary: `take kbuild's time servers out of chrony (found ${file})`,
      apply: runs(target.host, sh`rm -f -- ${files}; systemctl try-restart ${unit}.service`),
    },
  ];
}

/** Not by `service`: a restart of chrony disrupts nothing, and what else it reads is the operator's. */
function started({ host, facts }: Target, { unit }: ChronyPackaging): readonly Change[] {
  const state = facts.services.get(unit);
  if (state?.active === 'active' && state.enabled === 'enabled') return [];
  const found = state === undefined || state.load === 'not-found' ? 'none' : `${state.enabled}, ${state.active}`;
  const isActive = state?.active === 'active';
  return [
    {
      summary: `enable ${isActive ? '' : 'and start '}${unit} (found ${found})`,
      apply: runs(
        host,
        script('host/apply-service.sh', { UNIT: unit, ACTION: isActive ? 'none' : 'start', USES: [], APPLIED: '' }),
      ),
    },
  ];
}

/** Both enabled, systemd starts either at a boot. On systems whose packages conflict it is gone when this runs. */
function systemdTimeOff({ host, facts }: Target): readonly Change[] {
  const state = facts.services.get(SYSTEMD_TIME);
  if (!isSwitchedOn(state)) return [];
  const unit = `${SYSTEMD_TIME}.service`;
  return [
    {
      summary: `switch ${SYSTEMD_TIME} off: chrony takes its place (found ${state!.enabled}, ${state!.active})`,
      apply: runs(host, sh`if systemctl cat ${unit} >/dev/null 2>&1; then systemctl disable --now ${unit}; fi`),
    },
  ];
}

/**
 * Installs chrony, has it read the time servers of the inventory, and starts it. Only where the inventory asks for it.
 */
export const timeSync: Step = {
  name: 'time-sync',
  watches: (about) =>
    about.host.timeSync === undefined
      ? { files: chronyFiles }
      : united([{ files: chronyFiles, units: [...chronyUnits, SYSTEMD_TIME] }, watchesOf(installed, about)]),
  diff: (target) => {
    const wanted = target.host.timeSync;
    if (wanted === undefined) return serversRemoved(target);
    const refusedChange = refused(target);
    if (refusedChange !== undefined) return [refusedChange];
    const chrony = knownDistribution(target.facts)!.chrony!;
    const lines = linesOf(wanted);
    return [
      ...installed.diff(target),
      ...(lines.length === 0 ? serversRemoved(target) : serversWritten(target, chrony, lines)),
      ...systemdTimeOff(target),
      ...started(target, chrony),
    ];
  },
};

/** No time servers of the inventory are left. */
export const noTimeServers: Step = { name: 'no-time-servers', watches: { files: chronyFiles }, diff: serversRemoved };
