import { AUTHORITY_FILES } from '../certificates/authorities.facts.ts';
import { type KubeadmAuthority, ownAuthority } from '../certificates/authorities.value.ts';
import { authorityChangeRefusals } from '../certificates/authority-change.refusal.ts';
import { renewalsOf } from '../certificates/renew-ca.step.ts';
import { throwAll, UsageError } from '../errors.ts';
import { controlPlanes } from '../inventory/hosts.ts';
import type { Context } from '../session/context.ts';
import { refuseForeign } from '../session/preflight.ts';
import type { Run } from '../session/run.ts';
import { keptBefore } from '../session/snapshots.ts';
import { withRun } from '../session/with-run.ts';
import { changeAuthorities, refuseAbsentHosts } from './authority-run.ts';
import type { RenewCaOptions } from './certs.command.ts';
import { renewAuthorityPhases } from './certs.phases.ts';

const NAMES = Object.keys(AUTHORITY_FILES) as readonly KubeadmAuthority[];

/**
 * The authorities that are meant: those named, or all that kbuild can renew. @throws UsageError for a name that is none
 */
function meant({ inventory, connected }: Run, operands: readonly string[]): readonly KubeadmAuthority[] {
  const unknown = operands.find((one) => !NAMES.some((name) => name === one));
  if (unknown !== undefined)
    throw new UsageError(`"${unknown}" is no authority`, { remedy: `one of ${NAMES.join(', ')}` });
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
    { command: 'certs renew-ca', json: flags.plan === true ? 'document' : 'events', reportsUnreachable: true },
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
            ? 'the hosts have the renewed authorities. Run `kbuild certs recover` now, and then this command once more: it tells pods and joining hosts\n'
            : '',
      });
    },
  );
