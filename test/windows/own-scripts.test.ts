/** Scripts that run as they are, with the model's files and services: what they run, in which order, and what they leave. */
import { expect, test } from 'vitest';
import type { PsValue } from '../../src/shell/powershell.ts';
import { windowsPaths } from '../../src/paths.ts';
import { answer as modelledKubeadm } from './host/answers/kubeadm.ts';
import { addService, filesOf, freshMachine, type Machine } from './host/machine.ts';
import { ScriptFailure, type HostControl, type ScriptContext } from './host/script.ts';
import { scriptText } from './grammar.ts';
import { commandsOn, type NativeCall } from './interpreter/commands.ts';
import { interpret } from './interpreter/interpreter.ts';

const KUBEADM = 'C:\\k\\kubeadm.exe';
const KUBELET_CONF = 'C:\\etc\\kubernetes\\kubelet.conf';

/** A host whose services are a state, and a program that tells how it was called. */
function world(says: (call: NativeCall) => readonly string[] = () => ['done']) {
  const machine = freshMachine('win1', '20348', '127.0.0.1');
  const files = filesOf(machine);
  files.put(KUBEADM, 'MZ\nEND');
  for (const name of ['containerd', 'kubelet']) addService(machine, { name, path: 'x', state: 'Running' });
  const orders: string[] = [];
  const set = (name: string, state: 'Running' | 'Stopped'): Promise<void> => {
    orders.push(`${name} ${state}`);
    machine.services.get(name)!.state = state;
    return Promise.resolve();
  };
  const host = {
    startService: (name: string) => set(name, 'Running'),
    stopService: (name: string) => set(name, 'Stopped'),
  } as HostControl;
  const environment = new Map([['Path', 'C:\\Windows']]);
  const calls: { readonly line: string; readonly path: string; readonly marker: string | undefined }[] = [];
  const inputs: { readonly command: string | undefined; readonly input: unknown }[] = [];
  const native = (call: NativeCall): Promise<readonly string[]> => {
    const [path, marker] = [environment.get('Path')!, files.text(windowsPaths.marker)];
    calls.push({ line: [call.exe, ...call.args].join(' '), path, marker });
    inputs.push({ command: environment.get('CNI_COMMAND'), input: call.input && JSON.parse(call.input) });
    return Promise.resolve(says(call));
  };
  const run = async (name: string, params: Readonly<Record<string, PsValue>>): Promise<unknown> => {
    let result: unknown;
    const about = { native, environment, result: (value: unknown) => void (result = value) };
    await interpret(scriptText(name), { params, environment, commands: commandsOn(machine, { host }, about) });
    return result;
  };
  return { machine, files, host, orders, calls, inputs, environment, run };
}

const params = (Action: string): Readonly<Record<string, PsValue>> => ({
  Action,
  Program: KUBEADM,
  Cluster: 'prod',
  Marker: windowsPaths.marker,
  Services: ['kubelet', 'kube-proxy'],
  Paths: ['C:\\etc\\kubernetes'],
  Variables: [{ name: 'HTTPS_PROXY', value: 'http://proxy:3128' }],
});

const left = ({ files }: Machine): object => [...files.values()].map(({ path }) => path).toSorted();

test('kubeadm.ps1 marks what it begins, runs kubeadm.exe with the proxy and its own folder in PATH, and removes the mark', async () => {
  const { run, files, calls, environment } = world();
  expect(await run('kubeadm.ps1', params('join'))).toEqual({ output: ['done'] });
  const [call] = calls;
  expect(call).toMatchObject({ line: `${KUBEADM} join --config config.yaml`, path: 'C:\\k;C:\\Windows' });
  expect(JSON.parse(call!.marker!)).toEqual({ cluster: 'prod', action: 'join', job: 'kubeadm', stage: 'begun' });
  expect(environment.get('HTTPS_PROXY')).toBe('http://proxy:3128');
  expect(files.exists(windowsPaths.marker)).toBe(false);
});

test('kubeadm.ps1 leaves its mark where kubeadm.exe fails', async () => {
  const { run, files } = world(() => {
    throw new ScriptFailure('kubeadm.exe ended with status 1');
  });
  await expect(run('kubeadm.ps1', params('join'))).rejects.toThrow('ended with status 1');
  expect(files.text(windowsPaths.marker)).toContain('"stage":"begun"');
});

