/** Answers that run real programs where the model's only say what they would do. The rest of each script is as in the model. */
import type { PsValue } from '../../../src/shell/powershell.ts';
import { filesOf, parentOf } from '../host/machine.ts';
import { ScriptFailure, type Answer } from '../host/script.ts';
import type { RealHost } from './host.ts';

/** The host that a machine's programs run on. */
export type RealHostOf = (machine: Parameters<Answer>[0]) => RealHost;

/** kubeadm waits for the kubelet for four minutes, and for its certificate for five. */
const KUBEADM_MS = 10 * 60_000;
const VERSION_MS = 60_000;

const lastOf = (text: string): readonly string[] => text.trimEnd().split(/\r?\n/).slice(-10);

/** Runs a program as Invoke-Native does. @throws ScriptFailure with the end of what it said */
async function native(
  real: RealHost,
  exe: string,
  args: readonly string[],
  how: Parameters<RealHost['run']>[2],
): Promise<readonly string[]> {
  const { status, stdout, stderr } = await real.run(exe, args, how);
  if (status === undefined) throw new Error(`${exe} ${args.join(' ')} did not end in time:\n${stdout}\n${stderr}`);
  if (status !== 0)
    throw new ScriptFailure(
      `${exe} ended with status ${String(status)}: ${[...lastOf(stdout), ...lastOf(stderr)].join('\n')}`,
    );
  return stdout.split(/\r?\n/);
}

interface Asked {
  readonly name: string;
  readonly path: string;
  readonly arguments: readonly string[];
  readonly exits: readonly number[];
}

/** `model`: the answer for what has no real program. */
const probePrograms =
  (of: RealHostOf, model: Answer): Answer =>
  async (machine, params, context) => {
    const real = of(machine);
    const asked = params['Programs'] as unknown as readonly Asked[];
    const modelled = asked.filter(({ path }) => !real.has(path));
    const { programs } = (await model(machine, { ...params, Programs: modelled as unknown as PsValue }, context)) as {
      readonly programs: readonly object[];
    };
    const found: object[] = [...programs];
    for (const { name, path, arguments: args, exits } of asked.filter((one) => real.has(one.path))) {
      const { status, stdout, stderr } = await real.run(path, args, { deadlineMs: VERSION_MS });
      const works = status === 0 || exits.includes(status ?? -1);
      const said = works ? stdout : `${path} ended with status ${String(status)}: ${stderr}`;
      found.push({ name, state: works ? 'works' : 'broken', said: said.slice(0, 4096) });
    }
    return { programs: found };
  };

interface Variable {
  readonly name: string;
  readonly value: string;
}

/** What kubeadm.ps1 does around kubeadm.exe. */
const kubeadm =
  (of: RealHostOf): Answer =>
  async (machine, params, { host, workingFolder, account }) => {
    const { Action, Program, Cluster, Marker } = params as Record<string, string>;
    const { Services, Paths } = params as unknown as Record<'Services' | 'Paths', readonly string[]>;
    const variables = (params['Variables'] ?? []) as unknown as readonly Variable[];
    const files = filesOf(machine);
    if (account !== 'SYSTEM' || workingFolder === undefined) throw new ScriptFailure('kubeadm runs as a job');
    files.put(Marker!, JSON.stringify({ cluster: Cluster, action: Action, job: 'kubeadm' }));
    const real = of(machine);
    const run = (...args: readonly string[]): Promise<readonly string[]> =>
      real.withServices(() =>
        native(real, Program!, args, {
          folder: workingFolder,
          // The script puts kubeadm's own folder into its PATH; wine takes Windows' PATH from this variable.
          env: {
            WINEPATH: parentOf(Program!),
            ...Object.fromEntries(variables.map(({ name, value }) => [name, value])),
          },
          deadlineMs: KUBEADM_MS,
        }),
      );
    let output: readonly string[] = [];
    if (Action === 'join') {
      output = await run('join', '--config', 'config.yaml');
      await host.startService('kubelet');
    } else if (Action === 'upgrade') output = await run('upgrade', 'node', '--config', 'config.yaml');
    else {
      for (const service of Services) await host.stopService(service);
      if (real.has(Program!)) output = await run('reset', '--config', 'config.yaml');
      for (const path of Paths) files.removeTree(path);
    }
    files.remove(Marker!);
    return { output };
  };

const kubeletSettings =
  (of: RealHostOf): Answer =>
  async (machine, { Program, Patches }, { host }) => {
    const patches = filesOf(machine).exists(Patches as string) ? ['--patches', Patches as string] : [];
    const real = of(machine);
    const output = await real.withServices(() =>
      native(real, Program as string, ['upgrade', 'node', 'phase', 'kubelet-config', ...patches], {
        deadlineMs: KUBEADM_MS,
      }),
    );
    await host.stopService('kubelet');
    await host.startService('kubelet');
    return { output };
  };

/** What reserve-source-vip.ps1 asks host-local.exe for, in its order. */
const reserveSourceVip =
  (of: RealHostOf): Answer =>
  async (machine, params) => {
    const { Name, Plugins, Path } = params as Record<string, string>;
    const network = machine.networks.find(({ name }) => name === Name);
    if (network === undefined) throw new ScriptFailure(`there is no HNS network ${Name!}`);
    const subnet = String(network['subnet']);
    const ipam = { type: 'host-local', ranges: [[{ subnet }]], dataDir: 'C:/var/lib/cni/networks' };
    let said: readonly string[] = [];
    for (const command of ['DEL', 'ADD'])
      said = await native(of(machine), `${Plugins!}\\host-local.exe`, [], {
        input: `${JSON.stringify({ cniVersion: '0.2.0', name: Name, ipam })}\r\n`,
        env: {
          CNI_COMMAND: command,
          CNI_CONTAINERID: 'kbuild-source-vip',
          CNI_NETNS: 'none',
          CNI_IFNAME: 'none',
          CNI_PATH: Plugins!,
        },
        deadlineMs: VERSION_MS,
      });
    const { ip4 } = JSON.parse(said.join('\n')) as { readonly ip4: { readonly ip: string } };
    const record = { subnet, address: ip4.ip.split('/')[0]! };
    filesOf(machine).put(Path!, JSON.stringify(record));
    return record;
  };

/** The model's answers, with these in place of its own. */
export const realAnswers = (model: ReadonlyMap<string, Answer>, of: RealHostOf): ReadonlyMap<string, Answer> =>
  new Map([
    ...model,
    ['windows/probe-programs.ps1', probePrograms(of, model.get('windows/probe-programs.ps1')!)],
    ['windows/kubeadm.ps1', kubeadm(of)],
    ['windows/kubelet-settings.ps1', kubeletSettings(of)],
    ['windows/reserve-source-vip.ps1', reserveSourceVip(of)],
  ]);
