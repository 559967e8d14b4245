import { describe, expect, test } from 'vitest';
import { authorityChangeRefusals } from '../../src/certificates/authority-change.refusal.ts';
import type { Fleet } from '../../src/cluster/fleet/fleet.ts';
import { liveCluster, notLive, refusedOfLive, refuseNoCluster } from '../../src/cluster/live.ts';
import { controlPlanes } from '../../src/inventory/hosts.ts';
import { moveReasons } from '../../src/kubeadm/endpoint.refusal.ts';
import { upgradeRefusals } from '../../src/upgrade/upgrade.refusal.ts';
import { fleet } from '../fakes/fleet.ts';
import { inventory as anInventory } from '../fakes/inventory.ts';

const inventory = anInventory();
const [cp1] = controlPlanes(inventory);
const why = (seen: Fleet) => notLive({ inventory, fleet: seen })!;
const none = {
  exitCode: 7,
  refusal: 'no-cluster',
  message: `${inventory.name}: refused: there is no cluster yet`,
  remedy: 'build it: `kbuild up`',
};

describe('no cluster was found', () => {
  const away = fleet({ inventory, unreachable: [cp1!.name] });

  test('on control planes that were all observed: there is none', () => {
    expect(why(fleet({ inventory }))).toMatchObject(none);
    expect(() => refuseNoCluster({ inventory, fleet: fleet({ inventory }) })).toThrow(none.message);
  });

  test('and a worker was not reached: there is none', () => {
    const worker = inventory.hosts.find(({ role }) => role === 'worker')!;
    expect(why(fleet({ inventory, unreachable: [worker.name] }))).toMatchObject(none);
  });

  test('and a control plane was not reached: it may hold one, and no remedy builds a second one', () => {
    const error = why(away);
    expect(error).toMatchObject({ exitCode: 3, message: expect.stringContaining(`${cp1!.name}: no answer`) as string });
    expect(error.remedy).toContain(`make ${cp1!.name} reachable`);
    expect(error.remedy).not.toContain('kbuild up');
  });

  test('and --dead names the control plane that was not reached: the operator knows that there is none', () => {
    const dead = { ...away, unreachable: away.unreachable.map((one) => ({ ...one, isDead: true })) };
    expect(why(dead)).toMatchObject(none);
  });

  test('no command says that there is none', () => {
    const exitCodes = (errors: readonly { readonly exitCode: number }[]) => errors.map(({ exitCode }) => exitCode);
    expect(() => liveCluster(away)).toThrow('no answer');
    expect(exitCodes(refusedOfLive(moveReasons, { inventory, fleet: away }))).toEqual([3]);
    expect(
      exitCodes(authorityChangeRefusals({ inventory, fleet: away, names: ['ca'], command: 'certs rotate-ca' })),
    ).toEqual([3]);
    expect(exitCodes(upgradeRefusals(inventory, away, ['1.37.1']))).toEqual([3]);
  });
});