test('kubeadm.ps1 stops services before a reset, and removes what kubeadm.exe leaves', async () => {
  const { run, files, orders, calls } = world();
  files.put(KUBELET_CONF, 'x');
  await run('kubeadm.ps1', params('reset'));
  expect(orders).toEqual(['kubelet Stopped']);
  expect(calls.map(({ line }) => line)).toEqual([`${KUBEADM} reset --config config.yaml`]);
  expect(files.exists('C:\\etc\\kubernetes')).toBe(false);
  await expect(run('kubeadm.ps1', params('dance'))).rejects.toThrow('no such action: dance');
});

test('the model’s kubeadm.ps1 leaves what the script leaves, and marks the same', async () => {
  const [real, model] = [world(), world()];
  const marks: unknown[] = [];
  for (const { files } of [real, model]) files.put(KUBELET_CONF, 'x');
  await real.run('kubeadm.ps1', params('reset'));
  const host = {
    ...model.host,
    stopService(name: string) {
      marks.push(JSON.parse(model.files.text(windowsPaths.marker)!));
      return model.host.stopService(name);
    },
  };
  const context = { host, workingFolder: 'C:\\job', account: 'SYSTEM' } as Partial<ScriptContext> as ScriptContext;
  model.files.put('C:\\job\\config.yaml', 'x');
  await modelledKubeadm(model.machine, params('reset'), context);
  model.files.remove('C:\\job\\config.yaml');
  expect(left(model.machine)).toEqual(left(real.machine));
  expect(model.orders).toEqual(real.orders);
  expect(marks).toEqual([JSON.parse(real.calls[0]!.marker!)]);
});

test('kubelet-settings.ps1 names the patches only where there are some, and restarts the kubelet', async () => {
  const { run, files, orders, calls } = world();
  const settings = { Program: KUBEADM, Patches: 'C:\\patches' };
  await run('kubelet-settings.ps1', settings);
  files.put('C:\\patches\\a.yaml', 'x');
  expect(await run('kubelet-settings.ps1', settings)).toEqual({ output: ['done'] });
  const phase = `${KUBEADM} upgrade node phase kubelet-config`;
  expect(calls.map(({ line }) => line)).toEqual([phase, `${phase} --patches C:\\patches`]);
  expect(orders).toEqual(['kubelet Stopped', 'kubelet Running', 'kubelet Stopped', 'kubelet Running']);
});

test('reserve-source-vip.ps1 gives back what is reserved before it reserves, and writes the address', async () => {
  const { run, machine, files, inputs } = world(() => ['{"ip4":{"ip":"10.244.3.2/24"}}']);
  const asked = { Name: 'flannel.4096', Plugins: 'C:\\opt\\cni\\bin', Path: 'C:\\k\\vip.json' };
  await expect(run('reserve-source-vip.ps1', asked)).rejects.toThrow('there is no HNS network flannel.4096');
  machine.networks.push({ id: '1', name: 'flannel.4096', type: 'overlay', subnet: '10.244.3.0/24' });
  const record = { subnet: '10.244.3.0/24', address: '10.244.3.2' };
  expect(await run('reserve-source-vip.ps1', asked)).toEqual(record);
  expect(JSON.parse(files.text('C:\\k\\vip.json')!)).toEqual(record);
  const input = {
    cniVersion: '0.2.0',
    name: 'flannel.4096',
    ipam: { type: 'host-local', ranges: [[{ subnet: '10.244.3.0/24' }]], dataDir: 'C:/var/lib/cni/networks' },
  };
  expect(inputs).toEqual([
    { command: 'DEL', input },
    { command: 'ADD', input },
  ]);
});

test('make-folders.ps1 makes what is missing, and fails where a file stands', async () => {
  const { run, files } = world();
  await run('make-folders.ps1', { Paths: ['C:\\a', 'C:\\b\\c'] });
  expect(['C:\\a', 'C:\\b\\c'].map((path) => files.exists(path))).toEqual([true, true]);
  files.put('C:\\d', 'a file');
  await expect(run('make-folders.ps1', { Paths: ['C:\\d'] })).rejects.toThrow(
    'C:\\d is a file, and a folder is needed',
  );
});

test.each([
  ['a pipe', 'Get-Service -Name x | Select-Object -First 1', /not understood/],
  ['an unknown command', 'Stop-Computer -Force', 'Stop-Computer has no stand-in'],
  ['a variable that was not set', '$a = $b', /has not been set/],
  ['a condition that is neither', "if ('x') { throw 'y' }", 'neither true nor false'],
])('%s is refused, not guessed', async (_, text, why) => {
  const { machine, host } = world();
  const about = { native: () => Promise.resolve([]), environment: new Map<string, string>(), result: () => undefined };
  const run = interpret(text, {
    params: {},
    environment: about.environment,
    commands: commandsOn(machine, { host }, about),
  });
  await expect(run).rejects.toThrow(why);
});
