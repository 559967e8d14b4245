import { describe, expect, test } from 'vitest';
import type { Target } from '../../src/engine/step.ts';
import { FactError } from '../../src/errors.ts';
import type { On } from '../../src/ssh/remote.ts';
import { powershell } from '../../src/templates.ts';
import { type WantedWindowsService, windowsServiceChanges } from '../../src/windows/service.step.ts';
import { clusterOf, cp1, inventoryOf } from '../fakes/cluster.ts';
import { windowsHost } from '../fakes/inventory.ts';
import { mixedFlannel } from '../fakes/network.ts';
import { factsOfMachine, remoteOf } from '../fakes/windows.ts';
import { addService, freshMachine, type Machine, type ServiceState } from './host/machine.ts';

const { windows } = windowsHost('win1');
const downloads = { ...windows.downloads, network: 'https://files.example' };
const host = windowsHost('win1', { windows: { ...windows, downloads } });
const inventory = inventoryOf({ hosts: [cp1, host], network: mixedFlannel({ services: true }) });

const KUBE_PROXY: WantedWindowsService = {
  name: 'kube-proxy',
  displayName: 'kube-proxy',
  path: 'C:\\k\\nssm.exe',
  dependsOn: [],
  environment: [],
  parameters: [{ name: 'Application', value: 'C:\\k\\kube-proxy.exe' }],
  wanted: 'running',
  uses: [],
};

function machineWith(state: ServiceState, becomes?: ServiceState): Machine {
  const machine = freshMachine('win1', '20348', host.internalAddress);
  addService(machine, {
    name: 'kube-proxy',
    path: 'C:\\k\\nssm.exe',
    parameters: { Application: 'C:\\k\\kube-proxy.exe' },
    restarts: true,
    state,
    startedMs: state === 'Stopped' ? 0 : 1000,
    ...(becomes === undefined ? {} : { becomes }),
  });
  return machine;
}

function target(machine: Machine): Target<'windows'> {
  const facts = factsOfMachine(inventory, host, machine);
  return { inventory, host, facts, fleet: { hosts: [], unreachable: [], cluster: clusterOf({}) } };
}

const due = (machine: Machine): readonly string[] =>
  windowsServiceChanges(target(machine), KUBE_PROXY).map(({ summary }) => summary);

async function carriedOut(machine: Machine): Promise<void> {
  const { remote } = remoteOf(host, machine);
  const on: On = () => remote as never;
  for (const { apply } of windowsServiceChanges(target(machine), KUBE_PROXY)) await apply?.(on);
}

describe('a service in each of its seven states', () => {
  test.each<readonly [ServiceState, readonly string[]]>([
    ['Running', []],
    ['Stopped', ['start kube-proxy (found Stopped)']],
    ['Paused', ['restart kube-proxy (found Paused)']],
    ['StartPending', ['start kube-proxy (found Start Pending)']],
    ['StopPending', ['start kube-proxy (found Stop Pending)']],
    ['ContinuePending', ['start kube-proxy (found Continue Pending)']],
    ['PausePending', ['start kube-proxy (found Pause Pending)']],
  ])('%s', async (state, changes) => {
    const after: ServiceState = state === 'StopPending' ? 'Stopped' : state === 'PausePending' ? 'Paused' : 'Running';
    const machine = machineWith(state, after);
    expect(due(machine)).toEqual(changes);
    await carriedOut(machine);
    expect(machine.services.get('kube-proxy')!.state).toBe('Running');
    expect(due(machine)).toEqual([]);
  });

  test('one that stays in between is named, with what to do', async () => {
    await expect(carriedOut(machineWith('StopPending'))).rejects.toThrow(
      'the service kube-proxy is StopPending for more than 60 s: end its process, or restart the host',
    );
  });

  test('one that runs without a process makes services unknown, and nothing else', () => {
    const machine = machineWith('Running');
    machine.services.get('kube-proxy')!.startedMs = 0;
    const { facts } = target(machine);
    expect(() => facts.services).toThrow(FactError);
    expect(facts.machine.build).toBe('20348');
  });
});

test('a restart starts again what Windows stops with the service', async () => {
  const machine = machineWith('Running');
  addService(machine, { name: 'flanneld', path: 'C:\\k\\nssm.exe', state: 'Running' });
  machine.services.get('kube-proxy')!.dependsOn = ['flanneld'];
  const { remote } = remoteOf(host, machine);
  await remote.run(powershell('windows/set-service-state.ps1', { Name: 'flanneld', Action: 'restart' }));
  expect([...machine.services.values()].map(({ name, state }) => `${name} ${state}`)).toEqual([
    'sshd Running',
    'kube-proxy Running',
    'flanneld Running',
  ]);
});

test('a parameter of nssm that kbuild wants no more goes, and values of others stay', async () => {
  const machine = machineWith('Running');
  Object.assign(machine.services.get('kube-proxy')!.parameters, { AppEnvironmentExtra: 'A=1', Other: 'x' });
  expect(due(machine)).toEqual([
    'change service kube-proxy (found parameters that are not its own)',
    'restart kube-proxy (its registration changes)',
  ]);
  await carriedOut(machine);
  expect(Object.keys(machine.services.get('kube-proxy')!.parameters).toSorted()).toEqual(['Application', 'Other']);
  expect(due(machine)).toEqual([]);
});

test('a service that is marked for deletion is named, with its remedy', async () => {
  const machine = machineWith('Running');
  Object.assign(machine.services.get('kube-proxy')!, { isMarked: true, path: 'other' });
  await expect(carriedOut(machine)).rejects.toThrow('the service kube-proxy is marked for deletion (1072): close');
  const { remote } = remoteOf(host, machine);
  await expect(remote.run(powershell('windows/remove-services.ps1', { Names: ['kube-proxy'] }))).rejects.toThrow(
    'marked for deletion (1072)',
  );
});
